//! The initiator's part of a session identifier.

use std::fmt;

/// The initiator's part of a session's identifier (ISID, RFC 7143 section 11.12.5), of the format "random" (type 10b).
///
/// A target knows a session by the initiator's name and its ISID. A login with those of a session that still exists
/// takes its place: the target closes the old session first (session reinstatement, RFC 7143 section 6.3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isid {
    random: u32,
    qualifier: u16,
}

impl Isid {
    /// `random` distinguishes initiators of one name; its lower 24 bits are used. `qualifier` distinguishes the
    /// sessions of one initiator, as the paths of a multipath disk.
    pub fn new(random: u32, qualifier: u16) -> Isid {
        Isid { random: random & 0x00ff_ffff, qualifier }
    }

    /// The lower 24 bits that were given.
    pub fn random(self) -> u32 {
        self.random
    }

    /// Distinguishes the sessions of one initiator.
    pub fn qualifier(self) -> u16 {
        self.qualifier
    }
}

impl fmt::Display for Isid {
    /// Its six bytes, as they go over the wire.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "80{:06x}{:04x}", self.random, self.qualifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_isid_reads_as_its_six_bytes() {
        assert_eq!(Isid::new(0x1234, 7).to_string(), "800012340007");
        assert_eq!(Isid::new(0xff12_3456, 7), Isid::new(0x12_3456, 7), "24 bits");
    }
}
