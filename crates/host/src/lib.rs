//! A host's network around its teams: what there is, who manages it, what a team takes over and what it gives back.
//!
//! [`survey`] reads what there is. [`check`] says, without doing anything, what becomes of it when a team comes up, and
//! what keeps the team from that. [`up`] does it, [`down`] undoes it, and [`confirm`] undoes it unless the user
//! confirms in time that all is well. What `up` found stands in a journal in the folder of the network namespace, from
//! before the first change until `down` has restored it. So both can be interrupted anywhere and be called again.
//!
//! All of it works in the network namespace of the calling thread.
#![forbid(unsafe_code)]

mod awaited;
pub mod bonds;
pub mod check;
mod clock;
pub mod configuration;
pub mod confirm;
pub mod doctor;
mod done;
pub mod down;
mod error;
mod facts;
mod forecast;
mod found;
mod hand;
mod journal;
pub mod managers;
mod obstacles;
mod order;
pub mod service;
mod spec;
mod step;
pub mod survey;
pub mod up;

pub use error::{Error, Refusal};
