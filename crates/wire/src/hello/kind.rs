//! What a hello is for, and where a frame says so.

use crate::constants;

/// What a hello is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelloKind {
    /// To all that listen: this is my team.
    Announce,
    /// To one member of one peer: does this path work?
    Probe,
    /// It does.
    Echo,
    /// To a team that is new: do you run now, and have the key?
    Challenge,
    /// It does, and has.
    Answer,
}

impl HelloKind {
    pub(super) const ALL: [HelloKind; 5] =
        [HelloKind::Announce, HelloKind::Probe, HelloKind::Echo, HelloKind::Challenge, HelloKind::Answer];

    pub(super) const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// True of a probe, and of the echo that it becomes.
    pub(super) fn is_of_probe(self) -> bool {
        matches!(self, HelloKind::Probe | HelloKind::Echo)
    }

    pub(super) fn of(number: u8) -> Option<HelloKind> {
        HelloKind::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// Where an untagged frame says what it is for.
pub(super) const KIND: usize = constants::HELLO_KIND;
/// Bytes of an Ethernet header.
pub(super) const HEADER: usize = 14;
/// Places of single bytes in the payload.
pub(super) const PAYLOAD_KIND: usize = KIND - HEADER;
