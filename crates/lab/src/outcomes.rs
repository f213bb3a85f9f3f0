//! What tasks left that is no connection, as their agents told at the end of a run.

use nicteam_record::{Disk, Operations, Probes, Program, Transfer};

use crate::protocol::{Done, Outcomes};
use crate::task::Planned;

/// Of all nodes, in the order of the tasks' numbers; workloads and hosts are named.
pub(crate) fn of_all(answers: Vec<(String, Done)>, planned: &[Planned]) -> Outcomes {
    let mut all = Outcomes::default();
    for (host, Done { outcomes, .. }) in answers {
        all.add(named(outcomes, &host, planned));
    }
    all.programs.sort_by_key(|program| program.index);
    all.operations.sort_by_key(|operations| operations.index);
    all.transfers.sort_by_key(|transfer| transfer.index);
    all.probes.sort_by_key(|probes| probes.index);
    all.disks.sort_by_key(|disk| disk.index);
    all
}

/// What one host told, with its workloads and hosts by name.
fn named(outcomes: Outcomes, host: &str, planned: &[Planned]) -> Outcomes {
    let of = |index: u32| planned.iter().find(|planned| planned.spec.index == index);
    let workload = |index: u32| of(index).map_or_else(String::new, |planned| planned.workload.clone());
    // Who sends the payload, and who gets it.
    let ends = |index: u32| match of(index) {
        Some(Planned { client, server, spec, .. }) if spec.client_sends => (client.clone(), server.clone()),
        Some(Planned { client, server, .. }) => (server.clone(), client.clone()),
        None => (host.to_owned(), String::new()),
    };
    let Outcomes { programs, operations, transfers, probes, disks, notices } = outcomes;
    let program = |it: Program| Program { workload: workload(it.index), host: host.to_owned(), ..it };
    // Who asks is the end that connects, whichever way the payload goes.
    let asked = |index: u32| of(index).map_or_else(|| ends(index), |it| (it.client.clone(), it.server.clone()));
    let operation = |it: Operations| {
        let (from, to) = asked(it.index);
        Operations { workload: workload(it.index), from, to, ..it }
    };
    let transfer = |it: Transfer| {
        let (from, to) = ends(it.index);
        Transfer { workload: workload(it.index), from, to, ..it }
    };
    let probe = |it: Probes| {
        let (from, to) = asked(it.index);
        Probes { workload: workload(it.index), from, to, ..it }
    };
    let disk = |it: Disk| Disk { workload: workload(it.index), host: host.to_owned(), ..it };
    Outcomes {
        programs: programs.into_iter().map(program).collect(),
        operations: operations.into_iter().map(operation).collect(),
        transfers: transfers.into_iter().map(transfer).collect(),
        probes: probes.into_iter().map(probe).collect(),
        disks: disks.into_iter().map(disk).collect(),
        notices,
    }
}
