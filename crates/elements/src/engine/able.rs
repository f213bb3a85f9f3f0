//! What an engine says of itself.

use nicteam_team::Config;

/// An engine: a program that can run a team.
pub trait Engine: Sync {
    /// Its name in the file.
    fn name(&self) -> &'static str;

    /// Whether it can run a team of this configuration.
    ///
    /// # Errors
    /// What it cannot do.
    fn supports(&self, config: &Config) -> Result<(), Unsupported>;

    /// Options of a team that is a switch's group.
    ///
    /// # Errors
    /// What it cannot do: `spread`, `model` or `lacp`.
    fn group(&self, group: &Group<'_>) -> Result<Vec<(&'static str, String)>, Unsupported> {
        let Group { spread, hash_buckets, lacp, lacp_rate } = *group;
        let (mode, buckets) = (if lacp == "off" { "balance-xor" } else { "802.3ad" }, hash_buckets.to_string());
        let mut options = vec![("mode", mode), ("xmit_hash_policy", spread), ("hash_buckets", &buckets)];
        options.push(("miimon", "100"));
        if lacp != "off" {
            options.extend([("lacp_active", lacp), ("lacp_rate", lacp_rate)]);
        }
        Ok(options.into_iter().map(|(name, value)| (name, value.to_owned())).collect())
    }
}

/// How a switch's group bundles links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Its hash policy.
    pub spread: &'a str,
    /// Values of its hash; 0: as many as links.
    pub hash_buckets: u32,
    /// `off`, `active` or `passive`.
    pub lacp: &'a str,
    /// `slow` or `fast`.
    pub lacp_rate: &'a str,
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
