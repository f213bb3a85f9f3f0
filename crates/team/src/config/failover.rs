//! Options about what a change of the active member entails, and who becomes it.
//!
//! Linux drivers/net/bonding/bond_options.c, `bond_option_fail_over_mac_set`,
//! `bond_option_all_slaves_active_set`, `bond_option_resend_igmp_set`,
//! `bond_option_prio_set`, `bond_option_use_carrier_set`.

use std::collections::BTreeMap;

use super::names::{choice, names};
use super::options::{digits, number};
use super::{Config, ConfigError, ConfigOption, Mode, Values};

/// Which addresses active-backup members and their team have (`fail_over_mac`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOverMac {
    /// 0: every member has the team's.
    #[default]
    None,
    /// 1: every member keeps its own, and the team has the active member's.
    Active,
    /// 2: the active member has the team's, the others their own: at a change
    /// the old and the new active member swap.
    Follow,
}

impl FailOverMac {
    /// Every choice, by the kernel's number.
    pub const ALL: [FailOverMac; 3] = [FailOverMac::None, FailOverMac::Active, FailOverMac::Follow];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            FailOverMac::None => "none",
            FailOverMac::Active => "active",
            FailOverMac::Follow => "follow",
        }
    }

    /// The kernel's number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

choice!(FailOverMac, "fail_over_mac");

impl Config {
    /// What [`FailOverMac`] members live by: of consequence in active-backup alone.
    pub fn mac_policy(&self) -> FailOverMac {
        match self.mode {
            Mode::ActiveBackup => self.fail_over_mac,
            Mode::BalanceRr | Mode::BalanceXor | Mode::Broadcast | Mode::Ad | Mode::BalanceTlb | Mode::BalanceAlb => {
                FailOverMac::None
            }
        }
    }

    /// The `prio` of the member with this device name.
    pub fn prio_of(&self, member: &str) -> i32 {
        self.prio.get(member).copied().unwrap_or(0)
    }

    /// Refuses `prio` where no member is the active one (EACCES).
    pub(super) fn check_prio(&self) -> Result<(), ConfigError> {
        match self.prio.first_key_value() {
            Some((member, prio)) if !self.mode.uses_primary() => Err(ConfigError::Conflict(format!(
                "`prio {member}:{prio}` works in modes active-backup, balance-tlb and balance-alb alone; the mode is {}",
                self.mode
            ))),
            _ => Ok(()),
        }
    }
}

/// `bond_resend_igmp_tbl`.
const RESEND: Values = Values::Number { max: 255, words: &[("off", 0), ("default", 1), ("maxval", 255)] };
/// `bond_all_slaves_active_tbl`.
const SWITCH: Values = Values::Number { max: 1, words: &[("off", 0), ("on", 1), ("default", 0)] };
/// `bond_use_carrier_tbl`, without what asks drivers in ways that they have given up.
const CARRIER: Values = Values::Positive { max: 1, words: &[("on", 1), ("default", 1)] };
const PRIO: Values = Values::Text {
    takes: "MEMBER:NUMBER, several between commas, -2147483648 to 2147483647; members not named keep theirs",
    example: "eth0:5,eth1:-5",
};

pub(super) const FAIL_OVER_MAC: ConfigOption = ConfigOption {
    name: "fail_over_mac",
    doc: "active-backup: all members have the team's address (none), or the team has the active member's (active), or \
          the active member has the team's (follow)",
    values: names!(FailOverMac),
    get: |config| config.fail_over_mac.to_string(),
    set: |config, text| text.parse().map(|choice| config.fail_over_mac = choice),
};

pub(super) const ALL_SLAVES_ACTIVE: ConfigOption = ConfigOption {
    name: "all_slaves_active",
    doc: "active-backup: 1 takes the frames that standby members receive, 0 drops them",
    values: SWITCH,
    get: |config| u32::from(config.all_slaves_active).to_string(),
    set: |config, text| number("all_slaves_active", SWITCH, text).map(|n| config.all_slaves_active = n == 1),
};

pub(super) const RESEND_IGMP: ConfigOption = ConfigOption {
    name: "resend_igmp",
    doc: "active-backup: reports of the multicast groups of the team after a failover, 200 ms apart; 0 none",
    values: RESEND,
    get: |config| config.resend_igmp.to_string(),
    set: |config, text| number("resend_igmp", RESEND, text).map(|n| config.resend_igmp = n),
};

pub(super) const USE_CARRIER: ConfigOption = ConfigOption {
    name: "use_carrier",
    doc: "1 alone: carrier is what the driver says; newer kernels take nothing else either",
    values: CARRIER,
    get: |_| "1".to_owned(),
    set: |_, text| number("use_carrier", CARRIER, text).map(drop),
};

pub(super) const PER_MEMBER_PRIO: ConfigOption = ConfigOption {
    name: "prio",
    doc: "active-backup: while the primary is not up, a member of higher prio is preferred",
    values: PRIO,
    get: |config| config.prio.iter().map(|(member, prio)| format!("{member}:{prio}")).collect::<Vec<_>>().join(","),
    set: |config, text| prios(text, &config.prio).map(|prio| config.prio = prio),
};

/// The priorities that there are with those of the text; 0 is what is not kept.
fn prios(text: &str, before: &BTreeMap<String, i32>) -> Result<BTreeMap<String, i32>, ConfigError> {
    let refused = || ConfigError::BadValue { option: "prio", value: text.to_owned(), expected: PRIO.to_string() };
    let mut prios = before.clone();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (member, prio) = entry.split_once(':').ok_or_else(refused)?;
        let member = super::options::device("prio", member).ok().flatten().ok_or_else(refused)?;
        match signed(prio.trim()).ok_or_else(refused)? {
            0 => drop(prios.remove(&member)),
            prio => drop(prios.insert(member, prio)),
        }
    }
    Ok(prios)
}

/// Decimal digits, perhaps behind a minus.
fn signed(word: &str) -> Option<i32> {
    let amount = word.strip_prefix('-').unwrap_or(word);
    digits(amount)?;
    word.parse().ok()
}
