//! Other machines, reached by the system's program `ssh`.
//!
//! [`shell`] makes the command lines, [`look`] reads what a machine says of itself before anything is done to it, and
//! [`trouble`] says in words what went wrong with a connection. These three do no I/O. [`keeper`] runs on the machine: it
//! lends links to an agent, and gives them back however the agent, the connection or the lab ends. A [`connection`] is the lab's
//! end; [`once`] executes a command of this program there and nothing else.
#![forbid(unsafe_code)]

pub mod connection;
pub mod keeper;
pub mod look;
pub mod once;
pub mod shell;
pub mod trouble;
