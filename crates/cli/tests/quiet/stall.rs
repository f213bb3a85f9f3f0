//! 802.3ad while the process of a team is stopped, killed, replaced: on the eBPF
//! dataplane the partner loses nothing meanwhile, and does not wait for ever.

use std::time::Duration;

use crate::common::teams::{Probes, TeamHost, may_test_bpf};
use nicteam_testnet::{Host, cables, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than a partner with the short timeout waits.
const STALL: Duration = Duration::from_secs(5);

/// Two hosts with two cables and a team each, which aggregate.
struct Pair {
    near: TeamHost,
    far: TeamHost,
}

impl Pair {
    /// The near team runs on eBPF with these options, the far one on a dataplane of its own.
    fn new(options: &[&str], far_dataplane: &str) -> Pair {
        let (mut near, mut far) = (Host::quiet(), Host::quiet());
        cables(&mut near, &mut far, 2);
        let (mut near, mut far) = (TeamHost::new(near), TeamHost::new(far));
        let common = ["--mode", "802.3ad", "--members", "eth0,eth1", "-o", "lacp_rate=fast", "-o", "aggregate_wait=0"];
        let spread = ["-o", "miimon=50", "-o", "xmit_hash_policy=layer3+4", "--dataplane"];
        near.run(&[&["add", "team0"], &common[..], &spread, &["bpf"], options].concat());
        far.run(&[&["add", "team0"], &common[..], &spread, &[far_dataplane]].concat());
        near.host.address("team0", &[("10.3.0.1", 24)]);
        far.host.address("team0", &[("10.3.0.2", 24)]);
        let pair = Pair { near, far };
        eventually("both aggregate", || pair.aggregating(&pair.near) == 2 && pair.aggregating(&pair.far) == 2);
        pair
    }

    fn aggregating(&self, host: &TeamHost) -> usize {
        let status = host.status("team0");
        status["members"].as_array().unwrap().iter().filter(|member| member["active"] == true).count()
    }

    /// What LACP told at the far end since it was added.
    fn lacp_events(&self, host: &TeamHost) -> Vec<String> {
        let said = host.run(&["events", "team0"]);
        said.lines().filter(|line| line.contains(" -> ") || line.contains("partner")).map(str::to_owned).collect()
    }

    fn probes(&self) -> Probes {
        Probes::new(&self.near.host, [10, 3, 0, 1], &self.far.host, [10, 3, 0, 2])
    }
}

#[test]
fn a_stopped_process_costs_its_partner_no_port_and_no_frame() {
    if !may_test_bpf() {
        return;
    }
    let pair = Pair::new(&[], "bpf");
    let probes = pair.probes();
    let pid = Pid::from_raw(pair.near.status("team0")["pid"].as_i64().unwrap() as i32);
    let (far, near) = (pair.lacp_events(&pair.far), pair.lacp_events(&pair.near));
    let (lost, sent) = probes.lost_during(|| {
        kill(pid, Signal::SIGSTOP).unwrap();
        std::thread::sleep(STALL);
        kill(pid, Signal::SIGCONT).unwrap();
        eventually("its answer", || pair.aggregating(&pair.near) == 2);
    });
    assert_eq!(lost, [0; 0], "of {sent}");
    assert_eq!(pair.lacp_events(&pair.far), far, "the partner saw something");
    assert_eq!(pair.lacp_events(&pair.near), near, "it saw something itself");
    assert!(pair.near.status("team0")["lacp"]["answered"].as_u64().unwrap() > 0);
    let said = pair.near.run(&["events", "team0"]);
    assert!(said.contains("the process did not run for "), "{said}");
}

#[test]
fn a_killed_process_is_replaced_unnoticed() {
    if !may_test_bpf() {
        return;
    }
    let pair = Pair::new(&[], "packet");
    let probes = pair.probes();
    let far = pair.lacp_events(&pair.far);
    let (lost, sent) = probes.lost_during(|| {
        pair.near.crash("team0");
        // Longer than the partner waits: it is answered meanwhile.
        std::thread::sleep(STALL);
        pair.near.run(&["restart", "team0"]);
        pair.near.run(&["restart", "team0"]);
        assert_eq!(pair.aggregating(&pair.near), 2, "it did not go on where its predecessor was");
        std::thread::sleep(Duration::from_secs(2));
    });
    assert_eq!(lost, [0; 0], "of {sent}");
    assert_eq!(pair.lacp_events(&pair.far), far, "the partner saw something");
    assert!(!pair.lacp_events(&pair.near).iter().any(|event| event.contains("detached")));
}

#[test]
fn a_dead_process_distributes_as_long_as_its_lease_runs() {
    if !may_test_bpf() {
        return;
    }
    let pair = Pair::new(&["-o", "lacp_lease=2000"], "bpf");
    let probes = pair.probes();
    pair.near.crash("team0");
    let left = |events: &[String]| events.iter().filter(|event| event.contains("distributing -> ")).count() >= 2;
    eventually("the partner leaves both ports", || left(&pair.lacp_events(&pair.far)));
    let (lost, sent) = probes.lost_during(|| std::thread::sleep(Duration::from_millis(200)));
    assert!(
        sent > 0 && lost.len() == sent as usize,
        "{} of {sent} frames came by a dead team",
        sent as usize - lost.len()
    );
    pair.near.run(&["restart", "team0"]);
    eventually("both aggregate again", || pair.aggregating(&pair.near) == 2 && pair.aggregating(&pair.far) == 2);
    let met = || probes.lost_during(|| std::thread::sleep(Duration::from_millis(50))).0.is_empty();
    eventually("frames pass again", met);
}
