//! What a maker's file gives, and what it is asked for.

use nicteam_drafts::Team;
use nicteam_options::{AggrLayers, Config, HashPolicy};

/// What to type at the switches of a maker. Which of their ports the members lead to nobody knows here.
pub(super) trait Dialect: Sync {
    /// How they call things.
    fn words(&self) -> &'static Words;

    /// What makes a group.
    fn group(&self, group: &Group<'_>, lines: &mut Lines);

    /// What the whole switch hashes, which the teams may want differently.
    fn balance(&self, policies: &[HashPolicy], lines: &mut Lines);
}

/// How a maker calls things.
pub(super) struct Words {
    /// Its name at the command line.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// What begins a comment.
    pub(super) comment: &'static str,
    /// Where to type the lines: ", in `configure terminal`".
    pub(super) place: &'static str,
    /// The most groups that its switches have.
    pub(super) most_groups: usize,
    /// What lets a port out of a group.
    pub(super) undo: &'static str,
}

/// A team whose ports are one group.
pub(super) struct Group<'t> {
    pub(super) team: &'t Team,
    pub(super) config: &'t Config,
    /// Counted from 1.
    pub(super) number: usize,
    /// The switch speaks LACP.
    pub(super) speaks: bool,
}

impl Group<'_> {
    pub(super) fn ports(&self) -> usize {
        self.team.members.len()
    }

    /// The switch sends LACPDUs each second.
    pub(super) fn is_fast(&self) -> bool {
        self.speaks && self.config.lacp.rate.name() == "fast"
    }

    /// How many links the group needs, where that is more than one.
    pub(super) fn min_links(&self) -> Option<u32> {
        Some(self.config.min_links).filter(|links| *links > 0 && self.speaks)
    }

    /// A large MTU.
    pub(super) fn mtu(&self) -> Option<u32> {
        self.team.mtu.filter(|mtu| *mtu > 1500)
    }
}

/// Lines of a text, comments among them.
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) comment: &'static str,
}

impl Lines {
    pub(super) fn put(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    pub(super) fn note(&mut self, words: impl AsRef<str>) {
        let words = words.as_ref();
        let blank = if words.is_empty() { "" } else { " " };
        self.put(format!("{}{blank}{words}", self.comment));
    }
}

/// What of a frame a switch hashes that spreads as a team does towards it: the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hashed {
    SrcDstMac,
    SrcMac,
    DstMac,
    SrcIp,
    DstIp,
    SrcDstIp,
    Ports,
}

impl Hashed {
    pub(super) fn of(policy: HashPolicy) -> Hashed {
        match policy {
            HashPolicy::Layer2 | HashPolicy::SrcDstMac => Hashed::SrcDstMac,
            HashPolicy::Aggr(layers) if layers == AggrLayers::L2 => Hashed::SrcDstMac,
            HashPolicy::Aggr(layers) if layers.contains(AggrLayers::L4) => Hashed::Ports,
            HashPolicy::SrcMac | HashPolicy::VlanSrcMac => Hashed::DstMac,
            HashPolicy::DstMac => Hashed::SrcMac,
            HashPolicy::SrcIp => Hashed::DstIp,
            HashPolicy::DstIp => Hashed::SrcIp,
            HashPolicy::Layer34 | HashPolicy::Encap34 | HashPolicy::SrcDstPort => Hashed::Ports,
            _ => Hashed::SrcDstIp,
        }
    }
}
