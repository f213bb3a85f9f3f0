//! What stands on members moves to the team and comes back, and what is in use lives on.

use nicteam_testnet::{assert_becomes, assert_same_network};

use super::{FAR, FAR_V6, NEAR, NEAR_V6, Network, Session, TEAM};
use crate::common::teams::{Probes, may_test_bpf};

/// Mostly none are lost. A break of the way out, however short, loses tens.
const FEW: usize = 3;

/// Counts lost frames at moments that a busy machine would move.
mod quiet {
    use super::*;

    #[test]
    fn sessions_live_on_when_a_team_takes_over_and_gives_back() {
        if !may_test_bpf() {
            return;
        }
        let network = Network::new();
        let before = network.snapshot();
        let ends = ["10.3.0.2:7001".to_owned(), format!("[{FAR_V6}]:7002")];
        let mut sessions = ends.map(|to| Session::new(&network, to.parse().unwrap()));
        let mut live_on = |when: &str| sessions.iter_mut().for_each(|session| session.live_on(when));
        live_on("before");
        let file = network.file("teams.toml", TEAM);
        let check = network.done(&["check", &file]);
        assert!(check.contains("team0: would come up") && check.contains("add 10.3.0.1/24 to team0"), "{check}");
        assert_same_network(&network.snapshot(), &before, "check");

        let there = Probes::new(&network.near.host, NEAR, &network.far, FAR);
        let (lost, sent) = there.lost_during(|| drop(network.done(&["up", &file])));
        assert!(lost.len() <= FEW, "{lost:?} of {sent} on the way out while it came up");
        live_on("up");
        let up = network.snapshot();
        assert!(up.iter().any(|line| line.starts_with("team0") && line.contains("10.3.0.1/24")), "{up:#?}");
        assert!(up.iter().any(|line| line == "default via 10.3.0.2 dev team0"), "{up:#?}");
        assert!(!up.iter().any(|line| line.contains("tentative")), "nobody waits for a duplicate: {up:#?}");
        let said = network.done(&["up", &file]);
        assert!(said.contains("nothing to do"), "{said}");
        assert_same_network(&network.snapshot(), &up, "twice");

        let (lost, sent) = there.lost_during(|| drop(network.done(&["down", "team0"])));
        assert!(lost.len() <= FEW, "{lost:?} of {sent} on the way out while it went down");
        live_on("down");
        assert_becomes(|| network.snapshot(), &before, "down");
        let (code, said) = network.nicteam(&["down", "team0"]);
        assert!(code == 2 && said.contains("no team `team0`"), "{said}");
    }

    #[test]
    fn what_comes_in_is_lost_for_a_moment_at_most() {
        if !may_test_bpf() {
            return;
        }
        let network = Network::new();
        let file = network.file("teams.toml", TEAM);
        let v4 = Probes::new(&network.far, FAR, &network.near.host, NEAR);
        let to_v6 = |address: &str| -> std::net::Ipv6Addr { address.parse().unwrap() };
        for what in [&["up", file.as_str()][..], &["down", "team0"]] {
            let (lost, sent) = v4.lost_during(|| drop(network.done(what)));
            // A busy machine stretches the moment between the first member's joining and the first plan.
            assert!(lost.len() * 2 < sent as usize, "{what:?}: {} of {sent} are lost", lost.len());
            eprintln!("{}: {} of {sent} lost on the way in (IPv4)", what[0], lost.len());
        }
        drop(v4);
        let v6 = Probes::new(&network.far, to_v6(FAR_V6), &network.near.host, to_v6(NEAR_V6));
        for what in [&["up", file.as_str()][..], &["down", "team0"]] {
            let (lost, sent) = v6.lost_during(|| drop(network.done(what)));
            assert!(lost.len() * 2 < sent as usize, "{what:?}: {} of {sent} are lost", lost.len());
            eprintln!("{}: {} of {sent} lost on the way in (IPv6)", what[0], lost.len());
        }
    }
}

#[test]
fn a_changed_file_changes_a_running_team() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let own = "addresses = [\"10.8.0.1/24\"]\nroutes = [\"10.9.0.0/16 via 10.8.0.9\"]\n";
    let file = network.file("teams.toml", &format!("{TEAM}{own}"));
    network.done(&["up", &file]);
    let has = |wanted: &str| network.snapshot().iter().any(|line| line.contains(wanted));
    assert!(has("10.8.0.1/24") && has("10.9.0.0/16 via 10.8.0.9 dev team0"));
    let mut session = Session::new(&network, (FAR, 7003).into());
    network.file("teams.toml", &format!("{TEAM}addresses = [\"10.8.0.2/24\"]\nprimary = \"eth1\"\n"));
    let said = network.done(&["up", &file, "--verbose"]);
    assert!(has("10.8.0.2/24") && !has("10.8.0.1/24") && !has("10.9.0.0/16"), "{said}");
    assert_eq!(network.near.status("team0")["options"]["primary"], "eth1");
    session.live_on("another file");
    let (code, said) = network.nicteam(&["up", &network.file("teams.toml", &TEAM.replace(", \"eth1\"", ""))]);
    assert!(
        code == 1 && said.contains("up with other members: eth0, eth1") && said.contains("nicteam down team0"),
        "{said}"
    );
    // The team's own command restores as much.
    network.near.run(&["del", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "del");
    session.live_on("del");
}
