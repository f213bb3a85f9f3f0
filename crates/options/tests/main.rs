//! Options by name.

mod config;
