//! Members and sets of them.

use std::fmt;

/// The most members a team can have.
pub const MAX_MEMBERS: usize = crate::constants::MAX_MEMBERS;

/// A member's place in its team, 0 to [`MAX_MEMBERS`] - 1.
///
/// A place is kept as long as the member stays, so counters and tables may be
/// keyed by it; a place that became free is given to a later member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(u8);

impl MemberId {
    /// The member at this place, or nothing if there is no such place.
    pub const fn new(place: usize) -> Option<MemberId> {
        if place < MAX_MEMBERS { Some(MemberId(place as u8)) } else { None }
    }

    /// The place as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

/// A set of members.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MemberSet(u32);

impl MemberSet {
    /// No member.
    pub const EMPTY: MemberSet = MemberSet(0);

    /// This member alone.
    pub const fn one(member: MemberId) -> MemberSet {
        MemberSet(1 << member.0)
    }

    /// A bit for each member, place 0 the lowest.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set that [`MemberSet::bits`] came from.
    pub const fn from_bits(bits: u32) -> MemberSet {
        MemberSet(bits)
    }

    /// Adds a member.
    pub fn insert(&mut self, member: MemberId) {
        self.0 |= 1 << member.0;
    }

    /// True if the member is in the set.
    pub const fn contains(self, member: MemberId) -> bool {
        self.0 & 1 << member.0 != 0
    }

    /// True if nobody is.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, by place.
    pub fn iter(self) -> impl Iterator<Item = MemberId> {
        (0..MAX_MEMBERS as u8).map(MemberId).filter(move |&member| self.contains(member))
    }
}

impl FromIterator<MemberId> for MemberSet {
    fn from_iter<I: IntoIterator<Item = MemberId>>(members: I) -> MemberSet {
        let mut set = MemberSet::EMPTY;
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}

impl fmt::Debug for MemberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
