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

    /// Options of a team that is a switch's group, which spreads by `spread`; `lacp` is `off`, `active` or `passive`, `lacp_rate`
    /// `slow` or `fast`.
    ///
    /// # Errors
    /// What it cannot do: `spread` or `lacp`.
    fn group(&self, spread: &str, lacp: &str, lacp_rate: &str) -> Result<Vec<(&'static str, String)>, Unsupported> {
        let mode = if lacp == "off" { "balance-xor" } else { "802.3ad" };
        let mut options = vec![("mode", mode), ("xmit_hash_policy", spread), ("miimon", "100")];
        if lacp != "off" {
            options.extend([("lacp_active", lacp), ("lacp_rate", lacp_rate)]);
        }
        Ok(options.into_iter().map(|(name, value)| (name, value.to_owned())).collect())
    }
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
