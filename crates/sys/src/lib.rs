//! The operating system, thinly: what the kernel offers, in Rust's words, without policy.
//!
//! With the BPF loader of `nicteam-dataplane` this is the only place for
//! `unsafe`. Every error names the operation, what it was tried on, and what
//! the system said.

pub mod bpf;
pub mod capabilities;
#[doc(hidden)]
pub mod decoders;
pub mod echo;
mod error;
pub mod ethtool;
pub mod headers;
pub mod listen;
pub mod mounts;
pub mod mptcp;
pub mod multicast;
pub mod netns;
pub mod notify;
pub mod packet;
pub mod pattern;
pub mod peer;
pub mod pid_namespace;
pub mod process;
pub mod random;
pub mod reserve;
pub mod sched;
pub mod signals;
pub mod sniff;
pub mod tap;
pub mod tcp;

pub use error::{Context, Error, Result};
