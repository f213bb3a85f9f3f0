//! Multipath I/O under virtual time.
