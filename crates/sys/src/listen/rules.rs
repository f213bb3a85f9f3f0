//! What a listening socket is told to hear.

/// Protocols of the control side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocols {
    /// Slow protocols, EtherType 0x8809: LACP and markers.
    pub slow: bool,
    /// EtherType 0x88b5: hellos of teams that stripe, but for probes, which a
    /// dataplane answers.
    pub hellos: bool,
    /// ARP.
    pub arp: bool,
    /// IPv6 neighbour solicitations and advertisements.
    pub neighbours: bool,
    /// PAgP: Cisco's SNAP number 0x0104, at `01:00:0c:cc:cc:cc`.
    pub pagp: bool,
}

/// Kinds of frames that are told apart, so that a flood of one costs no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Announcements, challenges and answers of teams that stripe.
    Hello,
    /// Probes of a striping team that came back.
    Echo,
    /// LACPDUs.
    Lacp,
    /// Markers of link aggregation, and the answers to them.
    Marker,
    /// ARP.
    Arp,
    /// IPv6 neighbour solicitations and advertisements.
    Neighbour,
    /// PAgP of a switch.
    Pagp,
}

/// What a [`super::Listener`] hears: frames in the forms that each kind's standard, or docs/hello.md, allows (destination, tag,
/// version, fields and lengths). Frames for other hosts are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The kinds, one rule each.
    pub rules: Vec<Rule>,
    /// The first halves of the stamps that an echo may have; empty: any.
    pub marks: Vec<u32>,
}

/// What is heard of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The kind.
    pub kind: Kind,
    /// Source addresses that have a share of their own, [`MOST_KNOWN`] at most. The last four bytes decide.
    pub known: Vec<[u8; 6]>,
    /// How many are let through.
    pub share: Share,
}

/// Of the frames of a kind one in 2^n is let through, taken by chance: n, 31 at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// From addresses that are known.
    pub known: u8,
    /// From all others.
    pub others: u8,
}

/// Datagrams of UDP from one socket to another, in frames with one tag beside them, without options of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedFlow {
    /// Priority, drop eligibility and VLAN identifier in the tag.
    pub tci: u16,
    /// Destination address of the frames.
    pub dst: [u8; 6],
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Over IPv6, not IPv4.
    pub ipv6: bool,
}

/// Bytes of the longest frame that is heard whole; of a longer one, the front.
pub const LONGEST: usize = 2048;
/// The most known addresses of a [`Rule`].
pub const MOST_KNOWN: usize = 64;

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] =
        [Kind::Hello, Kind::Echo, Kind::Lacp, Kind::Marker, Kind::Arp, Kind::Neighbour, Kind::Pagp];
}

impl Protocols {
    /// The kinds of frames that they have.
    pub fn kinds(self) -> Vec<Kind> {
        let wanted = |kind: &Kind| match kind {
            Kind::Hello | Kind::Echo => self.hellos,
            Kind::Lacp | Kind::Marker => self.slow,
            Kind::Arp => self.arp,
            Kind::Neighbour => self.neighbours,
            Kind::Pagp => self.pagp,
        };
        Kind::ALL.into_iter().filter(wanted).collect()
    }
}

impl Rules {
    /// All legal frames of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = Kind>) -> Rules {
        let rule = |kind| Rule { kind, known: Vec::new(), share: Share::default() };
        Rules { rules: kinds.into_iter().map(rule).collect(), ..Rules::default() }
    }

    pub(super) fn hear(&self, kind: Kind) -> bool {
        self.rules.iter().any(|rule| rule.kind == kind)
    }
}
