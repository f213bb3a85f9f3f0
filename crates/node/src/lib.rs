//! What a node of a run does for the lab: tasks that drive traffic, and links that are emulated.
//!
//! [`protocol`] is what the lab and its agents say to each other; [`task`] has a file for each kind of traffic and of storage
//! work; [`emulator`] carries the frames of an impaired link. Nothing here knows a testbed, an engine or the record of a run.
#![forbid(unsafe_code)]

pub mod clock;
pub mod content;
pub mod emulator;
mod error;
pub mod flows;
pub mod hexadecimal;
mod lock;
pub mod processor;
pub mod protocol;
mod random;
mod say;
pub mod sockets;
pub mod task;

pub use error::{Error, Failure};
pub use lock::lock;
pub use say::Output;
