//! The options of LACP.
//!
//! Linux drivers/net/bonding/bond_options.c of 6.1; `coupled_control` is of 6.9,
//! `broadcast_neighbor` of 6.17, `ad_select actor_port_prio` and `actor_port_prio` of 6.18, `lacp_strict` of a
//! later one. `aggregate_wait`, `wait_to_restore` and `lacp_lease` are this team's own.
//!
//! illumos `dladm create-aggr` says `-L active` and `-L passive` for
//! `lacp_active` on and off, `-T short` and `-T long` for `lacp_rate` fast and
//! slow; these words are taken, too. Its `-L off`, an aggregate that does not
//! speak LACP at all, is mode balance-xor; the kernel's `lacp_active off` is not
//! that, but `passive`.

use std::collections::BTreeMap;

use nicteam_lacp::{AdSelect, LacpRate};
use nicteam_wire::Mac;

use super::option::ConfigOption;
use crate::config::Config;
use crate::error::ConfigError;
use crate::lacp::{AGGREGATE_WAIT_MS, LacpOptions};
use crate::mode::Agrees;
use crate::names::{modes, named, names};
use crate::values::{INT_MAX, Values, device, digits, number};

impl LacpOptions {
    /// The kernel gives EACCES for most of these options outside 802.3ad.
    /// (`ad_select` it keeps without effect, and so does this.) It also forces
    /// `miimon` to 100 for the mode: LACP needs speed, duplex and carrier.
    pub(super) fn check(&self, config: &Config) -> Result<(), ConfigError> {
        let mode = config.mode;
        if mode.traits().needs_miimon && config.miimon_ms == 0 {
            return Err(ConfigError::Conflict(format!("`miimon 0` (off) does not go with mode {mode}")));
        }
        if mode.traits().agrees != Agrees::Never {
            return Ok(());
        }
        let by_default =
            Config { lacp: LacpOptions { select: self.select, ..LacpOptions::default() }, ..config.clone() };
        let options = [
            &LACP_ACTIVE,
            &LACP_RATE,
            &AD_ACTOR_SYS_PRIO,
            &AD_ACTOR_SYSTEM,
            &AD_USER_PORT_KEY,
            &ACTOR_PORT_PRIO,
            &COUPLED_CONTROL,
            &LACP_STRICT,
            &BROADCAST_NEIGHBOR,
            &AGGREGATE_WAIT,
            &WAIT_TO_RESTORE,
            &LACP_LEASE,
        ];
        match options.into_iter().find(|option| (option.get)(config) != (option.get)(&by_default)) {
            Some(option) => Err(ConfigError::Conflict(format!(
                "`{} {}` works in {} alone; the mode is {mode}",
                option.name,
                (option.get)(config),
                modes(|of| of.agrees != Agrees::Never)
            ))),
            None => Ok(()),
        }
    }
}

const SYS_PRIO_MAX: u32 = 65_535;
/// `bond_ad_actor_sys_prio_tbl`.
const SYS_PRIO: Values = Values::Positive {
    max: SYS_PRIO_MAX,
    words: &[("minval", 1), ("maxval", SYS_PRIO_MAX), ("default", SYS_PRIO_MAX)],
};
/// `bond_ad_user_port_key_tbl`.
const USER_PORT_KEY: Values = Values::Number { max: 1023, words: &[("minval", 0), ("maxval", 1023), ("default", 0)] };
const WAIT: Values = Values::Number { max: INT_MAX, words: &[("default", AGGREGATE_WAIT_MS), ("maxval", INT_MAX)] };
const RESTORE: Values = Values::Number { max: INT_MAX, words: &[("off", 0), ("default", 0), ("maxval", INT_MAX)] };
const LEASE: Values = Values::Number { max: INT_MAX, words: &[("default", 0), ("maxval", INT_MAX)] };
const SYSTEM: Values = Values::Text {
    takes: "a MAC address that is no group's, or nothing for the team's own",
    example: "02:00:00:00:00:aa",
};
const PORT_PRIO: Values = Values::Text {
    takes: "devices with their priorities, 0 to 65535, as in `eth0:10,eth1:20`, or nothing",
    example: "eth0:10,eth1:20",
};
const SWITCH: Values = Values::Names(&["off", "on"]);

pub(super) const LACP_ACTIVE: ConfigOption = ConfigOption {
    name: "lacp_active",
    doc: "802.3ad: send LACPDUs first (on, active), or only to a partner that sends them (off, passive)",
    values: SWITCH,
    get: |config| on_off(config.lacp.active),
    set: |config, text| {
        let on = match text.trim() {
            "active" => true,
            "passive" => false,
            _ => switch("lacp_active", text, true)?,
        };
        config.lacp.active = on;
        Ok(())
    },
};

pub(super) const LACP_RATE: ConfigOption = ConfigOption {
    name: "lacp_rate",
    doc: "802.3ad, Open vSwitch's modes: how often the partner is asked to speak: each 30 s (slow), or each second (fast)",
    values: Values::Names(&[LacpRate::Slow.name(), LacpRate::Fast.name()]),
    get: |config| config.lacp.rate.to_string(),
    set: |config, text| rate(text).map(|rate| config.lacp.rate = rate),
};

pub(super) const AD_SELECT: ConfigOption = ConfigOption {
    name: "ad_select",
    doc: "802.3ad: which of several aggregates carries the traffic",
    values: names!(AdSelect),
    get: |config| config.lacp.select.to_string(),
    set: |config, text| select(text).map(|select| config.lacp.select = select),
};

pub(super) const AD_ACTOR_SYS_PRIO: ConfigOption = ConfigOption {
    name: "ad_actor_sys_prio",
    doc: "802.3ad, Open vSwitch's modes: priority of this system; the lower number comes first; 65534 where Open vSwitch's \
          modes are told nothing else",
    values: SYS_PRIO,
    get: |config| config.actor_sys_prio().to_string(),
    set: |config, text| {
        let own = Config { lacp: LacpOptions::default(), ..config.clone() }.actor_sys_prio();
        if text.trim() == "default" {
            config.lacp.actor_sys_prio = None;
            return Ok(());
        }
        // The range is that of the field.
        number("ad_actor_sys_prio", SYS_PRIO, text)
            .map(|n| config.lacp.actor_sys_prio = Some(n as u16).filter(|prio| *prio != own))
    },
};

pub(super) const AD_ACTOR_SYSTEM: ConfigOption = ConfigOption {
    name: "ad_actor_system",
    doc: "802.3ad, Open vSwitch's modes: address of this system in LACP",
    values: SYSTEM,
    get: |config| config.lacp.actor_system.map(|mac| mac.to_string()).unwrap_or_default(),
    set: |config, text| system(text).map(|mac| config.lacp.actor_system = mac),
};

pub(super) const AD_USER_PORT_KEY: ConfigOption = ConfigOption {
    name: "ad_user_port_key",
    doc: "802.3ad: upper ten bits of the members' keys; what has other keys at one end does not aggregate",
    values: USER_PORT_KEY,
    get: |config| config.lacp.user_port_key.to_string(),
    set: |config, text| number("ad_user_port_key", USER_PORT_KEY, text).map(|n| config.lacp.user_port_key = n as u16),
};

pub(super) const ACTOR_PORT_PRIO: ConfigOption = ConfigOption {
    name: "actor_port_prio",
    doc: "802.3ad, Open vSwitch's modes: port priorities of members, by default 255 each, or 65535; ad_select \
          actor_port_prio goes by their sum",
    values: PORT_PRIO,
    get: |config| {
        let all = config.lacp.actor_port_prio.iter().map(|(device, prio)| format!("{device}:{prio}"));
        all.collect::<Vec<_>>().join(",")
    },
    set: |config, text| port_prios(text, config.default_port_prio()).map(|prios| config.lacp.actor_port_prio = prios),
};

pub(super) const COUPLED_CONTROL: ConfigOption = ConfigOption {
    name: "coupled_control",
    doc: "802.3ad: collect and distribute together (on), or distribute only once the partner collects (off)",
    values: SWITCH,
    get: |config| on_off(config.lacp.coupled_control),
    set: |config, text| switch("coupled_control", text, true).map(|on| config.lacp.coupled_control = on),
};

pub(super) const LACP_STRICT: ConfigOption = ConfigOption {
    name: "lacp_strict",
    doc: "802.3ad: without a partner that sends LACPDUs no member carries traffic (on), or one does (off)",
    values: SWITCH,
    get: |config| on_off(config.lacp.strict),
    set: |config, text| switch("lacp_strict", text, false).map(|on| config.lacp.strict = on),
};

pub(super) const BROADCAST_NEIGHBOR: ConfigOption = ConfigOption {
    name: "broadcast_neighbor",
    doc: "802.3ad: ARP and IPv6 neighbour discovery go to every member that aggregates (on), for two switches that \
          share no tables",
    values: SWITCH,
    get: |config| on_off(config.lacp.broadcast_neighbor),
    set: |config, text| switch("broadcast_neighbor", text, false).map(|on| config.lacp.broadcast_neighbor = on),
};

pub(super) const AGGREGATE_WAIT: ConfigOption = ConfigOption {
    name: "aggregate_wait",
    doc: "802.3ad: how long a member waits for others before its aggregate forms, milliseconds",
    values: WAIT,
    get: |config| config.lacp.aggregate_wait_ms.to_string(),
    set: |config, text| number("aggregate_wait", WAIT, text).map(|n| config.lacp.aggregate_wait_ms = n),
};

pub(super) const WAIT_TO_RESTORE: ConfigOption = ConfigOption {
    name: "wait_to_restore",
    doc: "802.3ad, Open vSwitch's modes: how long a member that was lost stands by once it is back while others carry the \
          traffic, milliseconds",
    values: RESTORE,
    get: |config| config.lacp.wait_to_restore_ms.to_string(),
    set: |config, text| number("wait_to_restore", RESTORE, text).map(|n| config.lacp.wait_to_restore_ms = n),
};

pub(super) const LACP_LEASE: ConfigOption = ConfigOption {
    name: "lacp_lease",
    doc: "802.3ad, Open vSwitch's modes: how long eBPF sends on and answers for a process that does not run, milliseconds; \
        0: 30000 at lacp_rate fast, 180000 at slow",
    values: LEASE,
    get: |config| config.lacp.lease_ms.to_string(),
    set: |config, text| number("lacp_lease", LEASE, text).map(|n| config.lacp.lease_ms = n),
};

fn rate(text: &str) -> Result<LacpRate, ConfigError> {
    match text.trim() {
        "long" => Ok(LacpRate::Slow),
        "short" => Ok(LacpRate::Fast),
        _ => named("lacp_rate", text, &[(LacpRate::Slow, "slow", Some(0)), (LacpRate::Fast, "fast", Some(1))]),
    }
}

fn select(text: &str) -> Result<AdSelect, ConfigError> {
    named("ad_select", text, &AdSelect::ALL.map(|choice| (choice, choice.name(), Some(choice.number()))))
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// `on`, `off`, their numbers, or `default`.
fn switch(option: &'static str, text: &str, default: bool) -> Result<bool, ConfigError> {
    match text.trim() {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        "default" => Ok(default),
        _ => Err(bad(option, text, SWITCH)),
    }
}

/// `bond_option_ad_actor_system_set`: a group is refused, zeros stand for the team's own.
fn system(text: &str) -> Result<Option<Mac>, ConfigError> {
    match text.trim() {
        "" => Ok(None),
        word => match word.parse::<Mac>() {
            Ok(mac) if !mac.is_multicast() => Ok((mac != Mac::default()).then_some(mac)),
            _ => Err(bad("ad_actor_system", text, SYSTEM)),
        },
    }
}

fn port_prios(text: &str, default: u16) -> Result<BTreeMap<String, u16>, ConfigError> {
    let refused = || bad("actor_port_prio", text, PORT_PRIO);
    let mut prios = BTreeMap::new();
    for pair in text.split([',', ' ']).map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, prio) = pair.split_once(':').ok_or_else(refused)?;
        let name = device("actor_port_prio", name).ok().flatten().ok_or_else(refused)?;
        let prio = digits(prio).and_then(|prio| u16::try_from(prio).ok()).ok_or_else(refused)?;
        if prio == default {
            prios.remove(&name);
        } else {
            prios.insert(name, prio);
        }
    }
    Ok(prios)
}

fn bad(option: &'static str, text: &str, values: Values) -> ConfigError {
    ConfigError::BadValue { option, value: text.to_owned(), expected: values.to_string() }
}
