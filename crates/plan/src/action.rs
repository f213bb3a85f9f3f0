//! What a plan says of one frame.

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::{GapReport, Mac};

/// What to do with a frame from the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send it by each of these members, with each member's [`Rewrite`](crate::Rewrite); at least one.
    Send(MemberSet),
    /// Send it by this member, with these addresses.
    Stripe {
        /// The member.
        member: MemberId,
        /// The new source: its own address.
        src: Mac,
        /// The new destination: a member's of the peer.
        dst: Mac,
        /// What it says of a gap, and is to go without.
        without: Option<GapReport>,
    },
    /// It is not sent, nor dropped: all it says is a gap that may close yet.
    Withhold,
    /// Put a redundancy tag with this number into it, and send it twice.
    Redundant {
        /// The number.
        sequence: u16,
        /// The member and the addresses of the first copy.
        first: Leg,
        /// Those of the second copy; none if there is one path alone.
        second: Option<Leg>,
    },
    /// Hand it to the control side instead, which answers it or sends it itself.
    Punt,
    /// Drop and count it.
    Drop,
}

/// A path that a frame takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The member.
    pub member: MemberId,
    /// The new source: its own address.
    pub src: Mac,
    /// The new destination: a member's of the peer.
    pub dst: Mac,
}

/// What to do with a frame from a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the team's: the team's stack gets it, and only the team's.
    ToTeam,
    /// The same, with these addresses in place of its own.
    ToTeamAs {
        /// The source.
        src: Mac,
        /// The destination.
        dst: Mac,
    },
    /// The same, and without its redundancy tag.
    Untagged {
        /// The source.
        src: Mac,
        /// The destination.
        dst: Mac,
    },
    /// The same, and without what it says of a gap, which may close yet (stripe: a host's that does not stripe).
    WithoutGap {
        /// The source.
        src: Mac,
        /// The destination.
        dst: Mac,
        /// What it says.
        gap: GapReport,
    },
    /// It is not handed on, nor dropped: all it says is a gap that may close yet.
    Withhold,
    /// The team has had it by another path: drop it.
    Duplicate,
    /// It is the member's own: reserved link-local addresses (LACP, LLDP, STP), Cisco's (PAgP, CDP)
    /// and, in stripe, hellos,
    /// for the control side and for programs that listen on the member.
    ToMember,
    /// It goes back by the member, as its own echo (stripe: a peer's probe,
    /// [`nicteam_wire::Hello::reflect`]). So a peer whose process is slow, or
    /// gone, is no dead path. Faster than a team sends probes they do not go back.
    Echo,
    /// Drop and count it.
    Drop,
}

/// What [`Plan::choose`](crate::Plan::choose) says of a frame as long as all members have carrier.
pub(super) enum Found {
    /// By this member; the number by which it was chosen among the members, 0 if by none.
    Member(MemberId, u32),
    /// This.
    Action(Action),
}
