//! The options that Open vSwitch's bonds have and the kernel's have not, and its names for those that both have.
//!
//! Open vSwitch 3.1 vswitchd/vswitch.xml (table Port, "Bonding Configuration") and vswitchd/bridge.c
//! (`port_configure_bond`, `port_configure_lacp`). Its names have dashes where those of the kernel have underscores; both
//! are taken everywhere. Words of Open vSwitch 2.3 (`slave` for `member`) are taken, too.

use crate::names::choice;

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

/// `bond-rebalance-interval`.
pub(crate) const REBALANCE_MS: u32 = 10_000;
