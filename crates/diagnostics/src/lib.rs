//! What is wrong with a text that a user wrote: each problem with its place, the reason, and what to do about it.
//!
//! Pure: a reader collects [`Problem`]s and returns all of them at once as [`Diagnostics`]. Experiment files and other
//! programs' configuration so have the same errors, and the same "did you mean".
//!
//! ```
//! use nicteam_diagnostics::{Diagnostics, Problem};
//!
//! let problem = Problem::at(&(0..5), "no option `miimom`").hint("did you mean `miimon`?");
//! let diagnostics = Diagnostics::new("team.toml", "miimom = 100\n", vec![problem]);
//! assert_eq!(diagnostics.entries()[0].line, Some(1));
//! assert!(diagnostics.to_string().contains("hint: did you mean `miimon`?"));
//! ```
#![forbid(unsafe_code)]

pub mod markdown;
mod problem;
mod suggest;
pub mod team_options;
pub mod toml_syntax;
pub mod units;

pub use problem::{Diagnostic, Diagnostics, Problem, line_and_column};
pub use suggest::{list, nearest};
