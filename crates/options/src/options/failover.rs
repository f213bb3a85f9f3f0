//! Options about what a change of the active member entails, and who becomes it.
//!
//! Linux drivers/net/bonding/bond_options.c, `bond_option_fail_over_mac_set`,
//! `bond_option_all_slaves_active_set`, `bond_option_resend_igmp_set`,
//! `bond_option_prio_set`, `bond_option_queue_id_set`, `bond_option_active_slave_set`,
//! `bond_option_use_carrier_set`.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::option::ConfigOption;
use crate::config::Config;
use crate::error::ConfigError;
use crate::failover::{ActiveSlave, FailOverMac, MAX_QUEUE_ID};
use crate::mode::Traits;
use crate::names::{modes, names};
use crate::values::{Values, device, digits, number};

impl Config {
    /// Refuses `active_slave` where no member is the active one (EACCES).
    pub(super) fn check_active_slave(&self) -> Result<(), ConfigError> {
        match &self.active_slave {
            Some(ActiveSlave::Member(member)) if !self.mode.uses_primary() => Err(ConfigError::Conflict(format!(
                "`active_slave {member}` works in {} alone; the mode is {}",
                modes(|of| of.has_active),
                self.mode
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses one `queue_id` for two members (EPERM).
    pub(super) fn check_queue_id(&self) -> Result<(), ConfigError> {
        let mut owners: BTreeMap<u16, &str> = BTreeMap::new();
        for (member, &queue) in &self.queue_id {
            if let Some(other) = owners.insert(queue, member) {
                return Err(ConfigError::Conflict(format!(
                    "`queue_id {member}:{queue}` is the queue of {other} already: each member has its own"
                )));
            }
        }
        Ok(())
    }

    /// Refuses `prio` where no member is the active one (EACCES).
    pub(super) fn check_prio(&self) -> Result<(), ConfigError> {
        match self.prio.first_key_value() {
            Some((member, prio)) if !has_prio(self.mode.traits()) => Err(ConfigError::Conflict(format!(
                "`prio {member}:{prio}` works in {} alone; the mode is {}",
                modes(has_prio),
                self.mode
            ))),
            _ => Ok(()),
        }
    }
}

/// True if `prio` says who becomes the active member. Open vSwitch has no such option.
fn has_prio(of: &Traits) -> bool {
    of.has_active && !of.openvswitch
}

/// `bond_resend_igmp_tbl`.
const RESEND: Values = Values::Number { max: 255, words: &[("off", 0), ("default", 1), ("maxval", 255)] };
/// `bond_all_slaves_active_tbl`, and the words of Open vSwitch's `all-members-active`.
const ALL_ACTIVE: Values =
    Values::Number { max: 1, words: &[("off", 0), ("on", 1), ("false", 0), ("true", 1), ("default", 0)] };
/// The same, on unless it is switched off.
const SWITCHED_ON: Values = Values::Number { max: 1, words: &[("off", 0), ("on", 1), ("default", 1)] };
/// `bond_use_carrier_tbl`, without what asks drivers in ways that they have given up.
const CARRIER: Values = Values::Positive { max: 1, words: &[("on", 1), ("default", 1)] };
const PRIO: Values = Values::Text {
    takes: "MEMBER:NUMBER, several between commas, -2147483648 to 2147483647; members not named keep theirs",
    example: "eth0:5,eth1:-5",
};
const QUEUE: Values = Values::Text {
    takes: "MEMBER:NUMBER, several between commas, 0 to 16; members not named keep theirs",
    example: "eth0:1,eth1:2",
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
    doc: "active-backup, 802.3ad: 1 takes the frames that standby members receive, 0 drops them; ovs-balance-slb without \
          LACP: the same of what is sent to groups",
    values: ALL_ACTIVE,
    get: |config| u32::from(config.all_slaves_active).to_string(),
    set: |config, text| number("all_slaves_active", ALL_ACTIVE, text).map(|n| config.all_slaves_active = n == 1),
};

/// `carrier_failover`: nicteam's own.
pub(super) const CARRIER_FAILOVER: ConfigOption = ConfigOption {
    name: "carrier_failover",
    doc: "1: with eBPF (Linux 6.2 or newer) a member without carrier is left at once, also while the team's process \
          does not run; 0: by the process alone",
    values: SWITCHED_ON,
    get: |config| u32::from(config.carrier_failover).to_string(),
    set: |config, text| number("carrier_failover", SWITCHED_ON, text).map(|n| config.carrier_failover = n == 1),
};

pub(super) const RESEND_IGMP: ConfigOption = ConfigOption {
    name: "resend_igmp",
    doc: "active-backup: reports of the multicast groups of the team after a failover, 200 ms apart; 0 none; Open vSwitch's \
          modes send none",
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
    get: |config| list(&config.prio),
    set: |config, text| per_member("prio", PRIO, text, &config.prio, signed).map(|prio| config.prio = prio),
};

pub(super) const ACTIVE_SLAVE: ConfigOption = ConfigOption {
    name: "active_slave",
    doc: "active-backup, balance-tlb, balance-alb, stripe, Open vSwitch's modes: makes this member, which must be up, the active one now; nothing lets \
          the best one be chosen",
    values: Values::Device,
    get: |config| match &config.active_slave {
        Some(ActiveSlave::Member(member)) => member.clone(),
        Some(ActiveSlave::Best) | None => String::new(),
    },
    set: |config, text| {
        let member = device("active_slave", text)?;
        config.active_slave = Some(member.map_or(ActiveSlave::Best, ActiveSlave::Member));
        Ok(())
    },
};

pub(super) const QUEUE_ID: ConfigOption = ConfigOption {
    name: "queue_id",
    doc: "active-backup, balance-rr with eBPF: frames of this queue (tc skbedit queue_mapping) leave by this member \
          while it is up; 0 none",
    values: QUEUE,
    get: |config| list(&config.queue_id),
    set: |config, text| {
        config.queue_id = per_member("queue_id", QUEUE, text, &config.queue_id, |word| {
            digits(word).and_then(|queue| u16::try_from(queue).ok()).filter(|&queue| queue <= MAX_QUEUE_ID)
        })?;
        Ok(())
    },
};

/// What members have, as [`per_member`] reads it.
fn list<N: Display>(of: &BTreeMap<String, N>) -> String {
    of.iter().map(|(member, number)| format!("{member}:{number}")).collect::<Vec<_>>().join(",")
}

/// What members have, with `MEMBER:NUMBER` of the text in place of what the
/// same members had; 0 is what is not kept.
fn per_member<N: Copy + Default + PartialEq>(
    option: &'static str,
    values: Values,
    text: &str,
    before: &BTreeMap<String, N>,
    number: impl Fn(&str) -> Option<N>,
) -> Result<BTreeMap<String, N>, ConfigError> {
    let refused = || ConfigError::BadValue { option, value: text.to_owned(), expected: values.to_string() };
    let mut after = before.clone();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (member, word) = entry.split_once(':').ok_or_else(refused)?;
        let member = device(option, member).ok().flatten().ok_or_else(refused)?;
        match number(word.trim()).ok_or_else(refused)? {
            none if none == N::default() => drop(after.remove(&member)),
            some => drop(after.insert(member, some)),
        }
    }
    Ok(after)
}

/// Decimal digits, perhaps behind a minus.
fn signed(word: &str) -> Option<i32> {
    let amount = word.strip_prefix('-').unwrap_or(word);
    digits(amount)?;
    word.parse().ok()
}
