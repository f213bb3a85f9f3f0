//! The options that Open vSwitch's bonds have and the kernel's have not, and its names for those that both have.
//!
//! Open vSwitch 3.1 vswitchd/vswitch.xml (table Port, "Bonding Configuration") and vswitchd/bridge.c
//! (`port_configure_bond`, `port_configure_lacp`). Its names have dashes where those of the kernel have underscores; both
//! are taken everywhere. Words of Open vSwitch 2.3 (`slave` for `member`) are taken, too.

use super::lacp::{AD_USER_PORT_KEY, AGGREGATE_WAIT, BROADCAST_NEIGHBOR, COUPLED_CONTROL, LACP_ACTIVE, LACP_STRICT};
use super::names::{choice, modes, names};
use super::options::{INT_MAX, number};
use super::{Config, ConfigError, ConfigOption, LacpOptions, Values};
use crate::mode::Agrees;

/// What Open vSwitch's modes can be told; fields are its options of the same name but for a prefix `bond-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BondOptions {
    /// Whether LACP is spoken, and who begins.
    pub lacp: LacpMode,
    /// Where LACP is spoken and no partner is found: one member carries all (active-backup), else none does.
    pub lacp_fallback_ab: bool,
    /// What is hashed along with each frame.
    pub hash_basis: u32,
    /// Between two runs of rebalancing, milliseconds; 0 none, 1 to 999 count as 1000.
    pub rebalance_interval_ms: u32,
    /// How a link's failure is noticed.
    pub detect_mode: DetectMode,
}

/// Whether LACP is spoken (`lacp`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LacpMode {
    /// It is not.
    #[default]
    Off,
    /// It is, and the partner has to begin.
    Passive,
    /// It is, and this end begins.
    Active,
}

/// How a link's failure is noticed (`bond-detect-mode`).
///
/// Drivers of today say the same in answer to both questions of Open vSwitch (`netdev_get_carrier`, and SIOCGMIIREG of
/// `mii-tool`). So both mean the same here: carrier is read each `miimon` milliseconds and whenever the kernel says
/// that it changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetectMode {
    /// By the carrier that the driver sees.
    #[default]
    Carrier,
    /// By asking it each `bond-miimon-interval`.
    Miimon,
}

impl LacpMode {
    /// Every choice.
    pub const ALL: [LacpMode; 3] = [LacpMode::Off, LacpMode::Passive, LacpMode::Active];

    /// Open vSwitch's name.
    pub const fn name(self) -> &'static str {
        match self {
            LacpMode::Off => "off",
            LacpMode::Passive => "passive",
            LacpMode::Active => "active",
        }
    }

    /// Its place among the choices.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// True if LACP is spoken.
    pub const fn is_on(self) -> bool {
        !matches!(self, LacpMode::Off)
    }
}

impl DetectMode {
    /// Every choice.
    pub const ALL: [DetectMode; 2] = [DetectMode::Carrier, DetectMode::Miimon];

    /// Open vSwitch's name.
    pub const fn name(self) -> &'static str {
        match self {
            DetectMode::Carrier => "carrier",
            DetectMode::Miimon => "miimon",
        }
    }

    /// Its place among the choices.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

choice!(LacpMode, "lacp");
choice!(DetectMode, "bond_detect_mode");

impl Default for BondOptions {
    fn default() -> BondOptions {
        BondOptions {
            lacp: LacpMode::Off,
            lacp_fallback_ab: false,
            hash_basis: 0,
            rebalance_interval_ms: REBALANCE_MS,
            detect_mode: DetectMode::Carrier,
        }
    }
}

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

/// `bond-rebalance-interval`.
const REBALANCE_MS: u32 = 10_000;
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

impl Config {
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
}

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
