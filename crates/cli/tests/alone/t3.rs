//! Test T3's findings, on slow links so that they hold on a busy machine, by
//! counts and ratios: on both dataplanes.

use std::process::Command;

use nicteam_record::{Record, Run};
use nicteam_testnet::may_make_networks;

/// Runs T3 and reads its record.
fn t3(dataplane: &str) -> Record {
    let folder = std::env::temp_dir().join(format!("nicteam-t3-{dataplane}-{}", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "run", "t3", "--rate", "20mbit", "--duration", "1500ms", "--json"])
        .args(["--dataplane", dataplane, "--output"])
        .arg(&folder)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Each member's part of what its host's team received, the largest first.
fn received_shares(run: &Run, host: &str) -> Vec<f64> {
    shares(run.members.iter().filter(|member| member.host == host).map(|member| member.rx_bps))
}

/// Each member's part of what its host's team sent, the largest first.
fn sent_shares(run: &Run, host: &str) -> Vec<f64> {
    shares(run.members.iter().filter(|member| member.host == host).map(|member| member.tx_bps))
}

fn shares(parts: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut parts: Vec<f64> = parts.collect();
    let sum: f64 = parts.iter().sum();
    parts.sort_by(|a, b| b.total_cmp(a));
    parts.iter().map(|part| part / sum).collect()
}

#[test]
fn the_published_findings_show() {
    if !may_make_networks() {
        return;
    }
    let mut dataplanes = vec!["packet"];
    match nicteam_dataplane::probe() {
        (nicteam_dataplane::Kind::Bpf, _) => dataplanes.push("bpf"),
        (_, reason) => eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default()),
    }
    // Both at once: links are so slow that a processor is enough.
    let records: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = dataplanes.iter().map(|dataplane| scope.spawn(|| t3(dataplane))).collect();
        running.into_iter().map(|running| running.join().unwrap()).collect()
    });
    for (dataplane, record) in dataplanes.into_iter().zip(records) {
        assert_eq!(record.environment.dataplane, dataplane);
        assert_eq!(record.environment.granularity, "packets");
        let run = |name: &str| record.runs.iter().find(|run| run.name == name).unwrap();
        assert!(record.runs.iter().all(|run| !run.findings.is_empty()), "{dataplane}: the lab found none");
        for name in ["one-connection", "four-connections"] {
            let run = run(name);
            // One of four links, not two; how much of it is left to a busy machine, and a segment
            // that arrives late lets a program read in the window what came before it.
            assert!((0.10..0.35).contains(&run.of_limit), "{dataplane}, {name}: {}", run.of_limit);
            let (sent, received) = (sent_shares(run, "client1"), received_shares(run, "server"));
            assert!(sent[3] > 0.24, "{dataplane}, {name}: sent {sent:?}");
            assert!(received[0] > 0.99, "{dataplane}, {name}: received {received:?}");
        }
        for name in ["one-to-four", "four-to-one"] {
            let run = run(name);
            assert!((0.5..1.01).contains(&run.of_limit), "{dataplane}, {name}: {}", run.of_limit);
        }
        let spread = received_shares(run("four-to-one"), "server");
        assert!(spread[3] > 0.1, "{dataplane}: four to one uses all four links: {spread:?}");
        let unlucky = run("four-to-one-unlucky");
        let received = received_shares(unlucky, "server");
        assert!(unlucky.of_limit < 0.55, "{dataplane}: {}", unlucky.of_limit);
        assert!(received[0] + received[1] > 0.99, "{dataplane}: two links idle: {received:?}");
    }
}
