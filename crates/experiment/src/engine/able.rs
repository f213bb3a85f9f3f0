//! What an engine says of itself.

use nicteam_team::Config;

/// Who can run a team.
pub trait Engine: Sync {
    /// Its name in the file.
    fn name(&self) -> &'static str;

    /// Whether it can run a team of this configuration.
    ///
    /// # Errors
    /// What it cannot do.
    fn supports(&self, config: &Config) -> Result<(), Unsupported>;
}

/// What an engine cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The option that is to blame: `mode`, `arp_interval`, ...
    pub option: &'static str,
    /// Why not, to follow the engine's name: `has no mode stripe`.
    pub reason: String,
    /// What to ask for instead, if there is something.
    pub hint: Option<String>,
}
