//! What stands on members moves to the team and comes back, and what is in use lives on.

use nicteam_testnet::{assert_becomes, assert_same_network, eventually};

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
        let steps = check.split_once("would come up in ").unwrap().1.split_once(" steps").unwrap().0;
        let mut said = String::new();
        let (lost, sent) = there.lost_during(|| said = network.done(&["up", &file]));
        assert!(lost.len() <= FEW, "{lost:?} of {sent} on the way out while it came up");
        assert!(said.contains(&format!("team team0 is up, after {steps} steps")), "{said} {check}");
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
            let most = if what[0] == "up" { sent as usize / 2 } else { FEW };
            assert!(lost.len() <= most, "{what:?}: {lost:?} of {sent} are lost");
            eprintln!("{}: {} of {sent} lost on the way in (IPv4)", what[0], lost.len());
        }
        drop(v4);
        let v6 = Probes::new(&network.far, to_v6(FAR_V6), &network.near.host, to_v6(NEAR_V6));
        for what in [&["up", file.as_str()][..], &["down", "team0"]] {
            let (lost, sent) = v6.lost_during(|| drop(network.done(what)));
            let most = if what[0] == "up" { sent as usize / 2 } else { FEW };
            assert!(lost.len() <= most, "{what:?}: {lost:?} of {sent} are lost");
            eprintln!("{}: {} of {sent} lost on the way in (IPv6)", what[0], lost.len());
        }
    }

    #[test]
    fn ipv6_has_a_way_out_while_a_team_goes_down() {
        if !may_test_bpf() {
            return;
        }
        let network = Network::new();
        let file = network.file("teams.toml", TEAM);
        let [near, far] = [NEAR_V6, FAR_V6].map(|address| address.parse::<std::net::Ipv6Addr>().unwrap());
        network.done(&["up", &file]);
        // The neighbour is one that the team alone has learned.
        let probes = Probes::new(&network.near.host, near, &network.far, far);
        let (lost, sent) = probes.lost_during(|| drop(network.done(&["down", "team0"])));
        assert!(lost.len() <= FEW, "{lost:?} of {sent}");
    }
}

#[test]
fn one_members_link_local_address_is_the_teams() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    network.ip("address add fe80::77/64 dev eth1");
    eventually("addresses", || !network.snapshot().iter().any(|line| line.contains("tentative")));
    let before = network.snapshot();
    let link_local = |device: &str| {
        let line =
            before.iter().find(|line| line.starts_with(device) && line.contains("fe80::") && !line.contains("::77"));
        let line = line.unwrap_or_else(|| panic!("{device} in {before:#?}"));
        line.split([' ', '/']).find(|word| word.starts_with("fe80::")).unwrap().parse::<std::net::Ipv6Addr>().unwrap()
    };
    let (first, second) = (link_local("eth0"), link_local("eth1"));
    let listener = network.near.host.netns.run(|| std::net::TcpListener::bind("[::]:7004")).unwrap().unwrap();
    let device = network.far.netns.run(|| nix::net::if_::if_nametoindex("eth0")).unwrap().unwrap();
    let to = std::net::SocketAddrV6::new(first, 7004, 0, device);
    let _session = network.far.netns.run(|| std::net::TcpStream::connect(to)).unwrap().unwrap();
    let _accepted = listener.accept().unwrap();
    let file = network.file("teams.toml", TEAM);
    let said = network.done(&["check", &file]);
    assert_eq!(said.matches("add the route fe80::/64").count(), 1, "{said}");
    assert!(said.contains("takes over the link-local address of eth0 alone; those of eth1 come back"), "{said}");
    assert!(said.contains(&format!("1 TCP connection uses {first} of eth0, and will end")), "{said}");
    network.done(&["up", &file]);
    let up = network.snapshot();
    let held = |address: &str| up.iter().any(|line| line.starts_with("team0") && line.contains(address));
    assert!(held(&format!("{first}/64")) && held("fe80::77/64"), "{up:#?}");
    assert!(!held(&second.to_string()), "{up:#?}");
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");
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

#[test]
fn the_files_default_route_takes_the_place_of_the_members() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    network.ip("route add default via 10.3.0.2 metric 50");
    let before = network.snapshot();
    let own = format!("{TEAM}routes = [\"default via 10.3.0.9\", \"::/0 via 2001:db8:3::9\"]\n");
    let defaults = || {
        let snapshot = network.snapshot();
        let of = |line: &&String| line.starts_with("default via ") && line.contains("dev team0");
        let mut vias: Vec<String> =
            snapshot.iter().filter(of).map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect();
        vias.sort();
        vias
    };
    let (members, files) = (["10.3.0.2", "10.3.0.2", "2001:db8:3::2"], ["10.3.0.2", "10.3.0.9", "2001:db8:3::9"]);
    let file = network.file("teams.toml", &own);
    let said = network.done(&["check", &file]);
    for route in ["default via 10.3.0.2 over eth0", "default via 2001:db8:3::2 metric 1024 over eth0"] {
        assert!(said.contains(&format!("note: the route {route} does not move to team0")), "{said}");
    }
    assert!(!said.contains("add the route default via 10.3.0.2 over team0"), "{said}");
    assert!(said.contains("add the route default via 10.3.0.2 metric 50 over team0"), "{said}");
    network.done(&["up", &file]);
    // The one with another metric stands behind it.
    assert_eq!(defaults(), files);
    assert!(network.done(&["up", &file]).contains("nothing to do"));
    network.file("teams.toml", TEAM);
    network.done(&["up", &file]);
    assert_eq!(defaults(), members);
    network.file("teams.toml", &own);
    network.done(&["up", &file]);
    assert_eq!(defaults(), files);
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");
}
