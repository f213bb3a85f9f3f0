//! What each member carried to plain hosts, and what of it was sent again.

use nicteam_machine::{MAX_MEMBERS, MemberId};

use super::report::PlainMember;

/// Segments with data, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts([Count; MAX_MEMBERS]);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    sent: u64,
    resent: u64,
}

impl Counts {
    /// So many new segments leave by this member.
    pub(super) fn sent(&mut self, by: MemberId, segments: u32) {
        self.0[by.index()].sent += u64::from(segments);
    }

    /// So many segments that this member carried are sent again.
    pub(super) fn resent(&mut self, carrier: MemberId, segments: u32) {
        self.0[carrier.index()].resent += u64::from(segments);
    }

    /// Those of members that sent any.
    pub(super) fn report(&self) -> Vec<PlainMember> {
        let member = |(place, count): (usize, &Count)| {
            let id = MemberId::new(place).filter(|_| count.sent > 0)?;
            Some(PlainMember { id, sent: count.sent, resent: count.resent })
        };
        self.0.iter().enumerate().filter_map(member).collect()
    }
}
