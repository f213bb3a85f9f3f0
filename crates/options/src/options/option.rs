//! One line of the table of options.

use crate::config::Config;
use crate::error::ConfigError;
use crate::values::Values;

/// What can be said about one option: for help, hints and schemas.
#[derive(Debug)]
pub struct ConfigOption {
    /// The kernel's name for it.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// What it takes.
    pub values: Values,
    pub(super) get: fn(&Config) -> String,
    pub(super) set: fn(&mut Config, &str) -> Result<(), ConfigError>,
}
