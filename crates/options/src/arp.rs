//! The ARP monitor's options.
//!
//! Linux drivers/net/bonding/bond_options.c, the `bond_option_arp_*`,
//! `bond_option_ns_ip6_*` and `bond_option_missed_max_set` functions.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::names::choice;

/// The most targets of each kind (`BOND_MAX_ARP_TARGETS`, `BOND_MAX_NS_TARGETS`).
pub const MAX_ARP_TARGETS: usize = 16;

/// The ARP monitor: whether members are judged by what they receive, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArpMonitoring {
    /// `arp_interval`: between two rounds of probes, milliseconds; 0 never.
    pub interval_ms: u32,
    /// `arp_ip_target`: who is asked by ARP, in their order, at most [`MAX_ARP_TARGETS`].
    pub ip_targets: Vec<Ipv4Addr>,
    /// `ns_ip6_target`: who is asked by neighbour solicitation, in their order, at most [`MAX_ARP_TARGETS`].
    pub ip6_targets: Vec<Ipv6Addr>,
    /// `arp_validate`: which frames prove that a member works.
    pub validate: ArpValidate,
    /// `arp_all_targets`: whether every target has to answer.
    pub all_targets: ArpAllTargets,
    /// `arp_missed_max`: intervals without a sign of life before a member is down, 1 to 255.
    pub missed_max: u32,
}

/// Which frames prove that a member works (`arp_validate`).
///
/// Validated: ARP and neighbour discovery between the team and a target.
/// Filtered: any ARP or neighbour discovery. Else: any frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArpValidate {
    /// 0: any frame.
    #[default]
    None,
    /// 1: validated on the active member.
    Active,
    /// 2: validated on the others.
    Backup,
    /// 3: validated on all.
    All,
    /// 4: filtered on all.
    Filter,
    /// 5: filtered, and validated on the active member.
    FilterActive,
    /// 6: filtered, and validated on the others.
    FilterBackup,
}

/// Whether every target has to answer (`arp_all_targets`); of consequence for
/// active-backup members that are validated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArpAllTargets {
    /// 0: one is enough.
    #[default]
    Any,
    /// 1: each of them.
    All,
}

impl Default for ArpMonitoring {
    fn default() -> ArpMonitoring {
        ArpMonitoring {
            interval_ms: 0,
            ip_targets: Vec::new(),
            ip6_targets: Vec::new(),
            validate: ArpValidate::default(),
            all_targets: ArpAllTargets::default(),
            missed_max: DEFAULT_MISSED_MAX,
        }
    }
}

impl ArpMonitoring {
    /// True if members are judged by it, and not by their carrier.
    pub fn is_on(&self) -> bool {
        self.interval_ms > 0
    }
}

impl ArpValidate {
    /// Every choice, by the kernel's number.
    pub const ALL: [ArpValidate; 7] = [
        ArpValidate::None,
        ArpValidate::Active,
        ArpValidate::Backup,
        ArpValidate::All,
        ArpValidate::Filter,
        ArpValidate::FilterActive,
        ArpValidate::FilterBackup,
    ];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            ArpValidate::None => "none",
            ArpValidate::Active => "active",
            ArpValidate::Backup => "backup",
            ArpValidate::All => "all",
            ArpValidate::Filter => "filter",
            ArpValidate::FilterActive => "filter_active",
            ArpValidate::FilterBackup => "filter_backup",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Whether a member is validated, by whether it is the active one (`slave_do_arp_validate`).
    pub const fn validates(self, active: bool) -> bool {
        match self {
            ArpValidate::All => true,
            ArpValidate::Active | ArpValidate::FilterActive => active,
            ArpValidate::Backup | ArpValidate::FilterBackup => !active,
            ArpValidate::None | ArpValidate::Filter => false,
        }
    }

    /// Whether members that are not validated are filtered (`slave_do_arp_validate_only`).
    pub const fn filters(self) -> bool {
        matches!(self, ArpValidate::Filter | ArpValidate::FilterActive | ArpValidate::FilterBackup)
    }
}

impl ArpAllTargets {
    /// Every choice, by the kernel's number.
    pub const ALL: [ArpAllTargets; 2] = [ArpAllTargets::Any, ArpAllTargets::All];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            ArpAllTargets::Any => "any",
            ArpAllTargets::All => "all",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

choice!(ArpValidate, "arp_validate");
choice!(ArpAllTargets, "arp_all_targets");

/// The kernel's default, and ours.
pub(crate) const DEFAULT_MISSED_MAX: u32 = 2;
