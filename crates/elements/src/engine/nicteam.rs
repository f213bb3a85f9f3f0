//! Engine `nicteam`: teams of this program.

use nicteam_team::Config;

use super::able::{Engine, Unsupported};

pub(super) const NAME: &str = "nicteam";

/// It has every mode and option, as they are its own.
#[derive(Debug)]
pub(super) struct Nicteam;

impl Engine for Nicteam {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, _config: &Config) -> Result<(), Unsupported> {
        Ok(())
    }
}
