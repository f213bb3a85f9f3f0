//! The lab: an experiment becomes hosts, switches, links, teams and
//! traffic, and what they did becomes a record.
//!
//! resolved ([`nicteam_experiment::Experiment`]) -> deployed (a testbed's handles) -> a bundle
//! ([`nicteam_record::Bundle`]).
#![forbid(unsafe_code)]

pub mod agent;
mod background;
pub mod clean;
mod clock;
mod congestion;
mod content;
mod counters;
mod engine;
mod environment;
mod error;
mod event;
mod fault_effects;
mod files;
mod finite;
mod fit;
mod flows;
mod hexadecimal;
mod hold;
mod installed;
mod lab_id;
mod lock;
mod machine;
mod neighbour_table;
mod options;
mod outcomes;
mod output;
pub mod parts;
mod processor;
mod programs;
mod progress;
pub mod protocol;
mod random;
mod recorded;
mod relay;
mod run;
mod say;
mod sockets;
mod summed;
pub mod target;
pub mod task;
pub mod testbed;
mod timeline;
mod traffic_tests;
mod watch;

pub use congestion::check_tcp;
pub use engine::{Absent, Engine, Running};
pub use error::{Error, Failure};
pub use fit::fit;
pub use hold::{Held, hold};
pub use machine::check_machine;
pub use nicteam_record::measure::Counted;
pub use options::Options;
pub use programs::check_programs;
pub use progress::Progress;
pub use run::{Outcome, default_output, run};
pub use say::Output;
