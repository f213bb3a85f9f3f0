//! The options that Open vSwitch's bonds have and the kernel's have not, and its names for those that both have.
//!
//! Open vSwitch 3.1 vswitchd/vswitch.xml (table Port, "Bonding Configuration") and vswitchd/bridge.c
//! (`port_configure_bond`, `port_configure_lacp`). Its names have dashes where those of the kernel have underscores; both
//! are taken everywhere. Words of Open vSwitch 2.3 (`slave` for `member`) are taken, too.

use super::lacp::{AD_USER_PORT_KEY, AGGREGATE_WAIT, BROADCAST_NEIGHBOR, COUPLED_CONTROL, LACP_ACTIVE, LACP_STRICT};
use super::option::ConfigOption;
use crate::config::Config;
use crate::error::ConfigError;
use crate::lacp::LacpOptions;
use crate::mode::Agrees;
use crate::names::{modes, names};
use crate::openvswitch::{BondOptions, DetectMode, LacpMode, REBALANCE_MS};
use crate::values::{INT_MAX, Values, number};

/// Names of options in Open vSwitch's words, with underscores, and what they are called here.
const ALIASES: &[(&str, &str)] = &[
    ("bond_updelay", "updelay"),
    ("bond_downdelay", "downdelay"),
    ("bond_miimon_interval", "miimon"),
    ("bond_primary", "primary"),
    ("lacp_time", "lacp_rate"),
    ("lacp_system_id", "ad_actor_system"),
    ("lacp_system_priority", "ad_actor_sys_prio"),
    ("all_members_active", "all_slaves_active"),
];

/// The name that an option has here, of a name with underscores.
pub(super) fn own_name(name: &str) -> &str {
    ALIASES.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours)
}

const BASIS: Values = Values::Number { max: INT_MAX, words: &[("default", 0), ("maxval", INT_MAX)] };
const INTERVAL: Values =
    Values::Number { max: INT_MAX, words: &[("off", 0), ("default", REBALANCE_MS), ("maxval", INT_MAX)] };
/// As the kernel's options of this kind; `true` and `false` are Open vSwitch's words.
const SWITCH: Values =
    Values::Number { max: 1, words: &[("false", 0), ("true", 1), ("off", 0), ("on", 1), ("default", 0)] };

/// `lacp`.
pub(super) const LACP: ConfigOption = ConfigOption {
    name: "lacp",
    doc: "Open vSwitch's modes: LACP is spoken (active), spoken to a partner that begins (passive), or not at all (off)",
    values: names!(LacpMode),
    get: |config| config.bond.lacp.to_string(),
    set: |config, text| text.parse().map(|lacp| config.bond.lacp = lacp),
};

/// `lacp-fallback-ab`.
pub(super) const LACP_FALLBACK_AB: ConfigOption = ConfigOption {
    name: "lacp_fallback_ab",
    doc: "Open vSwitch's modes with lacp: without a partner that speaks LACP one member carries all (1), or none does (0)",
    values: SWITCH,
    get: |config| u32::from(config.bond.lacp_fallback_ab).to_string(),
    set: |config, text| number("lacp_fallback_ab", SWITCH, text).map(|n| config.bond.lacp_fallback_ab = n == 1),
};

/// `bond-hash-basis`.
pub(super) const BOND_HASH_BASIS: ConfigOption = ConfigOption {
    name: "bond_hash_basis",
    doc: "ovs-balance-slb, ovs-balance-tcp: a number that is hashed along with each frame",
    values: BASIS,
    get: |config| config.bond.hash_basis.to_string(),
    set: |config, text| number("bond_hash_basis", BASIS, text).map(|n| config.bond.hash_basis = n),
};

/// `bond-rebalance-interval`.
pub(super) const BOND_REBALANCE_INTERVAL: ConfigOption = ConfigOption {
    name: "bond_rebalance_interval",
    doc: "ovs-balance-slb, ovs-balance-tcp: between two runs of rebalancing, milliseconds; 0 none, 1 to 999 mean 1000",
    values: INTERVAL,
    get: |config| config.bond.rebalance_interval_ms.to_string(),
    set: |config, text| {
        number("bond_rebalance_interval", INTERVAL, text).map(|n| config.bond.rebalance_interval_ms = n)
    },
};

/// `bond-detect-mode`.
pub(super) const BOND_DETECT_MODE: ConfigOption = ConfigOption {
    name: "bond_detect_mode",
    doc: "Open vSwitch's modes: how a link's failure is noticed; both ways read carrier each miimon milliseconds and \
          when the kernel says that it changed",
    values: names!(DetectMode),
    get: |config| config.bond.detect_mode.to_string(),
    set: |config, text| text.parse().map(|mode| config.bond.detect_mode = mode),
};

/// Refuses options of Open vSwitch's modes in others, and in its modes those of 802.3ad that mean nothing there. As in
/// Open vSwitch, what only means something with `lacp`, or with buckets, is kept without it.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let mode = config.mode;
    let by_default = Config { lacp: LacpOptions::default(), bond: BondOptions::default(), ..config.clone() };
    let (options, works_in): (&[&ConfigOption], String) = if mode.traits().openvswitch {
        let elsewhere =
            &[&LACP_ACTIVE, &AD_USER_PORT_KEY, &COUPLED_CONTROL, &LACP_STRICT, &BROADCAST_NEIGHBOR, &AGGREGATE_WAIT];
        (elsewhere, modes(|of| of.agrees == Agrees::Always))
    } else {
        let own = &[&LACP, &LACP_FALLBACK_AB, &BOND_HASH_BASIS, &BOND_REBALANCE_INTERVAL, &BOND_DETECT_MODE];
        (own, modes(|of| of.openvswitch))
    };
    match options.iter().find(|option| (option.get)(config) != (option.get)(&by_default)) {
        Some(option) => Err(ConfigError::Conflict(format!(
            "`{} {}` works in {works_in} alone; the mode is {mode}",
            option.name,
            (option.get)(config),
        ))),
        None => Ok(()),
    }
}
