//! The steps of tuning storage over many links, as the published test T4 has them: 1 a baseline, with a file that
//! fits into the target's memory; 2 the network alone, and no step further before it is right; 3 production settings.
//!
//! [`File`] is the experiment, which cures change. A [`trap`] is something that is often wrong: it knows what to look
//! at, what is wrong with it and the cure, in the words of the systems that people have and as an [`Edit`] of the
//! experiment. [`Tuning`] is the machine that says what comes next; [`tune`] does it. [`page()`] and [`html()`] are
//! what came out, for people.
#![forbid(unsafe_code)]

mod error;
mod file;
mod finding;
mod html;
mod machine;
mod page;
mod run;
mod seen;
pub mod trap;

pub use error::Error;
pub use file::{File, NETWORK};
pub use finding::{Cure, Edit, Finding};
pub use html::html;
pub use machine::{Action, Measured, Outcome, Round, Tuning};
pub use page::page;
pub use run::{Asked, Report, Told, tune};
pub use seen::{ENOUGH, Figures, Seen};
