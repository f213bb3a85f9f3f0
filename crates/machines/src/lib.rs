//! The real machines of an experiment.
//!
//! [`preflight`] looks at each of them before anything is changed there, and says what speaks against using it. A host whose
//! team has the engine `existing` is measured as it is: [`preflight`] reads its bundle, and the topology of the experiment gets
//! the bundle's mode, members and rates. Faults that cannot be carried out at a machine's own end of a cable are refused.
#![forbid(unsafe_code)]

mod existing;
mod faults;
mod hosts;
mod preflight;

pub use faults::ends_of;
pub use hosts::{destination, is_machine, links};
pub use preflight::{Error, Machine, Machines, preflight};
