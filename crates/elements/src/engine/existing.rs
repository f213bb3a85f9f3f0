//! Engine `existing`: a bond or team that a real machine has already, of any program. It is measured as it is.

use nicteam_team::Config;

use super::able::{Engine, Group, Unsupported};

/// The engine of teams that a machine has already.
pub const NAME: &str = "existing";

#[derive(Debug)]
pub(super) struct Existing;

impl Engine for Existing {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _config: &Config) -> Result<(), Unsupported> {
        Ok(())
    }

    fn group(&self, _group: &Group<'_>) -> Result<Vec<(&'static str, String)>, Unsupported> {
        Err(Unsupported { option: "engine", reason: "is no engine of a switch".to_owned(), hint: None })
    }
}
