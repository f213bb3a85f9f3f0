//! What a dataplane notes of peers' frames, for discovery to ask about.

use std::collections::BTreeMap;

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::Mac;

/// What happened since the notes were taken last, of one address of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// A member's of a peer; for what was sent, it may be the team's.
    pub mac: Mac,
    /// True if a frame was striped to this peer.
    pub sent: bool,
    /// The members of ours that received its frames, hellos and what is for groups left out.
    pub heard: MemberSet,
}

/// Notes of a dataplane that keeps them itself; eBPF has flags in a map.
#[derive(Clone, Debug, Default)]
pub struct Notes(BTreeMap<Mac, (bool, MemberSet)>);

impl Notes {
    /// A frame leaves for this address, a member's of a peer.
    pub fn sent(&mut self, dst: Mac) {
        self.0.entry(dst).or_default().0 = true;
    }

    /// `member` received a frame of this address, a member's of a peer; none for a group.
    pub fn heard(&mut self, member: MemberId, src: Mac) {
        self.0.entry(src).or_default().1.insert(member);
    }

    /// Everything, once.
    pub fn take(&mut self) -> Vec<Note> {
        let taken = std::mem::take(&mut self.0);
        taken.into_iter().map(|(mac, (sent, heard))| Note { mac, sent, heard }).collect()
    }
}
