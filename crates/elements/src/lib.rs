//! What an experiment is made of.
//!
//! [`resolved`] has the experiment with every name bound. Each kind of task, event, target, engine and switch model is one
//! file here and one line in its registry: its keys in the file ([`keys`]), what is wrong with them, and what it is in a
//! run. [`read`] reads a table of the file by such keys into a [`record`].
//!
//! Pure: no clock and no device. `nicteam-experiment` reads whole files with it, `nicteam-lab` executes what they say.
#![forbid(unsafe_code)]

pub mod engine;
pub mod event;
pub mod impairments;
mod in_use;
pub mod keys;
pub mod multipath;
pub mod on_wire;
pub mod pattern;
pub mod read;
pub mod record;
pub mod repeat;
pub mod resolved;
pub mod switch_model;
pub mod target;
pub mod task;
pub mod timed;
pub mod traffic;
pub mod value;

use nicteam_diagnostics::units;
