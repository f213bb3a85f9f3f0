//! A team's configuration, in the kernel's words.

use std::collections::BTreeMap;

use nicteam_wire::Rtag;

use crate::arp::ArpMonitoring;
use crate::choices::{HashPolicy, PrimaryReselect};
use crate::classes::Classes;
use crate::failover::{ActiveSlave, FailOverMac};
use crate::lacp::LacpOptions;
use crate::mode::{Addresses, Agrees, Mode, Traits};
use crate::openvswitch::BondOptions;
use crate::stripe::{self, StripeKey, StripePlain};

/// A team's configuration. Fields are the kernel's options of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How frames are spread.
    pub mode: Mode,
    /// What balance-xor, 802.3ad and balance-tlb hash, and balance-alb without `tlb_dynamic_lb`.
    pub xmit_hash_policy: HashPolicy,
    /// balance-xor, 802.3ad: how many values the hash has, assigned to the members in turn, at most
    /// [`MAX_BUCKETS`](nicteam_machine::constants::MAX_BUCKETS); 0: as many as there are members.
    pub hash_buckets: u32,
    /// balance-rr: frames by one member before the next has its turn, 0 to 65535; 0 is random.
    pub packets_per_slave: u32,
    /// How often carrier is read, milliseconds; 0 never: every member counts as up.
    pub miimon_ms: u32,
    /// How long carrier must be back before the member counts as up, milliseconds.
    pub updelay_ms: u32,
    /// How long carrier must be gone before the member counts as down, milliseconds.
    pub downdelay_ms: u32,
    /// active-backup, balance-tlb, balance-alb, stripe: the preferred member's device name.
    pub primary: Option<String>,
    /// The same modes: when the preferred member takes over.
    pub primary_reselect: PrimaryReselect,
    /// The same modes: who is to become the active member now. A wish that is
    /// granted once and then forgotten, so it is none of [`Config::options`].
    pub active_slave: Option<ActiveSlave>,
    /// Members that must be up for the team to have carrier.
    pub min_links: u32,
    /// Gratuitous ARPs and unsolicited neighbour advertisements after a failover, 0 to 255.
    pub num_grat_arp: u32,
    /// Between two of them, milliseconds; 0 means `miimon_ms`.
    pub peer_notif_delay_ms: u32,
    /// The ARP monitor, which takes the place of `miimon_ms`.
    pub arp: ArpMonitoring,
    /// active-backup: which addresses members and team have.
    pub fail_over_mac: FailOverMac,
    /// With eBPF: the programs leave a member without carrier themselves, as far as
    /// `downdelay_ms` and `updelay_ms` allow; of no effect without `miimon_ms`, except in stripe.
    pub carrier_failover: bool,
    /// active-backup, 802.3ad: frames that standby members receive are taken.
    pub all_slaves_active: bool,
    /// active-backup: reports of multicast groups after a failover, 0 to 255.
    pub resend_igmp: u32,
    /// active-backup: priorities other than 0, by the member's device name.
    pub prio: BTreeMap<String, i32>,
    /// active-backup, balance-rr: by the member's device name, the queue whose
    /// frames leave by it while it is up, 1 to [`MAX_QUEUE_ID`](crate::MAX_QUEUE_ID).
    pub queue_id: BTreeMap<String, u16>,
    /// balance-tlb, balance-alb, stripe: flows go where their load fits, and move with
    /// it; else the hash alone decides.
    pub tlb_dynamic_lb: bool,
    /// balance-tlb, balance-alb, stripe: between two learning packets of a member, seconds, 1 or more.
    pub lp_interval_s: u32,
    /// balance-alb: receiving is balanced for IPv6 clients, too; else as in the
    /// kernel for those of IPv4 alone.
    pub rlb_ipv6: bool,
    /// stripe: what members carry by their device names, Mbit/s, where it is
    /// not what their drivers say.
    pub stripe_rate_mbps: BTreeMap<String, u32>,
    /// stripe: between two probes of a path to a peer with traffic, milliseconds, 1 to 1000.
    pub stripe_interval_ms: u32,
    /// stripe: what the host's TCP is told for `net.ipv4.tcp_min_rtt_wlen`, seconds, at most
    /// 86400; none: nothing.
    pub tcp_min_rtt_wlen_s: Option<u32>,
    /// stripe: how old a gap in what a TCP connection received is before its sender is told, milliseconds, at most 100.
    pub sack_delay_ms: u32,
    /// stripe: what goes by several members towards hosts that do not stripe.
    pub stripe_plain: StripePlain,
    /// stripe: what goes by two paths.
    pub redundant: Classes,
    /// stripe: by which teams know each other's hellos; none: everybody's are believed.
    pub stripe_key: Option<StripeKey>,
    /// stripe: the key before, while keys are changed: hellos by either are believed.
    pub stripe_key_old: Option<StripeKey>,
    /// The options of LACP.
    pub lacp: LacpOptions,
    /// The options that Open vSwitch's modes have beside.
    pub bond: BondOptions,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mode: Mode::default(),
            xmit_hash_policy: HashPolicy::default(),
            hash_buckets: 0,
            packets_per_slave: 1,
            miimon_ms: 100,
            updelay_ms: 0,
            downdelay_ms: 0,
            primary: None,
            primary_reselect: PrimaryReselect::default(),
            active_slave: None,
            min_links: 0,
            num_grat_arp: 1,
            peer_notif_delay_ms: 0,
            arp: ArpMonitoring::default(),
            fail_over_mac: FailOverMac::default(),
            carrier_failover: true,
            all_slaves_active: false,
            resend_igmp: 1,
            prio: BTreeMap::new(),
            queue_id: BTreeMap::new(),
            tlb_dynamic_lb: true,
            lp_interval_s: 1,
            rlb_ipv6: true,
            stripe_rate_mbps: BTreeMap::new(),
            stripe_interval_ms: stripe::DEFAULT_INTERVAL_MS,
            tcp_min_rtt_wlen_s: stripe::DEFAULT_TCP_MIN_RTT_WLEN_S,
            sack_delay_ms: stripe::DEFAULT_SACK_DELAY_MS,
            stripe_plain: StripePlain::default(),
            redundant: Classes::default(),
            stripe_key: None,
            stripe_key_old: None,
            lacp: LacpOptions::default(),
            bond: BondOptions::default(),
        }
    }
}

impl Traits {
    /// True if LACP agrees with the other end, in this mode with this configuration.
    pub fn aggregates(&self, config: &Config) -> bool {
        match self.agrees {
            Agrees::Never => false,
            Agrees::Always => true,
            Agrees::ByOption => config.bond.lacp.is_on(),
        }
    }

    /// True if a switch has to treat the links as one group, in this mode with this configuration.
    pub fn needs_group(&self, config: &Config) -> bool {
        self.needs_group || self.aggregates(config)
    }
}

impl Config {
    /// What [`FailOverMac`] members live by: of consequence in active-backup alone.
    pub fn mac_policy(&self) -> FailOverMac {
        match self.mode.traits().addresses {
            Addresses::FailOverMac => self.fail_over_mac,
            Addresses::Team | Addresses::OwnInFrames | Addresses::Own => FailOverMac::None,
        }
    }

    /// The `prio` of the member with this device name.
    pub fn prio_of(&self, member: &str) -> i32 {
        self.prio.get(member).copied().unwrap_or(0)
    }

    /// The `queue_id` of the member with this device name; 0: it has none.
    pub fn queue_id_of(&self, member: &str) -> u16 {
        self.queue_id.get(member).copied().unwrap_or(0)
    }

    /// The priority of the system in LACP: 65535 in the kernel's modes, 65534 in Open vSwitch's (vswitchd/bridge.c,
    /// `port_configure_lacp`), where nothing else is said.
    pub fn actor_sys_prio(&self) -> u16 {
        self.lacp.actor_sys_prio.unwrap_or(if self.mode.traits().openvswitch { u16::MAX - 1 } else { u16::MAX })
    }

    /// The priority of a port in LACP where nothing else is said: Open vSwitch's is 65535 (`iface_configure_lacp`).
    pub(crate) fn default_port_prio(&self) -> u16 {
        if self.mode.traits().openvswitch { u16::MAX } else { LacpOptions::DEFAULT_PORT_PRIO }
    }

    /// The priority of a member as a port in LACP, by its device.
    pub fn port_prio(&self, device: &str) -> u16 {
        self.lacp.actor_port_prio.get(device).copied().unwrap_or(self.default_port_prio())
    }

    /// What this member carries, Mbit/s, if it was said.
    pub fn stripe_rate_of(&self, device: &str) -> Option<u32> {
        self.stripe_rate_mbps.get(device).copied()
    }

    /// Bytes by which the frames of a member may be longer than the team's MTU
    /// says: what a redundancy tag takes, where there may be one.
    pub fn tag_bytes(&self) -> u32 {
        if self.redundant.is_off() { 0 } else { Rtag::LEN as u32 }
    }
}
