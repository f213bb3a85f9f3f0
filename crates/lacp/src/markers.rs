//! What a port keeps of the marker protocol.

use std::collections::VecDeque;

use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use nicteam_machine::{Time, state};

use super::rate_limit::RateLimit;

/// A marker that was sent; its transaction number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkerId(pub u32);

impl State for MarkerId {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        from.u32().map(MarkerId)
    }
}

/// What a port keeps of the marker protocol. Questions and answers together
/// stay within the ten frames a second that a slow protocol may send.
#[derive(Clone, Debug, Default)]
pub(super) struct Markers {
    /// Sent and not answered, in this order, each with its deadline.
    pub(super) awaited: VecDeque<(MarkerId, Time)>,
    pub(super) asked: RateLimit<5>,
    pub(super) answered: RateLimit<5>,
    /// The last marker that was waited for had no answer.
    pub(super) unanswered: bool,
}

state!(struct Markers { awaited, asked, answered, unanswered });
