//! What goes in and comes out of a team, in its own terms.

use nicteam_lacp::{LacpEvent, PortStatus};
use nicteam_machine::{MemberId, MemberLink, state};
use nicteam_wire::Mac;

use super::pagp::PagpHeard;
use super::plain::PlainEvent;
use crate::{ConfigError, Mode, Plan};

/// A member's state as the team sees it (the kernel's `MII Status` words).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Carrier is there and `updelay` has passed.
    Up,
    /// Carrier is gone, `downdelay` has not passed: still used (`going down`).
    Fail,
    /// No carrier.
    Down,
    /// Carrier is back, `updelay` has not passed: not yet used (`going back`).
    Back,
}

state!(
    enum LinkState {
        Up,
        Fail,
        Down,
        Back,
    }
);

/// One member, for those who look at a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Its place.
    pub id: MemberId,
    /// Its device.
    pub name: String,
    /// Its state.
    pub state: LinkState,
    /// What the operating system said last.
    pub link: MemberLink,
    /// True if frames are sent by it (in active-backup, balance-tlb and
    /// balance-alb: it is the active one).
    pub active: bool,
    /// How often it went down since it joined.
    pub link_failures: u32,
    /// 802.3ad: its port.
    pub lacp: Option<PortStatus>,
}

/// Frames from members that the control side wants to see, whatever becomes of
/// them in the dataplane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listen {
    /// Slow protocols (EtherType 0x8809): LACP and markers.
    pub slow: bool,
    /// Hellos of teams that stripe.
    pub hellos: bool,
    /// ARP.
    pub arp: bool,
    /// IPv6 neighbour solicitations and advertisements.
    pub neighbours: bool,
    /// PAgP, Cisco's.
    pub pagp: bool,
}

/// Why [`crate::Team::poll_timeout`] wants to be called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerReason {
    /// The next reading of carrier.
    MiiMon,
    /// A member's `updelay` ends: its link is read, and it is up if it still has carrier.
    UpDelay(MemberId),
    /// A member's `downdelay` ends: its link is read, and it is down if it still has none.
    DownDelay(MemberId),
    /// The next gratuitous ARP or unsolicited neighbour advertisement.
    PeerNotify,
    /// The ARP monitor's next round.
    ArpMon,
    /// The next report of multicast groups.
    ResendIgmp,
    /// balance-tlb, balance-alb, stripe: the next learning packets.
    Learning,
    /// The same with `tlb_dynamic_lb`: the buckets are assigned anew.
    Rebalance,
    /// balance-alb: clients are told their members.
    ClientUpdate,
    /// balance-alb: the active member need not hear a lost one's address any more.
    Inheritance,
    /// LACP: see [`nicteam_lacp::Lacp::poll_timeout`] of [`crate::Team::lacp`] for what.
    Lacp,
    /// stripe: the next announcement or probe.
    Discovery,
    /// stripe: the next question about, or to, hosts that do not stripe.
    Plain,
}

/// What the shell is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Execute this plan from now on.
    Apply(Box<Plan>),
    /// Show the team's stack a carrier, or none.
    SetCarrier(bool),
    /// Send this frame by this member.
    Transmit {
        /// The member.
        member: MemberId,
        /// The frame, from the destination address on, no check sequence.
        frame: Vec<u8>,
    },
    /// Give a member, or the team, this address.
    SetMac {
        /// Whose; none: the team's own, and the members keep theirs.
        member: Option<MemberId>,
        /// The address.
        mac: Mac,
    },
    /// Let a member's device take every frame, or those for it alone as before.
    TakeAll {
        /// Whose.
        member: MemberId,
        /// Every frame.
        on: bool,
    },
    /// Read the multicast groups of the team's stack and call [`crate::Team::handle_groups`].
    ReadGroups,
    /// Read the link of every member now and call [`crate::Team::handle_link`] for each.
    ReadLinks,
    /// The same; then read the counters of all members and call [`crate::Team::handle_traffic`] once.
    ReadTraffic,
    /// Read what the dataplane counted and call [`crate::Team::handle_loads`].
    ReadLoads,
    /// Read the sources that the dataplane noted and call [`crate::Team::handle_sources`]; after the loads, if they are
    /// asked for as well.
    ReadSources,
    /// Read what the dataplane noted of peers' frames and call [`crate::Team::handle_notes`].
    ReadNotes,
    /// Read what the dataplane says of hosts that do not stripe and call [`crate::Team::handle_plain`].
    ReadPlain,
    /// Something a user may want to know.
    Event(Event),
}

/// Something a user may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A member's state changed.
    Member {
        /// The member.
        id: MemberId,
        /// Its device.
        name: String,
        /// Before.
        from: LinkState,
        /// Now.
        to: LinkState,
    },
    /// active-backup, balance-tlb, balance-alb, stripe: another member, or none, is active now.
    Active {
        /// Before.
        from: Option<MemberId>,
        /// Now.
        to: Option<MemberId>,
    },
    /// The team has carrier now, or has it no more.
    Carrier(bool),
    /// 802.3ad: something happened to a port or an aggregator.
    Lacp(LacpEvent),
    /// The other end of a member speaks PAgP, which no team answers.
    Pagp(PagpHeard),
    /// stripe: a member is left, or used again, towards hosts that do not stripe.
    Plain(PlainEvent),
}

/// A change that the team refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TeamError {
    /// The configuration is not one the kernel would take.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The team has as many members as it can have.
    #[error("a team has at most {} members", nicteam_machine::MAX_MEMBERS)]
    Full,
    /// A member of this name is in the team.
    #[error("`{0}` is a member already")]
    Duplicate(String),
    /// No member has this place.
    #[error("no member at place {0}")]
    NoMember(MemberId),
    /// No member has this device name.
    #[error("`{0}` is no member of the team")]
    NotAMember(String),
    /// Two modes that cannot follow each other while frames flow.
    #[error("mode {from} cannot become {to} while the team has members")]
    ModeNeedsNoMembers {
        /// The mode now.
        from: Mode,
        /// The mode that was asked for.
        to: Mode,
    },
    /// Members would need other addresses (`BOND_OPTFLAG_NOSLAVES` of `fail_over_mac`).
    #[error("`fail_over_mac` of a team with members cannot change, nor the mode while it is set")]
    AddressesNeedNoMembers,
    /// In this mode no member is the active one.
    #[error("mode {0} has no active member: all that are up carry traffic")]
    NoActiveMember(Mode),
    /// The mode has no buckets that could be given to members.
    #[error("mode {0} has no buckets to migrate")]
    NoBuckets(Mode),
    /// A member that buckets cannot be given to.
    #[error("`{name}` is not enabled: it is {state}")]
    NotEnabled {
        /// Its device.
        name: String,
        /// Its state.
        state: LinkState,
    },
    /// Members are enabled and disabled by hand in Open vSwitch's modes alone.
    #[error("mode {0} is none of Open vSwitch's: its members cannot be enabled or disabled by hand")]
    NotOpenVSwitch(Mode),
    /// A member that cannot become the active one.
    #[error("`{name}` cannot become active: it is {state}")]
    NotUp {
        /// Its device.
        name: String,
        /// Its state.
        state: LinkState,
    },
}
