//! The team that a command line asks for.

use nicteam_daemon::TeamSpec;
use nicteam_dataplane::{Choice, Kind};
use nicteam_team::{Config, ConfigOption};
use nicteam_wire::Mac;

use super::failures::{not_started, refused};
use crate::failure::Failure;
use crate::{say, value};

/// What `team add` and `team run` have in common.
#[derive(Debug, clap::Args)]
pub(super) struct Spec {
    /// Name of the team's device, 1 to 12 characters.
    name: String,
    /// Member devices, in their order.
    #[arg(long, required = true, value_delimiter = ',', value_parser = value::device)]
    members: Vec<String>,
    /// balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb, balance-alb or stripe; balance-rr by default.
    #[arg(long)]
    mode: Option<String>,
    /// Another option, by the kernel's name: `-o xmit_hash_policy=layer3+4`; several by several `-o`.
    #[arg(short = 'o', long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// MAC address of the team; the first member's by default.
    #[arg(long, value_parser = value::host_mac)]
    mac: Option<Mac>,
    /// MTU of the team and its members, bytes; the smallest of the members' by default.
    #[arg(long, value_parser = value::mtu)]
    mtu: Option<u32>,
    /// What executes the team: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
}

impl Spec {
    /// The team that is asked for.
    pub(super) fn team(&self) -> Result<TeamSpec, Failure> {
        let spec = TeamSpec {
            name: self.name.clone(),
            config: self.config()?,
            members: self.members.clone(),
            mac: self.mac,
            mtu: self.mtu,
            dataplane: self.dataplane.map_or(Choice::Auto, Choice::Force),
        };
        spec.check().map_err(|error| not_started(&error))?;
        Ok(spec)
    }

    /// The options that the command line gives, each once.
    fn config(&self) -> Result<Config, Failure> {
        let mode = self.mode.iter().map(|mode| ("mode".to_owned(), mode.clone()));
        let given = once(mode.chain(assignments(&self.options)?))?;
        let mut config = Config::default();
        for (name, value) in &given {
            config.set(name, value).map_err(refused)?;
        }
        config.check().map_err(refused)?;
        if given.iter().any(|(name, _)| name == "xmit_hash_policy") && !config.mode.hashes() {
            say::line(format_args!("warning: xmit_hash_policy has no effect: mode {} does not hash", config.mode));
        }
        Ok(config)
    }
}

/// Names and values of `NAME=VALUE`, each name once.
pub(super) fn assignments<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Vec<(String, String)>, Failure> {
    let split = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::wrong_input(format!("`{text}` is not NAME=VALUE; hint: miimon=100")))?;
        Ok((name.trim().to_owned(), value.to_owned()))
    };
    let given = once(texts.into_iter().map(split).collect::<Result<Vec<_>, Failure>>()?)?;
    given.into_iter().map(|(name, value)| secret_of(&name, value).map(|value| (name, value))).collect()
}

/// A secret may stand in a file, so that it is not among the arguments of a
/// process, which everybody can read: `stripe_key=file:/etc/nicteam/key`.
fn secret_of(name: &str, value: String) -> Result<String, Failure> {
    let is_secret = ConfigOption::named(name).is_some_and(ConfigOption::is_secret);
    let Some(path) = value.trim().strip_prefix("file:").filter(|_| is_secret) else { return Ok(value) };
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => {
            let failure = Failure::wrong_input(format!("the file `{path}` for `{name}` is empty"));
            Err(failure.hint(Some("`openssl rand -hex 16` makes a key")))
        }
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(Failure::wrong_input(format!("cannot read `{path}` for `{name}`: {error}"))),
    }
}

/// What is wrong with a name that comes twice; a secret is not shown.
fn twice(name: &str, before: &str, value: &str) -> String {
    match ConfigOption::named(name).is_some_and(ConfigOption::is_secret) {
        true => format!("the option `{name}` is given twice"),
        false => format!("the option `{name}` is given twice: `{before}` and `{value}`"),
    }
}

/// Refuses a name that comes twice.
fn once(given: impl IntoIterator<Item = (String, String)>) -> Result<Vec<(String, String)>, Failure> {
    let mut known: Vec<(String, String)> = Vec::new();
    for (name, value) in given {
        if let Some((_, before)) = known.iter().find(|(known, _)| *known == name) {
            return Err(Failure::wrong_input(twice(&name, before, &value)));
        }
        known.push((name, value));
    }
    Ok(known)
}
