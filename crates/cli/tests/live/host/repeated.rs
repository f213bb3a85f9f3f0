//! Up, killed, down, again and again under traffic.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use nicteam_sys::bpf::{self, Kind, Object};
use nicteam_testnet::{SetAtEnd, assert_becomes, eventually, is_soak};

use super::{FAR, Network, Session, TEAM};
use crate::common::teams::may_test_bpf;

#[test]
fn nothing_is_left_of_a_team_however_often_it_is_killed() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    network.ip("link add link eth0 name mac0 type macvlan mode bridge");
    network.ip("link set mac0 up");
    network.ip("address add 10.4.0.1/24 dev mac0");
    eventually("addresses", || !network.snapshot().iter().any(|line| line.contains("tentative")));
    let before = network.snapshot();
    let mut session = Session::new(&network, (FAR, 7001).into());
    let file = network.file("teams.toml", &format!("{TEAM}addresses = [\"10.8.0.1/24\"]\n"));
    let stop = AtomicBool::new(false);
    let traffic = network.near.host.udp(([0, 0, 0, 0], 0).into());
    std::thread::scope(|scope| {
        let _stop = SetAtEnd(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                // There may be no way for a moment.
                let _ = traffic.send_to(&[0; 1000], (FAR, 9));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let mut loaded = BTreeSet::new();
        for round in 0..if is_soak() { 100 } else { 5 } {
            network.done(&["up", &file]);
            loaded.append(&mut held(&network));
            network.near.crash("team0");
            if round % 2 == 1 {
                network.near.run(&["restart", "team0"]);
                loaded.append(&mut held(&network));
                network.near.crash("team0");
            }
            session.live_on("killed");
            network.done(&["down", "team0"]);
            assert_becomes(|| network.snapshot(), &before, &format!("round {round}"));
            session.live_on("down");
            gone(&loaded, &format!("round {round}"));
            loaded.clear();
        }
    });
}

#[test]
fn a_team_whose_device_somebody_removed_is_named_and_restored() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    network.done(&["up", &network.file("teams.toml", TEAM)]);
    network.ip("link del team0");
    eventually("the end of its process", || network.near.processes().is_empty());
    let (code, said) = network.nicteam(&["team", "show", "team0"]);
    assert!(code == 1 && said.contains("team team0 is gone") && said.contains("`nicteam down team0`"), "{said}");
    let (code, said) = network.nicteam(&["doctor"]);
    assert!(code == 1 && said.contains("cure: nicteam down team0  "), "{said}");
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");
    let (code, said) = network.nicteam(&["team", "show", "team0"]);
    assert!(code == 2 && said.contains("no team `team0`"), "{said}");
}

/// The eBPF programs and maps of the teams here: their processes have all of them open.
fn held(network: &Network) -> BTreeSet<Object> {
    let held: BTreeSet<Object> = network.near.processes().into_iter().flat_map(bpf::held_by).collect();
    for kind in [Kind::Program, Kind::Map] {
        assert!(held.iter().any(|object| object.kind == kind), "{held:?}");
    }
    // Or the end of them could not be seen.
    assert!(held.is_subset(&bpf::objects().unwrap()));
    held
}

/// No process, filter, link or pin has any of them any more; the kernel frees them a moment later.
#[track_caller]
fn gone(loaded: &BTreeSet<Object>, when: &str) {
    let left = || bpf::objects().unwrap().intersection(loaded).copied().collect::<Vec<_>>();
    eventually(&format!("{when}: the end of the team's programs and maps"), || left().is_empty());
}
