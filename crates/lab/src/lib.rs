//! The lab: an experiment becomes hosts, switches, links, teams and
//! traffic, and what they did becomes a record.
//!
//! resolved ([`nicteam_experiment::Experiment`]) -> deployed (a testbed's handles) -> a bundle
//! ([`nicteam_record::Bundle`]).
#![forbid(unsafe_code)]

pub mod agent;
mod background;
pub mod clean;
mod congestion;
mod counters;
mod engine;
mod environment;
mod event;
mod fault_effects;
mod files;
mod finite;
mod fit;
mod hold;
mod installed;
mod lab_id;
mod machine;
mod neighbour_table;
mod options;
mod outcomes;
mod output;
pub mod parts;
mod programs;
mod progress;
mod recorded;
mod run;
mod summed;
pub mod target;
pub mod testbed;
mod timeline;
mod traffic_tests;
mod watch;

pub use congestion::check_tcp;
pub use engine::{Absent, Engine, Running};
pub use fit::fit;
pub use hold::{Held, hold};
pub use machine::check_machine;
pub use nicteam_node::{Error, Failure, Output, protocol, task};
pub use nicteam_record::measure::Counted;
pub use options::Options;
pub use programs::check_programs;
pub use progress::Progress;
pub use run::{Outcome, default_output, run};
pub use watch::LOOK_BACK;
