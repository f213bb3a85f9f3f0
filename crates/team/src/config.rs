//! A team's configuration, in the kernel's words.
//!
//! Names, values and ranges are those of Linux `drivers/net/bonding/bond_options.c`
//! (6.1 to 6.18), for the options and modes that a team has. As there, a value
//! may be a name or its number, `default` is the kernel's own default, and
//! white space around a value does not count.

mod arp;
mod balance;
mod classes;
mod failover;
mod lacp;
mod names;
mod openvswitch;
mod options;
mod stripe;

pub use arp::{ArpAllTargets, ArpMonitoring, ArpValidate, MAX_ARP_TARGETS};
pub use classes::{Classes, MAX_PORTS, NoClasses, Transport};
pub use failover::{ActiveSlave, FailOverMac, MAX_QUEUE_ID};
pub use lacp::LacpOptions;
pub use openvswitch::{BondOptions, DetectMode, LacpMode};
pub use options::{ConfigOption, Values, nearest};
pub use stripe::{MAX_SACK_DELAY, StripeKey, StripePlain};

use std::collections::BTreeMap;

use crate::Mode;
use crate::mode::Sends;
use names::modes;
use options::{DEFAULT_PACKETS_PER_SLAVE, HIDDEN, OPTIONS};

/// What a hash is made of.
///
/// The first six are the kernel's `xmit_hash_policy`, the last are illumos
/// `aggr`'s; those between are what switches offer for their link aggregation
/// groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashPolicy {
    /// Last bytes of both MAC addresses and the EtherType.
    #[default]
    Layer2,
    /// The same and the IP addresses.
    Layer23,
    /// IP addresses and ports.
    Layer34,
    /// As [`HashPolicy::Layer23`], of the packet inside a tunnel.
    Encap23,
    /// As [`HashPolicy::Layer34`], of the packet inside a tunnel.
    Encap34,
    /// VLAN tag and source MAC address.
    VlanSrcMac,
    /// Switch: source MAC address.
    SrcMac,
    /// Switch: destination MAC address.
    DstMac,
    /// Switch: both MAC addresses.
    SrcDstMac,
    /// Switch: both IP addresses; both MAC addresses where there is no IP.
    SrcDstIp,
    /// Switch: IP addresses and ports; as far up as the frame goes.
    SrcDstPort,
    /// Switch: last byte of the source IP address; of the source MAC address where there is no IP.
    SrcIp,
    /// Switch: last byte of the destination IP address; of the destination MAC address where there is no IP.
    DstIp,
    /// Switch: last bytes of both IP addresses; of both MAC addresses where there is no IP.
    SrcXorDstIp,
    /// illumos `dladm create-aggr -P`: these layers together.
    Aggr(AggrLayers),
}

/// The layers of an illumos `aggr` policy: L2, L3, L4, at least one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AggrLayers(u8);

impl AggrLayers {
    /// MAC addresses.
    pub const L2: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L2);
    /// IP addresses.
    pub const L3: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L3);
    /// Ports.
    pub const L4: AggrLayers = AggrLayers(nicteam_machine::constants::AGGR_L4);
    /// Every combination.
    pub const ALL: [AggrLayers; 7] = {
        let (l2, l3, l4) = (Self::L2, Self::L3, Self::L4);
        [l2, l3, l4, l2.and(l3), l2.and(l4), l3.and(l4), l2.and(l3).and(l4)]
    };

    /// These layers and those.
    #[must_use]
    pub const fn and(self, other: AggrLayers) -> AggrLayers {
        AggrLayers(self.0 | other.0)
    }

    /// True if all of those are among these.
    pub const fn contains(self, other: AggrLayers) -> bool {
        self.0 & other.0 == other.0
    }

    /// A bit for each layer, L2 the lowest: 1 to 7 (`MAC_PKT_HASH_L2` ...).
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// When the primary takes over from a working active member (`primary_reselect`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimaryReselect {
    /// 0: whenever it comes back.
    #[default]
    Always,
    /// 1: if it is faster, or as fast with the better duplex.
    Better,
    /// 2: only if the active member fails.
    Failure,
}

/// A team's configuration. Fields are the kernel's options of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How frames are spread.
    pub mode: Mode,
    /// What balance-xor, 802.3ad and balance-tlb hash, and balance-alb without `tlb_dynamic_lb`.
    pub xmit_hash_policy: HashPolicy,
    /// balance-xor, 802.3ad: how many values the hash has, assigned to the members in turn, at most
    /// [`MAX_BUCKETS`](crate::MAX_BUCKETS); 0: as many as there are members.
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
    /// frames leave by it while it is up, 1 to [`MAX_QUEUE_ID`].
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

impl Config {
    /// Every option, `mode` first, in the order in which the kernel would take them.
    pub const OPTIONS: &'static [ConfigOption] = &OPTIONS;

    /// Sets one option from text, as the kernel would from
    /// `/sys/class/net/TEAM/bonding/NAME`. Whether options go together is
    /// [`Config::check`]'s question, asked when all are set.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let option =
            ConfigOption::named(name).ok_or_else(|| ConfigError::UnknownOption { name: name.trim().to_owned() })?;
        (option.set)(self, value)
    }

    /// Every option that lasts with its value, in the kernel's words, secrets
    /// included. [`Config::set`] takes all of them back.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        OPTIONS.iter().filter(|option| option.lasts()).map(|option| (option.name, (option.get)(self))).collect()
    }

    /// The same for people to see: a secret that is set is not shown.
    pub fn shown_options(&self) -> Vec<(&'static str, String)> {
        let shown = |option: &ConfigOption| match (option.get)(self) {
            value if option.is_secret() && !value.is_empty() => HIDDEN.to_owned(),
            value => value,
        };
        OPTIONS.iter().filter(|option| option.lasts()).map(|option| (option.name, shown(option))).collect()
    }

    /// The same as [`Config::options`], and the wish for an `active_slave`, if there is one: all that a
    /// team that is yet to run has to be told.
    pub fn options_and_wish(&self) -> Vec<(&'static str, String)> {
        let granted = OPTIONS.iter().filter(|option| !option.lasts() && self.active_slave.is_some());
        self.options().into_iter().chain(granted.map(|option| (option.name, (option.get)(self)))).collect()
    }

    /// One of [`Config::options_and_wish`], by its name.
    pub fn option(&self, name: &str) -> Option<String> {
        let option = ConfigOption::named(name)?;
        (option.lasts() || self.active_slave.is_some()).then(|| (option.get)(self))
    }

    /// Refuses what the kernel refuses: `updelay`, `downdelay` and
    /// `peer_notif_delay` without `miimon`, a `queue_id` that two members have
    /// (EPERM); `packets_per_slave` outside balance-rr, `primary`, `active_slave`
    /// and `prio` outside active-backup, balance-tlb, balance-alb and stripe,
    /// `tlb_dynamic_lb off` outside the latter two, most LACP options outside
    /// 802.3ad (EACCES); 802.3ad without `miimon` (which the kernel
    /// switches on); `arp_interval` beside `miimon` (EINVAL over netlink; in sysfs,
    /// and in [`Config::set`], the later of the two switches the other off).
    ///
    /// As in the kernel, an `xmit_hash_policy` outside balance-xor and 802.3ad, a
    /// `primary_reselect` without `primary`, `queue_id` outside active-backup and
    /// balance-rr, and `num_grat_arp`, `fail_over_mac` and `all_slaves_active`
    /// outside active-backup are kept and have no effect; a delay that is no multiple
    /// of `miimon` is allowed (the kernel rounds it down). Returns the first
    /// conflict.
    pub fn check(&self) -> Result<(), ConfigError> {
        let needs_miimon = [
            ("updelay", self.updelay_ms),
            ("downdelay", self.downdelay_ms),
            ("peer_notif_delay", self.peer_notif_delay_ms),
        ];
        if let Some((name, ms)) = needs_miimon.into_iter().find(|&(_, ms)| ms != 0 && self.miimon_ms == 0) {
            return Err(ConfigError::Conflict(format!("`{name} {ms}` needs `miimon`, which is 0 (off)")));
        }
        let Config { mode, packets_per_slave, .. } = self;
        if *packets_per_slave != DEFAULT_PACKETS_PER_SLAVE && mode.traits().sends != Sends::InTurn {
            let works_in = modes(|of| of.sends == Sends::InTurn);
            return Err(ConfigError::Conflict(format!(
                "`packets_per_slave {packets_per_slave}` works in {works_in} alone; the mode is {mode}"
            )));
        }
        match &self.primary {
            Some(primary) if !mode.uses_primary() => Err(ConfigError::Conflict(format!(
                "`primary {primary}` works in {} alone; the mode is {mode}",
                modes(|of| of.has_active)
            ))),
            _ => {
                self.check_active_slave()?;
                self.check_prio()?;
                self.check_queue_id()?;
                self.check_hash_buckets()?;
                self.arp.check(self)?;
                balance::check(self)?;
                stripe::check(self)?;
                self.lacp.check(self)?;
                openvswitch::check(self)
            }
        }
    }
}

impl Config {
    /// Buckets stand for members where the hash alone chooses.
    fn check_hash_buckets(&self) -> Result<(), ConfigError> {
        if self.hash_buckets == 0 || self.mode.traits().has_hash_buckets() {
            return Ok(());
        }
        Err(ConfigError::Conflict(format!(
            "`hash_buckets {}` works in {} alone; the mode is {}",
            self.hash_buckets,
            modes(crate::Traits::has_hash_buckets),
            self.mode
        )))
    }
}

/// An option or a value the kernel would refuse, too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No option has this name.
    #[error("no option `{name}`")]
    UnknownOption {
        /// As it was given.
        name: String,
    },
    /// The option does not take this value.
    #[error("`{value}` is no value for `{option}`: {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// As it was given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// Two options that do not go together.
    #[error("{0}")]
    Conflict(String),
}

impl ConfigError {
    /// What to do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            ConfigError::UnknownOption { name } => match ConfigOption::nearest(name) {
                Some(option) => Some(format!("did you mean `{}`?", option.name)),
                None => {
                    let names: Vec<_> = OPTIONS.iter().map(|option| option.name).collect();
                    Some(format!("the options are {}", names.join(", ")))
                }
            },
            ConfigError::BadValue { option, value, .. } => match ConfigOption::named(option)?.values {
                Values::Names(names) => {
                    nearest(value, names.iter().copied()).map(|name| format!("did you mean `{name}`?"))
                }
                Values::Number { .. } | Values::Positive { .. } | Values::Device | Values::Text { .. } => None,
            },
            ConfigError::Conflict(_) => None,
        }
    }
}
