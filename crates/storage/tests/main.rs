//! Disks over many paths, against real targets, and their NBD export, against real clients.

mod common;
mod nbd;
