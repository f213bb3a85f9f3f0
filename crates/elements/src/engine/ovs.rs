//! Engine `ovs`: a bond of Open vSwitch (3.1: vswitchd/vswitch.xml, table Port, "Bonding Configuration" and "LACP
//! Configuration").

use nicteam_team::{Config, DetectMode};

use super::able::{Engine, Group, Unsupported};

pub(super) const NAME: &str = "ovs";

/// A mode and what Open vSwitch calls it.
const MODES: [(&str, &str); 4] = [
    ("active-backup", "active-backup"),
    ("ovs-active-backup", "active-backup"),
    ("ovs-balance-slb", "balance-slb"),
    ("ovs-balance-tcp", "balance-tcp"),
];

/// Those that are named where another is refused.
const OWN_MODES: &str = "`active-backup`, `ovs-balance-slb` and `ovs-balance-tcp`";

/// What of a switch's `spread` its balance-tcp does.
const TCP_SPREAD: &str = "src-dst-port";

/// Modes that spread connections over all members, as its balance-tcp does.
const SPREADING: [&str; 2] = ["balance-xor", "802.3ad"];

/// Where the value of an option goes.
#[derive(Clone, Copy, Debug)]
enum To {
    /// A column of the table Port.
    Column(&'static str),
    /// A key of `other_config`.
    Key(&'static str),
    /// A key of `other_config` that takes `true` and `false`.
    Flag(&'static str),
}

/// How often the carrier is read by default.
const DEFAULT_MIIMON_MS: u32 = 100;
/// Options that are written by hand.
const TOLD_BEFORE: [&str; 3] = ["mode", "miimon", "bond_detect_mode"];

/// The other options, where they go, and whether active-backup of the kernel's means the same by them.
const OPTIONS: [(&str, To, bool); 11] = [
    ("updelay", To::Column("bond_updelay"), true),
    ("downdelay", To::Column("bond_downdelay"), true),
    ("primary", To::Key("bond-primary"), true),
    ("all_slaves_active", To::Flag("all-members-active"), false),
    ("bond_hash_basis", To::Key("bond-hash-basis"), false),
    ("bond_rebalance_interval", To::Key("bond-rebalance-interval"), false),
    ("lacp", To::Column("lacp"), false),
    ("lacp_fallback_ab", To::Flag("lacp-fallback-ab"), false),
    ("lacp_rate", To::Key("lacp-time"), false),
    ("ad_actor_system", To::Key("lacp-system-id"), false),
    ("ad_actor_sys_prio", To::Key("lacp-system-priority"), false),
];

/// Open vSwitch's bond. Options that differ from its defaults can be set; no other option may differ.
#[derive(Debug)]
pub(super) struct OpenVSwitch;

impl Engine for OpenVSwitch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, config: &Config) -> Result<(), Unsupported> {
        settings(config).map(drop)
    }

    fn group(&self, group: &Group<'_>) -> Result<Vec<(&'static str, String)>, Unsupported> {
        let Group { spread, hash_buckets, lacp, lacp_rate } = *group;
        if spread != TCP_SPREAD {
            let reason = format!("spreads a group by addresses and ports alone, not by {spread}");
            return Err(Unsupported {
                option: "spread",
                reason,
                hint: Some(format!("say `spread = \"{TCP_SPREAD}\"`")),
            });
        }
        if hash_buckets > 0 {
            let reason = format!("spreads a group by 256 buckets, not by the {hash_buckets} of the model");
            let hint = Some("leave `model` out".to_owned());
            return Err(Unsupported { option: "model", reason, hint });
        }
        if lacp == "off" {
            let reason = "spreads a group by LACP alone".to_owned();
            let hint = "say `lacp = \"active\"`, and have the other end speak it, too".to_owned();
            return Err(Unsupported { option: "lacp", reason, hint: Some(hint) });
        }
        let options = [("mode", "ovs-balance-tcp"), ("lacp", lacp), ("lacp_rate", lacp_rate)];
        Ok(options.map(|(name, value)| (name, value.to_owned())).into())
    }
}

/// The settings that make a port of Open vSwitch a bond of this configuration: columns of the table Port and keys of
/// its `other_config`, each with its value, as `ovs-vsctl set port` takes them.
///
/// # Errors
/// It has no such bond.
pub fn settings(config: &Config) -> Result<Vec<String>, Unsupported> {
    let mode = config.mode.name();
    let Some((_, theirs)) = MODES.iter().find(|(ours, _)| *ours == mode) else { return Err(no_mode(mode)) };
    let is_own = config.mode.traits().openvswitch;
    let polls =
        if is_own { config.bond.detect_mode == DetectMode::Miimon } else { config.miimon_ms != DEFAULT_MIIMON_MS };
    if polls && config.miimon_ms == 0 {
        let reason = "does not go without looking at the carrier".to_owned();
        let hint = Some("leave `miimon` out: then it hears of the carrier by netlink".to_owned());
        return Err(Unsupported { option: "miimon", reason, hint });
    }
    let mut settings = vec![format!("bond_mode={theirs}")];
    if polls {
        // Its own default of the interval is another.
        settings.push(setting(To::Key("bond-detect-mode"), DetectMode::Miimon.name()));
        settings.push(setting(To::Key("bond-miimon-interval"), &config.miimon_ms.to_string()));
    }
    let by_default = Config { mode: config.mode, ..Config::default() }.options_and_wish();
    let differs = config.options_and_wish().into_iter().filter(|pair| !by_default.contains(pair));
    for (option, value) in differs.filter(|(option, _)| !TOLD_BEFORE.contains(option)) {
        let Some((_, to, _)) = OPTIONS.iter().find(|(name, _, common)| *name == option && (is_own || *common)) else {
            return Err(Unsupported { option, reason: format!("has no `{option}` in mode {mode}"), hint: None });
        };
        settings.push(setting(*to, &value));
    }
    Ok(settings)
}

/// Quoted, for addresses have colons.
fn setting(to: To, value: &str) -> String {
    match to {
        To::Column(column) => format!("{column}=\"{value}\""),
        To::Key(key) => format!("other_config:{key}=\"{value}\""),
        To::Flag(key) => format!("other_config:{key}=\"{}\"", value == "1"),
    }
}

fn no_mode(mode: &str) -> Unsupported {
    let hint = if SPREADING.contains(&mode) {
        // Its hash is another, so it is for the file to choose.
        "the nearest that it has is `ovs-balance-tcp` with `lacp = \"active\"`: by addresses and ports, and a hash of its own"
            .to_owned()
    } else {
        format!("it has {OWN_MODES}; name another `engine` for {mode}")
    };
    Unsupported { option: "mode", reason: format!("has no mode {mode}"), hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(options: &[(&str, &str)]) -> Result<Vec<String>, Unsupported> {
        let mut config = Config::default();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        settings(&config)
    }

    #[test]
    fn what_differs_from_the_defaults_is_told_in_its_words() {
        assert_eq!(told(&[("mode", "active-backup")]).unwrap(), ["bond_mode=active-backup"]);
        let both = told(&[("mode", "active-backup"), ("downdelay", "300"), ("primary", "eth1")]).unwrap();
        assert_eq!(both, ["bond_mode=active-backup", "bond_downdelay=\"300\"", "other_config:bond-primary=\"eth1\""]);
        let polled = told(&[("mode", "active-backup"), ("miimon", "50")]).unwrap();
        let keys = ["other_config:bond-detect-mode=\"miimon\"", "other_config:bond-miimon-interval=\"50\""];
        assert_eq!(polled[1..], keys);
        let slb = told(&[("mode", "ovs-balance-slb"), ("bond_hash_basis", "7"), ("all_slaves_active", "1")]).unwrap();
        let keys = ["other_config:all-members-active=\"true\"", "other_config:bond-hash-basis=\"7\""];
        assert_eq!((slb[0].as_str(), &slb[1..]), ("bond_mode=balance-slb", &keys.map(str::to_owned)[..]));
        let options =
            [("mode", "ovs-balance-tcp"), ("lacp", "active"), ("lacp_rate", "fast"), ("ad_actor_sys_prio", "5")];
        let mut tcp = told(&options).unwrap();
        tcp.sort_unstable();
        let keys = ["other_config:lacp-system-priority=\"5\"", "other_config:lacp-time=\"fast\""];
        assert_eq!(tcp, [&["bond_mode=balance-tcp", "lacp=\"active\""], &keys[..]].concat());
        let polled = told(&[("mode", "ovs-active-backup"), ("bond_detect_mode", "miimon")]).unwrap();
        assert_eq!(
            polled[1..],
            ["other_config:bond-detect-mode=\"miimon\"", "other_config:bond-miimon-interval=\"100\""]
        );
    }

    #[test]
    fn a_group_of_a_switch_is_its_balance_tcp_or_an_error() {
        let group_of = |spread, hash_buckets, lacp| {
            let group = Group { spread, hash_buckets, lacp, lacp_rate: "fast" };
            OpenVSwitch.group(&group).map_err(|error| error.option)
        };
        let group = |spread, lacp| group_of(spread, 0, lacp);
        assert_eq!(group_of("src-dst-port", 8, "active"), Err("model"));
        assert_eq!(group("src-dst-mac", "active"), Err("spread"));
        assert_eq!(group("src-dst-port", "off"), Err("lacp"));
        let mut config = Config::default();
        group("src-dst-port", "passive").unwrap().iter().for_each(|(name, value)| config.set(name, value).unwrap());
        assert_eq!((config.check(), OpenVSwitch.supports(&config)), (Ok(()), Ok(())));
    }

    #[test]
    fn what_it_has_not_is_named() {
        let blamed = |options| told(options).unwrap_err();
        let mode = blamed(&[("mode", "802.3ad")]);
        assert_eq!((mode.option, mode.reason.as_str()), ("mode", "has no mode 802.3ad"));
        assert!(mode.hint.unwrap().contains("ovs-balance-tcp"));
        assert_eq!(blamed(&[("mode", "active-backup"), ("fail_over_mac", "active")]).option, "fail_over_mac");
        assert_eq!(blamed(&[("mode", "active-backup"), ("active_slave", "eth1")]).option, "active_slave");
        assert_eq!(blamed(&[("mode", "active-backup"), ("miimon", "0")]).option, "miimon");
    }
}
