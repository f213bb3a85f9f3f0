//! Team options of the file -> [`Config`], by the team crate's own rules.

use nicteam_team::{Config, ConfigError, Mode};

use super::diagnostics::Problem;
use super::raw::{At, Options};

/// The configuration a set of options makes; what is wrong goes to `problems`.
pub(super) fn configure(name: &At<String>, options: &Options, problems: &mut Vec<Problem>) -> Config {
    let mut config = Config::default();
    let mut sound = true;
    for (option, value) in options {
        if let Err(error) = config.set(&option.value, &value.value) {
            sound = false;
            problems.push(refused(&error, option, value));
        }
    }
    if sound && let Err(error) = config.check() {
        let message = error.to_string();
        // A conflict begins with the option that is to blame: "`updelay 200` needs ...".
        let blamed = options.iter().rfind(|(option, _)| message.starts_with(&format!("`{} ", option.value)));
        let problem = Problem::at(blamed.map_or(&name.span, |(option, _)| &option.span), message);
        problems.push(problem.hint(format!("change or remove it in team `{}`", name.value)));
    }
    config
}

/// The options of a team with a run's in place of its own.
pub(super) fn overlaid(base: &Options, other: &Options) -> Options {
    let mut both: Options =
        base.iter().filter(|(option, _)| other.iter().all(|(o, _)| o.value != option.value)).cloned().collect();
    both.extend(other.iter().cloned());
    both
}

/// Whether a switch must treat the links to such a team as one group.
pub(super) fn wants_group(mode: Mode) -> bool {
    mode.traits().needs_group
}

/// How a switch bundles links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouping<'a> {
    /// Its hash policy.
    pub(super) spread: &'a str,
    /// `active`, `passive` or `off`; none: as the other end has it.
    pub(super) lacp: Option<&'a str>,
    /// `slow` or `fast`.
    pub(super) lacp_rate: &'a str,
}

/// A switch's link aggregation group towards a team of this mode, or another switch.
pub(super) fn group(how: Grouping<'_>, towards: Option<Mode>) -> Result<Config, ConfigError> {
    let lacp = how.lacp.unwrap_or(if towards.is_some_and(Mode::aggregates) { "active" } else { "off" });
    let mut config = Config::default();
    let mut set = |option, value| config.set(option, value);
    set("mode", if lacp == "off" { "balance-xor" } else { "802.3ad" })?;
    set("xmit_hash_policy", how.spread)?;
    set("miimon", "100")?;
    if lacp != "off" {
        set("lacp_active", lacp)?;
        set("lacp_rate", how.lacp_rate)?;
    }
    Ok(config)
}

fn refused(error: &ConfigError, option: &At<String>, value: &At<String>) -> Problem {
    let problem = match error {
        ConfigError::UnknownOption { name } => {
            Problem::at(&option.span, format!("no team option `{name}`")).label("unknown option")
        }
        ConfigError::BadValue { option, value: given, .. } => {
            Problem::at(&value.span, format!("`{given}` is no value for the team option `{option}`"))
        }
        ConfigError::Conflict(message) => Problem::at(&option.span, message.as_str()),
    };
    let takes = match error {
        ConfigError::BadValue { expected, .. } => Some(format!("it takes {expected}")),
        _ => None,
    };
    match error.hint().or(takes) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
