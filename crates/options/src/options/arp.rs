//! The ARP monitor's options.
//!
//! Linux drivers/net/bonding/bond_options.c, the `bond_option_arp_*`,
//! `bond_option_ns_ip6_*` and `bond_option_missed_max_set` functions.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::option::ConfigOption;
use crate::arp::{ArpAllTargets, ArpMonitoring, ArpValidate, DEFAULT_MISSED_MAX, MAX_ARP_TARGETS};
use crate::config::Config;
use crate::error::ConfigError;
use crate::names::names;
use crate::values::{INT_MAX, Values, number};

impl ArpMonitoring {
    /// Refuses `miimon` and `arp_interval` together, and the monitor and its
    /// validation in modes that cannot use it (EACCES).
    pub(super) fn check(&self, config: &Config) -> Result<(), ConfigError> {
        let ArpMonitoring { interval_ms, validate, .. } = self;
        if *interval_ms > 0 && config.miimon_ms > 0 {
            return Err(ConfigError::Conflict(format!(
                "`arp_interval {interval_ms}` and `miimon {}` exclude each other: set one of them to 0",
                config.miimon_ms
            )));
        }
        if config.mode.uses_arp() {
            return Ok(());
        }
        let mode = config.mode;
        if *interval_ms > 0 {
            return Err(ConfigError::Conflict(format!("`arp_interval {interval_ms}` does not work in mode {mode}")));
        }
        if self.missed_max != DEFAULT_MISSED_MAX {
            let missed_max = self.missed_max;
            return Err(ConfigError::Conflict(format!("`arp_missed_max {missed_max}` does not work in mode {mode}")));
        }
        match validate {
            ArpValidate::None => Ok(()),
            _ => Err(ConfigError::Conflict(format!("`arp_validate {validate}` does not work in mode {mode}"))),
        }
    }
}

/// `bond_intmax_tbl`.
const INTERVAL: Values = Values::Number { max: INT_MAX, words: &[("off", 0), ("default", 0), ("maxval", INT_MAX)] };
/// `bond_missed_max_tbl`.
const MISSED_MAX: Values =
    Values::Positive { max: 255, words: &[("minval", 1), ("default", DEFAULT_MISSED_MAX), ("maxval", 255)] };
const IP_TARGETS: Values = Values::Text {
    takes: "up to 16 IPv4 addresses between commas; with + or - in front they are added to those there are, or removed",
    example: "10.0.0.1,10.0.0.2",
};
const IP6_TARGETS: Values = Values::Text {
    takes: "up to 16 IPv6 addresses between commas; with + or - in front they are added to those there are, or removed",
    example: "fe80::1,2001:db8::1",
};

pub(super) const ARP_INTERVAL: ConfigOption = ConfigOption {
    name: "arp_interval",
    doc: "how often the targets are asked whether members work, milliseconds; 0 never; any other value sets miimon to 0",
    values: INTERVAL,
    get: |config| config.arp.interval_ms.to_string(),
    set: |config, text| {
        config.arp.interval_ms = number("arp_interval", INTERVAL, text)?;
        if config.arp.is_on() {
            config.miimon_ms = 0;
        }
        Ok(())
    },
};

pub(super) const ARP_IP_TARGET: ConfigOption = ConfigOption {
    name: "arp_ip_target",
    doc: "arp_interval: IPv4 addresses to probe by ARP",
    values: IP_TARGETS,
    get: |config| list(&config.arp.ip_targets),
    set: |config, text| {
        config.arp.ip_targets = targets("arp_ip_target", IP_TARGETS, text, &config.arp.ip_targets, |ip: &Ipv4Addr| {
            !ip.is_broadcast() && !ip.is_unspecified()
        })?;
        Ok(())
    },
};

pub(super) const NS_IP6_TARGET: ConfigOption = ConfigOption {
    name: "ns_ip6_target",
    doc: "arp_interval: IPv6 addresses to probe by neighbour solicitation",
    values: IP6_TARGETS,
    get: |config| list(&config.arp.ip6_targets),
    set: |config, text| {
        config.arp.ip6_targets =
            targets("ns_ip6_target", IP6_TARGETS, text, &config.arp.ip6_targets, |ip: &Ipv6Addr| {
                !ip.is_unspecified() && !ip.is_loopback() && !ip.is_multicast()
            })?;
        Ok(())
    },
};

pub(super) const ARP_VALIDATE: ConfigOption = ConfigOption {
    name: "arp_validate",
    doc: "arp_interval: on which members only the targets' answers count, or only ARP and neighbour discovery (filter)",
    values: names!(ArpValidate),
    get: |config| config.arp.validate.to_string(),
    set: |config, text| text.parse().map(|choice| config.arp.validate = choice),
};

pub(super) const ARP_ALL_TARGETS: ConfigOption = ConfigOption {
    name: "arp_all_targets",
    doc: "active-backup with arp_validate: whether one target has to answer or each",
    values: names!(ArpAllTargets),
    get: |config| config.arp.all_targets.to_string(),
    set: |config, text| text.parse().map(|choice| config.arp.all_targets = choice),
};

pub(super) const ARP_MISSED_MAX: ConfigOption = ConfigOption {
    name: "arp_missed_max",
    doc: "arp_interval: intervals without an answer before a member is down",
    values: MISSED_MAX,
    get: |config| config.arp.missed_max.to_string(),
    set: |config, text| number("arp_missed_max", MISSED_MAX, text).map(|n| config.arp.missed_max = n),
};

fn list<A: fmt::Display>(addresses: &[A]) -> String {
    addresses.iter().map(A::to_string).collect::<Vec<_>>().join(",")
}

/// The targets that follow from those there are and a list: of addresses alone,
/// which takes their place, or of addresses each with a `+` or a `-`
/// (`bond_option_arp_ip_target_add`, `_rem`).
fn targets<A>(
    option: &'static str,
    values: Values,
    text: &str,
    before: &[A],
    can_be: impl Fn(&A) -> bool,
) -> Result<Vec<A>, ConfigError>
where
    A: FromStr + Copy + PartialEq + Into<IpAddr>,
{
    let refused = |expected: String| ConfigError::BadValue { option, value: text.to_owned(), expected };
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let signed = words.iter().filter(|word| word.starts_with(['+', '-'])).count();
    if signed != 0 && signed != words.len() {
        return Err(refused("either every address with a sign or none".to_owned()));
    }
    let mut targets = if signed == 0 { Vec::new() } else { before.to_vec() };
    for word in words {
        let address: A =
            word.strip_prefix(['+', '-']).unwrap_or(word).parse().map_err(|_| refused(values.to_string()))?;
        let (shown, place) = (address.into(), targets.iter().position(|&target| target == address));
        match (word.starts_with('-'), place) {
            (true, Some(place)) => drop(targets.remove(place)),
            (true, None) => return Err(refused(format!("{shown} is no target"))),
            (false, Some(_)) => return Err(refused(format!("{shown} is a target already"))),
            (false, None) if !can_be(&address) => return Err(refused(format!("{shown} cannot be a target"))),
            (false, None) if targets.len() == MAX_ARP_TARGETS => return Err(refused(values.to_string())),
            (false, None) => targets.push(address),
        }
    }
    Ok(targets)
}
