//! Multipath I/O under virtual time.

mod throughput;
