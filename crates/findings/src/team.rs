//! A team of a record as the report sees it: the one place that reads the names of modes,
//! and that says of them what several rules ask.

use nicteam_record as record;
use nicteam_team::mode::{Receives, Sends};
use nicteam_team::{HashPolicy, Mode, Traits};

/// A team, or the links of a host that has an address for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Team<'a> {
    /// Host or switch it is on.
    pub node: &'a str,
    /// Its device; empty where there is no team.
    pub device: &'a str,
    /// Its members' devices, by place.
    pub members: &'a [String],
    /// How it uses them.
    pub mode: TeamMode,
    /// The same in the record's words.
    pub mode_name: &'a str,
    /// The hash policy; none where the mode does not hash, or by words that this version does not know.
    pub policy: Option<HashPolicy>,
    /// The same in the record's words; empty where the mode does not hash.
    pub policy_name: &'a str,
    /// Values of its hash, assigned to its members in turn; 0: as many as there are members.
    pub hash_buckets: u32,
    /// What is hashed beside a frame to find its bucket (`bond_hash_basis`).
    pub hash_basis: u32,
    /// Where LACP is an option of its mode: it speaks it.
    pub speaks_lacp: bool,
    /// Who ran it; empty in older records.
    pub engine: &'a str,
}

/// How a team uses its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamMode {
    /// A mode of teams.
    Of(Mode),
    /// No team: links of a host that speaks multipath TCP, each with an address.
    MultipathTcp,
    /// No team: links of a host that uses a disk, or serves one, by several paths, each with an address.
    Multipath,
    /// By words that this version does not know.
    Unknown,
}

/// How the record calls the links of a host that speaks multipath TCP.
pub const MULTIPATH_TCP: &str = "mptcp";

/// How it calls those of a host with several paths to a disk.
pub const MULTIPATH: &str = "multipath";

impl<'a> Team<'a> {
    /// Reads a team of a record.
    pub fn read(team: &'a record::Team) -> Team<'a> {
        let mode = match team.mode.as_str() {
            MULTIPATH_TCP => TeamMode::MultipathTcp,
            MULTIPATH => TeamMode::Multipath,
            name => name.parse().map_or(TeamMode::Unknown, TeamMode::Of),
        };
        Team {
            node: &team.node,
            device: &team.device,
            members: &team.members,
            mode,
            mode_name: &team.mode,
            policy: team.xmit_hash_policy.parse().ok(),
            policy_name: &team.xmit_hash_policy,
            hash_buckets: team.options.get("hash_buckets").and_then(|text| text.parse().ok()).unwrap_or(0),
            hash_basis: team.options.get("bond_hash_basis").and_then(|basis| basis.parse().ok()).unwrap_or(0),
            speaks_lacp: team.options.get("lacp").is_some_and(|lacp| lacp != "off"),
            engine: &team.engine,
        }
    }

    /// Whether a hash chooses its members.
    pub fn hashes(&self) -> bool {
        !self.policy_name.is_empty()
    }
}

impl TeamMode {
    /// Whether it sends frames in turn.
    pub fn takes_turns(self) -> bool {
        self.sends() == Some(Sends::InTurn)
    }

    /// Whether it sends a copy of each frame by each member.
    pub fn sends_copies(self) -> bool {
        self.sends() == Some(Sends::ByAll)
    }

    /// How a frame finds its member, where it is a mode of teams.
    pub fn sends(self) -> Option<Sends> {
        self.traits().map(|traits| traits.sends)
    }

    /// Whether it stripes towards hosts that stripe.
    pub fn stripes(self) -> bool {
        self.traits().is_some_and(Traits::stripes)
    }

    /// Whether it sends to each neighbour, or each flow, by one member.
    pub fn gives_each_peer_one(self) -> bool {
        self.traits().is_some_and(|traits| traits.buckets().is_some())
    }

    /// Whether one member carries all that it sends.
    pub fn uses_one(self) -> bool {
        self.sends() == Some(Sends::ByActive)
    }

    /// Whether each source address has one of its members.
    pub fn gives_each_source_one(self) -> bool {
        self.sends() == Some(Sends::BySource)
    }

    /// Whether each connection has one of its members, given by a table that no record has.
    pub fn gives_each_flow_one(self) -> bool {
        self.sends() == Some(Sends::ByFlow)
    }

    /// Whether it announces the member by which it receives from a neighbour.
    pub fn announces_receiver(self) -> bool {
        self.traits().is_some_and(|traits| traits.receives != Receives::ByAll)
    }

    /// Whether there is no team: each link has an address, and the connecting host chooses among these.
    pub fn has_an_address_a_link(self) -> bool {
        matches!(self, TeamMode::MultipathTcp | TeamMode::Multipath)
    }

    /// What is true of it, where it is a mode of teams.
    fn traits(self) -> Option<&'static Traits> {
        match self {
            TeamMode::Of(mode) => Some(mode.traits()),
            TeamMode::MultipathTcp | TeamMode::Multipath | TeamMode::Unknown => None,
        }
    }
}
