//! What tasks left that is no connection, as their agents told at the end of a run.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use nicteam_node::protocol::{Done, Notice, Outcomes};
use nicteam_node::task::Planned;
use nicteam_record::{Connection, Disk, Operations, Probes, Program, Transfer};

/// Of all nodes, in the order of the tasks' numbers, workloads and hosts named; and what happened, with the node it happened to.
pub(crate) fn of_all(answers: Vec<(String, Done)>, planned: &[Planned]) -> (Outcomes, Vec<(String, Notice)>) {
    let (mut all, mut notices) = (Outcomes::default(), Vec::new());
    for (host, Done { mut outcomes, .. }) in answers {
        notices.extend(outcomes.notices.drain(..).map(|notice| (host.clone(), notice)));
        all.add(named(outcomes, &host, planned));
    }
    all.programs.sort_by_key(|program| program.index);
    all.operations.sort_by_key(|operations| operations.index);
    all.transfers.sort_by_key(|transfer| transfer.index);
    all.probes.sort_by_key(|probes| probes.index);
    all.disks.sort_by_key(|disk| disk.index);
    (all, notices)
}

/// Names for each path of a disk its connections among those of the run; `tasks` has the task of each by its number.
pub(crate) fn name_connections(disks: &mut [Disk], connections: &[Connection], tasks: &BTreeMap<u32, u32>) {
    let ip = |end: &str| end.parse::<SocketAddr>().map(|end| end.ip().to_string()).unwrap_or_default();
    for disk in disks {
        let own = connections.iter().filter(|it| tasks.get(&it.index) == Some(&disk.index));
        let own: Vec<&Connection> = own.collect();
        for path in &mut disk.paths {
            let is_of = |near: &str, far: &str| ip(near) == path.address && far == path.portal;
            let of_path = own.iter().filter(|it| is_of(&it.src, &it.dst) || is_of(&it.dst, &it.src));
            path.connections = of_path.map(|connection| connection.index).collect();
        }
    }
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
        Transfer { workload: workload(it.index), from, to, by: host.to_owned(), ..it }
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
