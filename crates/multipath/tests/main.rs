//! Multipath I/O under virtual time.

mod closed_loop;
mod faults;
mod scenarios;
