//! `nicteam team`: teams on this host.

use nicteam_daemon::{Error, Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_sys::{netns, process};
use nicteam_team::{Config, ConfigError};
use nicteam_wire::Mac;

use crate::failure::Failure;
use crate::{say, value};

/// Teams on this host.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    // Described at its arguments, or `--help` would show no more than a line.
    Run(Run),
}

/// Run a team in the foreground until a signal comes.
///
/// SIGINT, SIGTERM and SIGHUP take the team down and give its members back
/// as they were; so does the deletion of its device. A process that is killed
/// with SIGKILL leaves an eBPF team forwarding, while the members of a packet
/// team drop every frame until it is started again and ended. Run the same
/// command again to take either over.
///
/// What a member was before it joined stands in its alias (`ip link`).
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Name of the team's device, 1 to 12 characters.
    name: String,
    /// Member devices, in their order.
    #[arg(long, required = true, value_delimiter = ',')]
    members: Vec<String>,
    /// balance-rr, active-backup, balance-xor or broadcast; balance-rr by default.
    #[arg(long)]
    mode: Option<String>,
    /// Another option, by the kernel's name: `-o xmit_hash_policy=layer3+4`; several by several `-o`.
    #[arg(short = 'o', long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// MAC address of the team; the first member's by default.
    #[arg(long)]
    mac: Option<Mac>,
    /// MTU of the team and its members, bytes; the smallest of the members' by default.
    #[arg(long, value_parser = value::mtu)]
    mtu: Option<u32>,
    /// What executes the team: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
}

/// Carries a command out.
pub(crate) fn run(command: Command) -> Result<(), Failure> {
    let Command::Run(run) = command;
    let spec = spec(&run)?;
    if !netns::is_network_root() {
        return Err(Failure::missing("a team needs root (CAP_NET_ADMIN and CAP_SYS_ADMIN); hint: sudo"));
    }
    process::catch_termination()?;
    let running = RunningTeam::start(spec, Box::new(tell)).map_err(not_started)?;
    say::line(format_args!("team {} runs on the {} dataplane", running.name(), running.dataplane()));
    running.wait(process::termination_event()).map_err(Failure::failed)?;
    running.remove().map_err(Failure::failed)
}

/// The team that the command line asks for.
fn spec(run: &Run) -> Result<TeamSpec, Failure> {
    Ok(TeamSpec {
        name: run.name.clone(),
        config: config(run)?,
        members: run.members.clone(),
        mac: run.mac,
        mtu: run.mtu,
        dataplane: run.dataplane.map_or(Choice::Auto, Choice::Force),
    })
}

/// The options that the command line gives, each once.
fn config(run: &Run) -> Result<Config, Failure> {
    let mut given: Vec<(&str, &str)> = run.mode.iter().map(|mode| ("mode", mode.as_str())).collect();
    for option in &run.options {
        let (name, value) = option
            .split_once('=')
            .ok_or_else(|| Failure::wrong_input(format!("`{option}` is not NAME=VALUE; hint: -o miimon=100")))?;
        if let Some((_, before)) = given.iter().find(|(known, _)| *known == name.trim()) {
            return Err(Failure::wrong_input(format!("the option `{name}` is given twice: `{before}` and `{value}`")));
        }
        given.push((name.trim(), value));
    }
    let mut config = Config::default();
    for (name, value) in &given {
        config.set(name, value).map_err(refused)?;
    }
    config.check().map_err(refused)?;
    if given.iter().any(|(name, _)| *name == "xmit_hash_policy") && !config.mode.hashes() {
        say::line(format_args!("warning: xmit_hash_policy has no effect: mode {} does not hash", config.mode));
    }
    Ok(config)
}

/// Why a team could not be started: wrong words, a machine that lacks something, or else.
fn not_started(error: Error) -> Failure {
    match error {
        Error::NoDevice { .. }
        | Error::NotEthernet { .. }
        | Error::NoMembers(_)
        | Error::PrimaryNoMember { .. }
        | Error::Team(_) => Failure::wrong_input(error),
        Error::Dataplane(nicteam_dataplane::Error::Name(_)) => Failure::wrong_input(error),
        Error::Dataplane(nicteam_dataplane::Error::Unavailable { .. }) => Failure::missing(error),
        error => Failure::failed(error),
    }
}

/// An option that the team does not take.
fn refused(error: ConfigError) -> Failure {
    let hint = error.hint();
    Failure::wrong_input(error).hint(hint)
}

/// Tells the user what the running team tells.
fn tell(notice: Notice) {
    match notice {
        Notice::Event(event) => say::line(event),
        // The end of the command, which says so.
        Notice::Trouble(Error::DeviceGone(_)) => {}
        Notice::Trouble(error) => say::line(format_args!("warning: {error}")),
    }
}
