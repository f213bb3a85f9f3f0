//! What a team says of itself, in its own terms.

use nicteam_events::LinkState;
use nicteam_lacp::PortStatus;
use nicteam_machine::{MemberId, MemberLink};

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
