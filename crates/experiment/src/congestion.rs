//! Congestion controls of the file that a machine does not have.

use std::collections::BTreeSet;

use toml::de::DeTable;

use crate::sections::FILE;
use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_diagnostics::{list, nearest};
use nicteam_elements::read;
use nicteam_elements::record::{At, Record};
use nicteam_elements::resolved::Experiment;

/// Refuses what the picked runs name and the machine does not take; the
/// message lists the `available`.
///
/// # Errors
/// Every place of the file that names such a one.
pub fn check_congestion(
    experiment: &Experiment,
    available: &[&str],
    takes: impl Fn(&str) -> bool,
) -> Result<(), Diagnostics> {
    let workloads = experiment.runs.iter().flat_map(|run| &run.workloads);
    let named: BTreeSet<&str> = workloads.filter_map(|workload| workload.task.congestion()).collect();
    let lacking: BTreeSet<&str> = named.into_iter().filter(|name| !takes(name)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let problems = lacking.iter().flat_map(|name| problems(experiment, name, available)).collect();
    Err(Diagnostics::new(&experiment.path, &experiment.text, problems))
}

/// Refuses multipath TCP, where the picked runs want it, on a machine without it.
///
/// # Errors
/// Every place of the file that asks for it.
pub fn check_mptcp(experiment: &Experiment, is_supported: impl Fn() -> bool) -> Result<(), Diagnostics> {
    let workloads = experiment.runs.iter().flat_map(|run| &run.workloads);
    let wanted: BTreeSet<&str> =
        workloads.filter(|workload| workload.task.is_mptcp()).map(|workload| workload.name.as_str()).collect();
    if wanted.is_empty() || is_supported() {
        return Ok(());
    }
    let (table, _) = DeTable::parse_recoverable(&experiment.text);
    let file = read::read(table.get_ref(), 0..0, &FILE, &mut Vec::new());
    let workloads = file.get::<&[(At<String>, Record)]>("workloads").map_or(&[][..], |at| at.value);
    let places = workloads.iter().filter(|(name, _)| wanted.contains(name.value.as_str()));
    let problems = places.filter_map(|(_, record)| record.get::<bool>("mptcp")).map(|at| {
        Problem::at(&at.span, "no multipath TCP on this machine")
            .hint("it needs a kernel with CONFIG_MPTCP, and `sysctl net.mptcp.enabled=1`")
    });
    Err(Diagnostics::new(&experiment.path, &experiment.text, problems.collect()))
}

/// One a place that names it; if none does, it is the default and the file is to name another.
fn problems(experiment: &Experiment, name: &str, available: &[&str]) -> Vec<Problem> {
    let there_are = format!("this kernel has {}", list(available.iter().copied()));
    let hint = match nearest(name, available.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {there_are}"),
        None => there_are,
    };
    let message = format!("no congestion control `{name}` on this machine");
    let (table, _) = DeTable::parse_recoverable(&experiment.text);
    let file = read::read(table.get_ref(), 0..0, &FILE, &mut Vec::new());
    let places: Vec<_> = records(&file)
        .into_iter()
        .filter_map(|record| record.get::<&str>("congestion"))
        .filter(|at| at.value == name)
        .map(|at| Problem::at(&at.span, message.clone()).hint(hint.clone()))
        .collect();
    if places.is_empty() {
        let hint = format!("name another as `congestion` in `[defaults]`; {hint}");
        return vec![Problem::outside(message).hint(hint)];
    }
    places
}

/// The tables of the file that may name one.
fn records(file: &Record) -> Vec<&Record> {
    let defaults = file.get::<&Record>("defaults").map(|at| at.value);
    let workloads = file.get::<&[(At<String>, Record)]>("workloads").map_or(&[][..], |at| at.value);
    defaults.into_iter().chain(workloads.iter().map(|(_, record)| record)).collect()
}
