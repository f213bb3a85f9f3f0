//! Experiments on real machines: what the user agrees to, and the keeper on each of them.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use nicteam_experiment::Experiment;
use nicteam_lab::testbed::{self, Testbed};
use nicteam_machines::{Error, preflight};
use nicteam_remote::keeper;
use nicteam_sys::process;

use super::options::myself;
use crate::failure::Failure;
use crate::say;

/// What the user agrees to.
#[derive(Debug, clap::Args)]
pub(super) struct Consent {
    /// Of testbed `ssh`: do not ask before links of other machines are used.
    #[arg(long)]
    yes: bool,
    /// Of testbed `ssh`: also use links that carry other traffic.
    #[arg(long)]
    share: bool,
}

/// True if hosts of an experiment are real machines.
pub(super) fn has_machines(experiment: &Experiment) -> bool {
    experiment.runs.iter().any(|run| run.topology.hosts.iter().any(|host| host.ssh.is_some()))
}

/// The testbed for real machines, once the user has agreed; none if the experiment has none. The experiment
/// gets what was found of teams that are measured as they are.
pub(super) fn testbed(experiment: &mut Experiment, consent: &Consent) -> Result<Option<&'static dyn Testbed>, Failure> {
    let machines = preflight(experiment, &myself()?, consent.share).map_err(|error| match error {
        Error::Failed(message) => Failure::failed(message),
        Error::Unfit(objections) => Failure::missing(objections),
    })?;
    let Some(machines) = machines else { return Ok(None) };
    say::talk(say::visible(machines.words(experiment)));
    if !consent.yes {
        if !io::stdin().is_terminal() {
            let failure = Failure::wrong_input("nobody can be asked here whether these links may be used");
            return Err(failure.hint(Some("say --yes if they may")));
        }
        say::talk("Go on? [y/N] ");
        let mut answer = String::new();
        // Without an answer nothing is done.
        let _ = io::stdin().lock().read_line(&mut answer);
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Err(Failure::interrupted("nothing was changed"));
        }
    }
    Ok(Some(testbed::ssh(machines)))
}

/// What a keeper keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Keep {
    /// The second of the two processes.
    #[arg(long)]
    guard: bool,
    /// Folder with the copy of the program.
    #[arg(long)]
    folder: PathBuf,
    /// Host of the agent.
    #[arg(long, default_value = "")]
    node: String,
    /// The lab it belongs to.
    #[arg(long, default_value = "")]
    lab: String,
    /// How long the lab may say nothing, seconds.
    #[arg(long, default_value_t = 12)]
    silence: u64,
    /// The devices.
    links: Vec<String>,
}

/// Keeps links.
pub(crate) fn keep(args: Keep) -> Result<(), Failure> {
    process::catch_termination()?;
    let Keep { guard, folder, node, lab, silence, links } = args;
    let kept = if guard {
        keeper::guard()
    } else {
        keeper::keep(&keeper::Keep { folder, node, lab, silence: Duration::from_secs(silence), links })
    };
    kept.map_err(|error| Failure::failed(error.to_string()))
}
