//! Which experiment a command takes, and what the command line changes in it.

use std::time::Duration;

use nicteam_dataplane::Kind;
use nicteam_experiment::{self as experiment, Experiment, Overrides};
use nicteam_sys::process;

use super::remote;
use crate::failure::Failure;
use crate::{privileges, say, value};

/// An experiment and what is changed in it.
#[derive(Debug, clap::Args)]
pub(super) struct Pick {
    /// Name of an experiment that comes with nicteam (t3), or a file.
    pub(super) experiment: String,
    /// Only these runs, with commas between them; may be repeated.
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// How long each run is measured: 60s, 500ms.
    #[arg(long, value_parser = value::duration)]
    pub(super) duration: Option<Duration>,
    /// Rate of every link: 100mbit, 1gbit.
    #[arg(long, value_parser = value::rate)]
    pub(super) rate: Option<u64>,
    /// Who runs the teams of hosts, whatever the file says: nicteam, ovs, kernel. Of several, with commas between them, each
    /// run is carried out once by each, and the report has a column for each.
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    pub(super) engine: Vec<String>,
}

/// Reads an experiment; what is wrong with it is told all at once.
pub(super) fn load(pick: &Pick) -> Result<Experiment, Failure> {
    load_at(pick, pick.rate)
}

/// The same with links of this rate.
fn load_at(pick: &Pick, rate_bps: Option<u64>) -> Result<Experiment, Failure> {
    let overrides = Overrides {
        rate_bps,
        duration: pick.duration,
        only: (!pick.only.is_empty()).then(|| pick.only.clone()),
        engines: pick.engine.clone(),
    };
    find(&pick.experiment, &overrides)
}

/// The experiment of this name, or in this file.
pub(super) fn find(name: &str, overrides: &Overrides) -> Result<Experiment, Failure> {
    let found = experiment::find(name).map_err(|error| {
        let hint = error.hint();
        Failure::wrong_input(error).hint(hint)
    })?;
    Ok(experiment::parse(&found.name, &found.path, &found.text, overrides)?)
}

/// Reads an experiment and fits it to the machine, with the privileges that
/// running it takes; the second is their name. Call while the process has one thread.
pub(super) fn load_to_run(pick: &Pick, dataplane: Option<Kind>) -> Result<(Experiment, &'static str), Failure> {
    let experiment = load(pick)?;
    if remote::has_machines(&experiment) {
        // What is there is asked on each machine.
        process::catch_termination()?;
        return Ok((experiment, "root"));
    }
    let privileges = privileges::obtain()?;
    process::catch_termination()?;
    nicteam_lab::check_tcp(&experiment)?;
    nicteam_lab::check_programs(&experiment)?;
    nicteam_lab::check_machine(&experiment)?;
    Ok((fitted(experiment, pick, dataplane)?, privileges))
}

/// The experiment at the rate that this machine gives it; says so if that is not the file's.
pub(super) fn fitted(experiment: Experiment, pick: &Pick, dataplane: Option<Kind>) -> Result<Experiment, Failure> {
    let slower = nicteam_lab::fit(&experiment, dataplane, |rate_bps| load_at(pick, Some(rate_bps)))?;
    let Some((slower, rate_bps)) = slower else { return Ok(experiment) };
    let rate = experiment::show_rate(rate_bps);
    say::line(format_args!(
        "links of {rate}: the most at which this machine carries MTU-sized packets in every run; --rate chooses another"
    ));
    Ok(slower)
}
