//! What settings of records mean for nicteam: options of a team, an MTU, or nothing.

use super::datum::Value;
use super::error::{Error, ErrorKind};
use super::setting::Setting;
use super::table::Table;

/// What a setting means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It is so in any case.
    Nothing,
    /// It is taken and has no effect, for this reason.
    Ignored(&'static str),
    /// These options of a team, by Open vSwitch's names where it has any.
    Options(Vec<(String, String)>),
    /// An interface's MTU, bytes.
    Mtu(u32),
}

/// Keys of a port's `other_config` that are options of a team, with what they are where nobody says anything
/// (Open vSwitch 3.1 vswitchd/bridge.c, `port_configure_bond`, `port_configure_lacp`).
const KEYS: &[(&str, &str)] = &[
    ("bond-detect-mode", "carrier"),
    ("bond-hash-basis", "0"),
    ("bond-miimon-interval", "100"),
    ("bond-primary", ""),
    ("bond-rebalance-interval", "10000"),
    ("lacp-fallback-ab", "false"),
    ("lacp-system-id", "00:00:00:00:00:00"),
    ("lacp-system-priority", "65534"),
    ("lacp-time", "slow"),
    ("all-members-active", "false"),
];
/// Between two questions with `bond-detect-mode=miimon`, milliseconds, where nothing else, or nothing above 0, is said.
const MIIMON_INTERVAL: (&str, &str) = ("bond-miimon-interval", "200");
/// What 2.3 calls the last one.
const ALL_SLAVES_ACTIVE: &str = "all-slaves-active";

const NOT_KEPT: &str = "nicteam has no database that would keep it";
const NO_OPENFLOW: &str = "there is no OpenFlow: the kernel's bridge forwards";
const NOTHING_LIKE: &str = "nicteam has nothing like it";
const NO_VLANS: &str = "ports have no VLANs here; use VLAN devices, `ip link add link DEVICE type vlan`";
const NO_TYPES: &str = "devices are not made here; make it with `ip link add`, then `add-port` takes it";
const BY_IP_LINK: &str = "`ip link set BRIDGE type bridge` sets the kernel's bridge";

/// True for a key of `other_config` with the value that it has by itself.
pub fn is_default(key: &str, value: &str) -> bool {
    KEYS.contains(&(key, value))
}

/// True for a key of `other_config`, whether it is written with dashes or underscores.
pub(super) fn is_key(name: &str) -> bool {
    KEYS.iter().any(|(key, _)| *key == name.replace('_', "-"))
}

/// The interval of `bond-detect-mode=miimon` goes with it where these options of a team, whose others are as at the
/// beginning, name none.
pub(super) fn complete(options: &mut Vec<(String, String)>) {
    let has = |key: &str, value: Option<&str>| {
        options.iter().any(|(known, is)| known == key && value.is_none_or(|value| value == is))
    };
    if has("bond-detect-mode", Some("miimon")) && !has(MIIMON_INTERVAL.0, None) {
        options.push((MIIMON_INTERVAL.0.to_owned(), MIIMON_INTERVAL.1.to_owned()));
    }
}

/// What a setting of a record of this table means.
///
/// # Errors
/// It would have an effect in Open vSwitch that nicteam does not have.
pub(super) fn effect(table: Table, setting: &Setting) -> Result<Effect, Error> {
    match table {
        Table::Port => port(setting),
        Table::Interface => interface(setting),
        Table::Bridge => bridge(setting),
    }
    .map_err(|why| {
        let column = match &setting.value {
            Value::Map(pairs) if setting.has_key && !pairs.is_empty() => {
                format!("{}:{}", setting.column.name, pairs[0].0)
            }
            _ => setting.column.name.to_owned(),
        };
        Error { kind: ErrorKind::Unsupported { column, table, why }, place: setting.place }
    })
}

fn port(setting: &Setting) -> Result<Effect, &'static str> {
    let first = first(&setting.value);
    let option = |name: &str, value: String| Ok(Effect::Options(vec![(name.to_owned(), value)]));
    // As `port_configure_bond` takes delays.
    let not_negative = || first.filter(|delay| !delay.starts_with('-')).unwrap_or("0").to_owned();
    match setting.column.name {
        "bond_mode" => option("mode", format!("ovs-{}", first.unwrap_or("active-backup"))),
        "lacp" => option("lacp", first.unwrap_or("off").to_owned()),
        "bond_updelay" => option("bond_updelay", not_negative()),
        "bond_downdelay" => option("bond_downdelay", not_negative()),
        "other_config" => Ok(other_config(setting)),
        "external_ids" => Ok(Effect::Ignored(NOT_KEPT)),
        "tag" | "trunks" | "vlan_mode" | "cvlans" if !is_unset(&setting.value) => Err(NO_VLANS),
        _ if is_unset(&setting.value) => Ok(Effect::Nothing),
        _ => Err(NOTHING_LIKE),
    }
}

fn other_config(setting: &Setting) -> Effect {
    let Value::Map(pairs) = &setting.value else { return Effect::Nothing };
    let is_option = |key: &str| key == ALL_SLAVES_ACTIVE || KEYS.iter().any(|(known, _)| *known == key);
    let given = pairs.iter().filter(|(key, _)| is_option(key)).map(|(key, value)| match key == MIIMON_INTERVAL.0 {
        true if value == "0" || value.starts_with('-') => (key.clone(), MIIMON_INTERVAL.1.to_owned()),
        _ => (key.clone(), value.clone()),
    });
    let mut options: Vec<(String, String)> = Vec::new();
    if !setting.has_key {
        // The column is replaced: what is not named is as at the beginning.
        let named = |key: &str| {
            pairs.iter().any(|(name, _)| name == key || name == ALL_SLAVES_ACTIVE && key == "all-members-active")
        };
        let asks = pairs.iter().any(|(key, value)| key == "bond-detect-mode" && value == "miimon");
        let left = KEYS.iter().filter(|(key, _)| !named(key));
        let left = left.map(|&of| if asks && of.0 == MIIMON_INTERVAL.0 { MIIMON_INTERVAL } else { of });
        options.extend(left.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
    options.extend(given);
    match options.is_empty() {
        true => Effect::Ignored("bonds have no such key"),
        false => Effect::Options(options),
    }
}

fn interface(setting: &Setting) -> Result<Effect, &'static str> {
    let first = first(&setting.value);
    match setting.column.name {
        "type" if matches!(first, None | Some("" | "system")) => Ok(Effect::Nothing),
        "type" => Err(NO_TYPES),
        "mtu_request" => match first.map(str::parse) {
            Some(Ok(mtu)) => Ok(Effect::Mtu(mtu)),
            Some(Err(_)) => Err("it is more than any device has"),
            None => Ok(Effect::Nothing),
        },
        "external_ids" => Ok(Effect::Ignored(NOT_KEPT)),
        "ofport_request" => Ok(Effect::Ignored(NO_OPENFLOW)),
        _ if is_unset(&setting.value) => Ok(Effect::Nothing),
        _ => Err(NOTHING_LIKE),
    }
}

fn bridge(setting: &Setting) -> Result<Effect, &'static str> {
    match setting.column.name {
        "datapath_type" | "protocols" => Ok(Effect::Ignored(NO_OPENFLOW)),
        "external_ids" => Ok(Effect::Ignored(NOT_KEPT)),
        "fail_mode" if first(&setting.value) == Some("secure") => {
            Err("without a controller nothing would be forwarded, and there is none")
        }
        "fail_mode" => Ok(Effect::Nothing),
        _ if is_unset(&setting.value) => Ok(Effect::Nothing),
        "stp_enable" | "rstp_enable" | "mcast_snooping_enable" | "other_config" => Err(BY_IP_LINK),
        _ => Err(NOTHING_LIKE),
    }
}

fn first(value: &Value) -> Option<&str> {
    match value {
        Value::Set(values) => values.first().map(String::as_str),
        Value::Map(_) => None,
    }
}

/// True for a value that a new record has.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Set(values) => values.iter().all(|value| matches!(value.as_str(), "" | "false" | "0")),
        Value::Map(pairs) => pairs.is_empty(),
    }
}
