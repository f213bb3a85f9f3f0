//! The table of options: what each is called, does, takes, and where it is kept.

use super::option::ConfigOption;
use super::{arp, balance, failover, lacp, openvswitch, stripe};
use crate::arp::ArpValidate;
use crate::choices::{HashPolicy, PrimaryReselect};
use crate::mode::Mode;
use crate::names::names;
use crate::values::{INT_MAX, Values, device, nearest, number};

impl ConfigOption {
    /// The option of this name: the kernel's, or Open vSwitch's, with dashes or underscores.
    pub fn named(name: &str) -> Option<&'static ConfigOption> {
        let name = name.trim().replace('-', "_");
        let name = openvswitch::own_name(&name);
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// True if the team keeps what was set; false of `active_slave`, which is
    /// granted once: the value it shows is the team's active member.
    pub fn lasts(&self) -> bool {
        self.name != failover::ACTIVE_SLAVE.name
    }

    /// True of `stripe_key` and `stripe_key_old`, whose values are for nobody's eyes.
    pub fn is_secret(&self) -> bool {
        [stripe::STRIPE_KEY.name, stripe::STRIPE_KEY_OLD.name].contains(&self.name)
    }

    /// The option whose name looks most like this one, for "did you mean".
    pub fn nearest(name: &str) -> Option<&'static ConfigOption> {
        let name = nearest(name, OPTIONS.iter().map(|option| option.name))?;
        ConfigOption::named(name)
    }
}

/// `BOND_DEFAULT_MIIMON`.
const DEFAULT_MIIMON_MS: u32 = 100;
/// The kernel's default, and ours.
pub(super) const DEFAULT_PACKETS_PER_SLAVE: u32 = 1;
/// `bond_intmax_tbl`.
const COUNT: Values = Values::Number { max: INT_MAX, words: &[("off", 0), ("default", 0), ("maxval", INT_MAX)] };
/// `bond_num_peer_notif_tbl`.
const PEER_NOTIF: Values = Values::Number { max: 255, words: &[("off", 0), ("default", 1), ("maxval", 255)] };
/// `bond_peer_notif_delay_tbl`: five minutes at most.
const PEER_NOTIF_DELAY: Values = Values::Number { max: 300_000, words: &[("off", 0), ("maxval", 300_000)] };
/// `bond_pps_tbl`.
const PACKETS_PER_SLAVE: Values =
    Values::Number { max: 65_535, words: &[("default", DEFAULT_PACKETS_PER_SLAVE), ("maxval", 65_535)] };

/// nicteam's own; as many as a plan's table has.
const HASH_BUCKETS: Values =
    Values::Number { max: nicteam_machine::constants::MAX_BUCKETS as u32, words: &[("off", 0), ("default", 0)] };

/// Every option; `mode` first, because others depend on it.
pub(super) static OPTIONS: [ConfigOption; 56] = [
    ConfigOption {
        name: "mode",
        doc: "how frames are spread over the members",
        values: names!(Mode),
        get: |config| config.mode.to_string(),
        set: |config, text| {
            config.mode = text.parse()?;
            // As `bond_option_mode_set` does for a mode that needs it.
            if !config.mode.uses_arp() && config.miimon_ms == 0 {
                config.miimon_ms = DEFAULT_MIIMON_MS;
                config.arp.interval_ms = 0;
                config.arp.validate = ArpValidate::None;
            }
            Ok(())
        },
    },
    ConfigOption {
        name: "xmit_hash_policy",
        doc: "balance-xor, 802.3ad, balance-tlb: what the hash is made of",
        values: names!(HashPolicy),
        get: |config| config.xmit_hash_policy.to_string(),
        set: |config, text| text.parse().map(|policy| config.xmit_hash_policy = policy),
    },
    ConfigOption {
        name: "hash_buckets",
        doc: "balance-xor, 802.3ad: how many values the hash has, assigned to the members in turn: with 8 three members get \
              3, 3 and 2; 0: as many as there are members",
        values: HASH_BUCKETS,
        get: |config| config.hash_buckets.to_string(),
        set: |config, text| number("hash_buckets", HASH_BUCKETS, text).map(|n| config.hash_buckets = n),
    },
    ConfigOption {
        name: "packets_per_slave",
        doc: "balance-rr: frames by one member before the next has its turn; 0 is random",
        values: PACKETS_PER_SLAVE,
        get: |config| config.packets_per_slave.to_string(),
        set: |config, text| number("packets_per_slave", PACKETS_PER_SLAVE, text).map(|n| config.packets_per_slave = n),
    },
    ConfigOption {
        name: "miimon",
        doc: "how often carrier is read, milliseconds; 0 never; any other value sets arp_interval to 0",
        values: COUNT,
        get: |config| config.miimon_ms.to_string(),
        set: |config, text| {
            config.miimon_ms = number("miimon", COUNT, text)?;
            if config.miimon_ms > 0 && config.arp.is_on() {
                config.arp.interval_ms = 0;
                config.arp.validate = ArpValidate::None;
            }
            Ok(())
        },
    },
    ConfigOption {
        name: "updelay",
        doc: "how long carrier must be back before a member counts as up, milliseconds",
        values: COUNT,
        get: |config| config.updelay_ms.to_string(),
        set: |config, text| number("updelay", COUNT, text).map(|n| config.updelay_ms = n),
    },
    ConfigOption {
        name: "downdelay",
        doc: "how long carrier must be gone before a member counts as down, milliseconds",
        values: COUNT,
        get: |config| config.downdelay_ms.to_string(),
        set: |config, text| number("downdelay", COUNT, text).map(|n| config.downdelay_ms = n),
    },
    ConfigOption {
        name: "primary",
        doc: "active-backup, balance-tlb, balance-alb, stripe, Open vSwitch's modes: the preferred member",
        values: Values::Device,
        get: |config| config.primary.clone().unwrap_or_default(),
        set: |config, text| device("primary", text).map(|device| config.primary = device),
    },
    ConfigOption {
        name: "primary_reselect",
        doc: "active-backup, balance-tlb, balance-alb, stripe: when the preferred member takes over from a working one",
        values: names!(PrimaryReselect),
        get: |config| config.primary_reselect.to_string(),
        set: |config, text| text.parse().map(|choice| config.primary_reselect = choice),
    },
    ConfigOption {
        name: "min_links",
        doc: "members that must be up for the team to have carrier",
        values: COUNT,
        get: |config| config.min_links.to_string(),
        set: |config, text| number("min_links", COUNT, text).map(|n| config.min_links = n),
    },
    ConfigOption {
        name: "num_grat_arp",
        doc: "active-backup: gratuitous ARPs and unsolicited neighbour advertisements after a failover",
        values: PEER_NOTIF,
        get: |config| config.num_grat_arp.to_string(),
        set: |config, text| number("num_grat_arp", PEER_NOTIF, text).map(|n| config.num_grat_arp = n),
    },
    ConfigOption {
        name: "num_unsol_na",
        doc: "another name for num_grat_arp: one value for both",
        values: PEER_NOTIF,
        get: |config| config.num_grat_arp.to_string(),
        set: |config, text| number("num_unsol_na", PEER_NOTIF, text).map(|n| config.num_grat_arp = n),
    },
    ConfigOption {
        name: "peer_notif_delay",
        doc: "between two of those, milliseconds; 0 means miimon",
        values: PEER_NOTIF_DELAY,
        get: |config| config.peer_notif_delay_ms.to_string(),
        set: |config, text| number("peer_notif_delay", PEER_NOTIF_DELAY, text).map(|n| config.peer_notif_delay_ms = n),
    },
    arp::ARP_INTERVAL,
    arp::ARP_IP_TARGET,
    arp::NS_IP6_TARGET,
    arp::ARP_VALIDATE,
    arp::ARP_ALL_TARGETS,
    arp::ARP_MISSED_MAX,
    failover::FAIL_OVER_MAC,
    failover::CARRIER_FAILOVER,
    failover::ALL_SLAVES_ACTIVE,
    failover::RESEND_IGMP,
    failover::USE_CARRIER,
    failover::PER_MEMBER_PRIO,
    failover::ACTIVE_SLAVE,
    failover::QUEUE_ID,
    balance::TLB_DYNAMIC_LB,
    balance::LP_INTERVAL,
    balance::RLB_IPV6,
    lacp::LACP_ACTIVE,
    lacp::LACP_RATE,
    lacp::AD_SELECT,
    lacp::AD_ACTOR_SYS_PRIO,
    lacp::AD_ACTOR_SYSTEM,
    lacp::AD_USER_PORT_KEY,
    lacp::ACTOR_PORT_PRIO,
    lacp::COUPLED_CONTROL,
    lacp::LACP_STRICT,
    lacp::BROADCAST_NEIGHBOR,
    lacp::AGGREGATE_WAIT,
    lacp::WAIT_TO_RESTORE,
    lacp::LACP_LEASE,
    openvswitch::LACP,
    openvswitch::LACP_FALLBACK_AB,
    openvswitch::BOND_HASH_BASIS,
    openvswitch::BOND_REBALANCE_INTERVAL,
    openvswitch::BOND_DETECT_MODE,
    stripe::STRIPE_RATE,
    stripe::STRIPE_INTERVAL,
    stripe::TCP_MIN_RTT_WLEN,
    stripe::SACK_DELAY,
    stripe::STRIPE_PLAIN,
    stripe::REDUNDANT,
    stripe::STRIPE_KEY,
    stripe::STRIPE_KEY_OLD,
];
