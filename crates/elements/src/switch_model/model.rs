//! What is known of a maker's switch.

use nicteam_team::HashPolicy;

/// A maker's switch.
#[derive(Debug, PartialEq, Eq)]
pub struct SwitchModel {
    /// Its name in the file: `catalyst-2960s`.
    pub name: &'static str,
    /// Its name in words: `Cisco Catalyst 2960-S`.
    pub title: &'static str,
    /// The command that sets how it spreads, for messages: `port-channel load-balance`; empty: it has none.
    pub command: &'static str,
    /// What that command takes, the default first.
    pub spreads: &'static [Spread],
    /// Values of its hash, assigned to a group's links in turn; 0: as many as there are links.
    pub hash_buckets: u32,
    /// The most links of a group that carry traffic.
    pub most_links: usize,
    /// The most groups; none: not known, and not checked.
    pub most_groups: Option<usize>,
    /// True if its ports take Cisco's `channel-group ... mode`.
    pub has_channel_group: bool,
    /// What of the choice of a link its maker does not say, and what stands in its place here.
    pub assumed: &'static str,
}

/// A way to spread frames over the links of a group.
#[derive(Debug, PartialEq, Eq)]
pub struct Spread {
    /// In the maker's words.
    pub word: &'static str,
    /// What it hashes.
    pub policy: HashPolicy,
}

impl SwitchModel {
    /// What this word stands for.
    pub fn spread(&self, word: &str) -> Option<&'static Spread> {
        self.spreads.iter().find(|spread| spread.word == word)
    }

    /// Its default.
    pub fn default_spread(&self) -> &'static Spread {
        &self.spreads[0]
    }
}
