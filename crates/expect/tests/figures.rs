//! Values of figures.

use nicteam_expect::{FIGURES, Figure, NAMES, Part, reference};
use nicteam_record::{Datagrams, Fault, Histogram, MacMoves, Operations, Probes, Stall, Transfer};

use crate::common::{connection, run};

fn value(run: &nicteam_record::Run, figure: &str, part: &Part) -> Option<f64> {
    Figure::named(figure).unwrap().value(run, part)
}

#[test]
fn names_are_those_of_the_figures_and_none_is_twice() {
    let mut sorted = NAMES.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), FIGURES.len());
    assert!(FIGURES.iter().zip(NAMES).all(|(figure, name)| figure.name == name));
    assert!(NAMES.iter().all(|name| reference().contains(&format!("| `{name}` | "))));
    assert!(Figure::named("of_limt").is_none());
}

#[test]
fn a_run_without_tasks_has_no_figures_of_tasks() {
    let run = run("empty", 5e8);
    let has = |figure: &str| value(&run, figure, &Part::default());
    assert_eq!((has("delivered_bps"), has("of_limit")), (Some(5e8), Some(0.5)));
    for figure in ["latency_p99_us", "probes_lost", "stall_ms", "verified_bytes", "jain", "retransmitted", "took_ms"] {
        assert_eq!(has(figure), None, "{figure}");
    }
    assert_eq!(value(&run, "delivered_bps", &Part::of_workload("other")), None);
    let unlimited = nicteam_record::Run { limit_bps: 0.0, ..run };
    assert_eq!(value(&unlimited, "of_limit", &Part::default()), None);
}

#[test]
fn connections_are_summed_by_workload_and_by_client() {
    let mut run = run("shared", 9e8);
    run.connections = vec![
        connection("bulk", "server", "main", 4e8),
        connection("bulk", "laptop", "server", 2e8),
        connection("web", "server", "laptop", 3e8),
    ];
    let of = |figure: &str, part: &Part| value(&run, figure, part);
    assert_eq!(of("delivered_bps", &Part::of_workload("bulk")), Some(6e8));
    assert_eq!(of("download_bps", &Part::of_host("main")), Some(4e8));
    assert_eq!(of("upload_bps", &Part::of_host("laptop")), Some(2e8));
    assert_eq!(of("download_bps", &Part::default()), Some(7e8));
    assert_eq!(of("download_bps", &Part::of_host("nobody")), None);
    assert_eq!(of("retransmitted", &Part::default()), Some(0.05));
    let jain = of("jain", &Part::default()).unwrap();
    assert!((jain - 81.0 / 82.0).abs() < 1e-9, "(4 + 5)^2 / (2 (16 + 25)): {jain}");
    assert_eq!(of("jain_connections", &Part::of_workload("web")), None, "one connection shares with none");
}

#[test]
fn tasks_of_a_workload_are_taken_together() {
    let mut run = run("tasks", 0.0);
    let histogram = |times: &[u64]| {
        let mut histogram = Histogram::default();
        times.iter().for_each(|us| histogram.add(*us));
        histogram
    };
    let stall = |took_ms| Some(Stall { from_ms: 0.0, took_ms });
    let operations = |workload: &str, times: &[u64], took_ms| Operations {
        workload: workload.to_owned(),
        rate_per_s: 10.0,
        errors: 1,
        latency: histogram(times),
        stall: stall(took_ms),
        ..Operations::default()
    };
    run.operations =
        vec![operations("web", &[10; 98], 5.0), operations("web", &[10, 9000], 9.0), operations("disk", &[7], 7.0)];
    let web = Part::of_workload("web");
    assert_eq!(value(&run, "latency_p50_us", &web), Some(10.0));
    assert_eq!(value(&run, "latency_p99_us", &web), Some(10.0), "99 of its 100 requests took 10 us");
    assert_eq!(value(&run, "rate_per_s", &web), Some(20.0));
    assert_eq!(value(&run, "errors", &Part::default()), Some(3.0));
    assert_eq!(value(&run, "stall_ms", &web), Some(9.0));
    let probes = |lost, longest_silence_ms| Probes { lost, longest_silence_ms, ..Probes::default() };
    run.probes = vec![probes(1, 30.0), probes(2, 20.0)];
    let mut datagrams = connection("udp", "a", "b", 1.0);
    datagrams.datagrams = Some(Datagrams { lost: 4, longest_silence_us: 50_000, ..Datagrams::default() });
    run.connections.push(datagrams);
    assert_eq!(value(&run, "probes_lost", &Part::default()), Some(3.0));
    assert_eq!(value(&run, "datagrams_lost", &Part::default()), Some(4.0));
    assert_eq!(value(&run, "longest_silence_ms", &Part::default()), Some(50.0));
    run.mac_moves = vec![MacMoves { moves: 3, ..MacMoves::default() }, MacMoves { moves: 4, ..MacMoves::default() }];
    assert_eq!(value(&run, "mac_moves", &Part::default()), Some(7.0));
}

#[test]
fn a_copy_that_is_wrong_or_did_not_end_has_no_figure_to_be_proud_of() {
    let mut run = run("copies", 0.0);
    let copy = |took_ms, wrong_at| Transfer {
        bytes: 1000,
        took_ms,
        program_ms: took_ms,
        verified_bytes: 1000,
        wrong_at,
        ..Transfer::default()
    };
    run.transfers = vec![copy(Some(100.0), None), copy(Some(200.0), None)];
    let of = |run: &nicteam_record::Run, figure: &str| value(run, figure, &Part::default());
    assert_eq!((of(&run, "took_ms"), of(&run, "verified_bytes")), (Some(200.0), Some(2000.0)));
    assert_eq!(of(&run, "program_bps"), Some(80_000.0 + 40_000.0));
    run.transfers[0].wrong_at = Some(7);
    assert_eq!(of(&run, "verified_bytes"), Some(0.0));
    run.transfers[1] = copy(None, None);
    assert_eq!((of(&run, "took_ms"), of(&run, "program_bps")), (None, None));
}

#[test]
fn the_worst_fault_is_the_figure() {
    let fault = |t_ms, before_bps, full_share_ms, silence_ms, lost| Fault {
        t_ms,
        until_ms: 4000.0,
        before_bps,
        full_share_ms,
        silence_ms,
        lost,
        ..Fault::default()
    };
    let of = |run: &nicteam_record::Run, name: &str| value(run, name, &Part::default());
    let mut run = run("r", 1e6);
    let names = ["fault_silence_ms", "fault_lost", "time_to_full_share_ms"];
    assert_eq!(names.map(|name| of(&run, name)), [None; 3], "no fault");
    run.faults = vec![
        fault(1000.0, Some(1e6), Some(250.0), Some(30.0), Some(3)),
        fault(2000.0, Some(1e6), Some(0.0), Some(70.0), Some(4)),
    ];
    assert_eq!(names.map(|name| of(&run, name)), [Some(70.0), Some(7.0), Some(250.0)]);
    // The share does not come back: at least the rest of the run.
    run.faults.push(fault(3000.0, Some(1e6), None, None, None));
    assert_eq!(names.map(|name| of(&run, name)), [Some(70.0), Some(7.0), Some(1000.0)]);
    // Nothing was sent before: nothing can come back.
    run.faults = vec![fault(0.0, None, None, None, None)];
    assert_eq!(of(&run, "time_to_full_share_ms"), None);
}

#[test]
fn the_slower_of_two_ways_and_the_busiest_link_are_parts() {
    let mut run = run("ways", 9e8);
    run.connections = vec![connection("one", "a", "b", 3e8), connection("back", "b", "a", 4e8)];
    let of = |run: &nicteam_record::Run, figure: &str, part: &Part| value(run, figure, part);
    assert_eq!(of(&run, "slower_way", &Part::default()), Some(0.6), "3e8 of half of 1e9");
    let member = |host: &str, name: &str, tx_bps: f64| {
        let value = serde_json::json!({
            "host": host, "team": "team0", "member": name, "tx_bps": tx_bps, "rx_bps": 0.0, "tx_frames": 0, "rx_frames": 0,
            "tx_drops": 0, "rx_drops": 0,
        });
        serde_json::from_value::<nicteam_record::Member>(value).unwrap()
    };
    run.members = vec![member("a", "eth0", 3e8), member("a", "eth1", 1e8), member("b", "eth0", 4e8)];
    assert_eq!(of(&run, "busiest_link_sent", &Part::of_host("a")), Some(0.75));
    assert_eq!(of(&run, "busiest_link_sent", &Part::default()), Some(1.0), "b has one link");
    assert_eq!(of(&run, "busiest_link_received", &Part::default()), None, "nothing was received");
    run.connections.truncate(1);
    assert_eq!(of(&run, "slower_way", &Part::default()), None, "one way has no slower one");
    run.cpu.busy = 0.45;
    assert_eq!(of(&run, "cpu_busy_per_gbit", &Part::default()), Some(0.5));
}
