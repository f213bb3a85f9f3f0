//! Programs of the file that a machine does not have.

use std::collections::BTreeSet;

use toml::de::DeTable;

use crate::sections::FILE;
use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_elements::read;
use nicteam_elements::record::{At, Record};
use nicteam_elements::resolved::Experiment;

/// Debian's packages of programs that measure networks, where the name is another than the program's.
const PACKAGES: &[(&str, &str)] = &[
    ("ab", "apache2-utils"),
    ("curl", "curl"),
    ("fio", "fio"),
    ("iperf", "iperf"),
    ("iperf3", "iperf3"),
    ("nc", "netcat-openbsd"),
    ("ncat", "ncat"),
    ("netperf", "netperf (section non-free)"),
    ("netserver", "netperf (section non-free)"),
    ("nuttcp", "nuttcp"),
    ("ping", "iputils-ping"),
    ("python3", "python3"),
    ("qperf", "qperf"),
    ("socat", "socat"),
    ("sockperf", "sockperf"),
    ("wget", "wget"),
    ("wrk", "wrk"),
];

/// Refuses programs that the picked runs start and the machine does not have.
///
/// # Errors
/// Every place of the file that names such a one.
pub fn check_programs(experiment: &Experiment, is_installed: impl Fn(&str) -> bool) -> Result<(), Diagnostics> {
    let workloads = experiment.runs.iter().flat_map(|run| &run.workloads);
    let lacking: BTreeSet<(&str, &str)> = workloads
        .flat_map(|workload| workload.task.programs().into_iter().map(|program| (workload.name.as_str(), program)))
        .filter(|(_, program)| !is_installed(program))
        .collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let (table, _) = DeTable::parse_recoverable(&experiment.text);
    let file = read::read(table.get_ref(), 0..0, &FILE, &mut Vec::new());
    let workloads = file.get::<&[(At<String>, Record)]>("workloads").map_or(&[][..], |at| at.value);
    let mut problems = Vec::new();
    for (workload, program) in lacking {
        let record = workloads.iter().find(|(name, _)| name.value == workload).map(|(_, record)| record);
        let lines = ["client", "server"].into_iter().filter_map(|key| record?.get::<&str>(key));
        let named = lines.filter(|line| line.value.split_whitespace().next() == Some(program));
        let places: Vec<_> = named.map(|line| Some(line.span)).collect();
        let places = if places.is_empty() { vec![None] } else { places };
        problems.extend(places.into_iter().map(|place| {
            let message = format!("no program `{program}` on this machine");
            let problem = place.map_or_else(|| Problem::outside(message.clone()), |span| Problem::at(&span, &*message));
            problem.hint(hint(program))
        }));
    }
    Err(Diagnostics::new(&experiment.path, &experiment.text, problems))
}

fn hint(program: &str) -> String {
    match PACKAGES.iter().find(|(name, _)| *name == program) {
        Some((_, package)) => format!("Debian and Ubuntu have it in package {package}"),
        None => "install it, or write its whole path".to_owned(),
    }
}
