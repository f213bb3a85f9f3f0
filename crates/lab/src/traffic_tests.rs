//! Tests of throughput in SoftEther's scheme: our own, counted by their connections; SoftEther's, by the table that its
//! client printed.

use nicteam_experiment::{Run, Tested, Workload};
use nicteam_node::task::Planned;
use nicteam_record::{self as record, Connection, Program};

/// Those of a run.
pub(crate) fn of_run(
    run: &Run,
    planned: &[Planned],
    connections: &[Connection],
    programs: &[Program],
    measured_ms: f64,
) -> Vec<record::TrafficTest> {
    let mut tests = Vec::new();
    for workload in &run.workloads {
        let Some(test) = workload.task.tested() else { continue };
        for (client, server) in &workload.pairs {
            let first = planned.iter().find(|planned| {
                planned.workload == workload.name && planned.client == *client && planned.server == *server
            });
            let Some(index) = first.map(|planned| planned.spec.index) else { continue };
            let counted = match test.by_softether {
                true => by_table(programs.iter().find(|program| program.index == index && program.host == *client)),
                false => Some(by_connections(workload, test, (client, server), connections, measured_ms)),
            };
            let Some((span_ms, download_bytes, upload_bytes)) = counted else { continue };
            tests.push(record::TrafficTest {
                workload: workload.name.clone(),
                index,
                from: client.clone(),
                to: server.clone(),
                by: if test.by_softether { "softether" } else { "nicteam" }.to_owned(),
                connections: test.connections,
                ethernet_frames: test.ethernet_frames,
                span_ms,
                download_bytes,
                upload_bytes,
            });
        }
    }
    tests
}

/// Span, and bytes down and up.
type Counted = (f64, u64, u64);

/// As the connections of a pair of hosts carried it in the measured window.
fn by_connections(
    workload: &Workload,
    test: Tested,
    (client, server): (&str, &str),
    connections: &[Connection],
    measured_ms: f64,
) -> Counted {
    let bytes = |from: &str, to: &str| {
        let own = connections.iter().filter(|it| it.workload == workload.name && it.from == from && it.to == to);
        let payload: f64 = own.map(|it| it.delivered_bps * measured_ms / 8e3).sum();
        record::TrafficTest::counted(payload, test.ethernet_frames)
    };
    (measured_ms, bytes(server, client), bytes(client, server))
}

/// As SoftEther's client says it; none if it did not come to that.
fn by_table(program: Option<&Program>) -> Option<Counted> {
    record::TrafficTest::read_table(program?.last_lines.iter().map(String::as_str))
}
