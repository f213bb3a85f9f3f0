//! Up, killed, down, again and again under traffic.

use std::sync::atomic::{AtomicBool, Ordering};

use nicteam_testnet::{SetAtEnd, assert_becomes, is_soak};

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
    nicteam_testnet::eventually("addresses", || !network.snapshot().iter().any(|line| line.contains("tentative")));
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
        for round in 0..if is_soak() { 100 } else { 5 } {
            network.done(&["up", &file]);
            network.near.crash("team0");
            if round % 2 == 1 {
                network.near.run(&["restart", "team0"]);
                network.near.crash("team0");
            }
            session.live_on("killed");
            network.done(&["down", "team0"]);
            assert_becomes(|| network.snapshot(), &before, &format!("round {round}"));
            session.live_on("down");
        }
    });
}
