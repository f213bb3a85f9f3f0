//! Team devices that a user has renamed, or moved into another network namespace.

use std::os::fd::AsFd;

use nicteam_testnet::{Host, assert_reach, cable, datagrams, eventually, may_make_networks};

use super::{cabled, identities, teamed};
use crate::common::teams::{TeamHost, may_test_bpf, own_folder};

fn dataplanes() -> impl Iterator<Item = &'static str> {
    ["bpf", "packet"].into_iter().filter(|dataplane| *dataplane == "packet" || may_test_bpf())
}

fn rename(near: &mut TeamHost, from: &str, to: &str) {
    let index = near.host.index(from);
    near.host.set_up(from, false);
    near.host.netlink.set_name(index, to).unwrap();
    near.host.set_up(to, true);
}

#[test]
fn a_renamed_team_is_known_by_both_names() {
    if !may_make_networks() {
        return;
    }
    for dataplane in dataplanes() {
        let arguments = ["--mode", "active-backup", "--members", "eth0,eth1", "--dataplane", dataplane];
        let (mut near, far) = teamed(&arguments);
        let mut elsewhere = Host::new();
        rename(&mut near, "team0", "lan0");
        near.host.address("lan0", &[]);
        eventually("the new name", || near.status("team0")["device"] == "lan0");
        assert_eq!(near.run(&["list"]), "team0  running; its device is called lan0\n", "{dataplane}");
        let text = near.run(&["show", "lan0"]);
        assert!(text.starts_with("team0: active-backup, ") && text.contains("  device     lan0, renamed"), "{text}");
        let events = near.run(&["events", "lan0"]);
        assert!(events.contains("the team device team0 is called lan0 now"), "{events}");
        near.run(&["set", "lan0", "primary=eth1"]);
        near.run(&["member", "add", "lan0", "eth2"]);
        near.run(&["activate", "lan0", "eth2"]);
        let device = near.host.index("lan0");
        near.host.netlink.set_mtu(device, 1400).unwrap();
        eventually("the members' MTU", || near.host.link("eth2").mtu == 1400);
        near.crash("team0");
        let stopped = near.run(&["list"]);
        assert!(stopped.starts_with("team0  not running") && stopped.ends_with("called lan0\n"), "{stopped}");
        near.run(&["restart", "lan0"]);
        assert_eq!(near.status("lan0")["device"], "lan0", "{dataplane}");
        assert_eq!(near.host.index("lan0"), device, "{dataplane}: the device stays");
        let ends = datagrams((&near.host, ([10, 3, 0, 1], 7000).into()), (&far.host, ([10, 3, 0, 2], 7000).into()));
        assert_reach(&ends, dataplane);
        // A device that has the team's first name now is nobody's business.
        near.crash("team0");
        cable(&mut near.host, "team0", &mut elsewhere, "other");
        near.run(&["restart", "lan0"]);
        near.run(&["del", "lan0"]);
        assert!(near.run(&["list"]).is_empty(), "{dataplane}");
        let stays = near.host.index("team0");
        near.host.netlink.delete(stays).unwrap();
        // The same, with nobody there to hear of it.
        near.run(&[&["add", "team0"][..], &arguments].concat());
        near.crash("team0");
        rename(&mut near, "team0", "lan0");
        near.run(&["del", "lan0"]);
        assert!(near.run(&["list"]).is_empty(), "{dataplane}");
    }
}

#[test]
fn a_team_whose_device_is_moved_away_ends_says_so_and_gives_its_members_back() {
    if !may_make_networks() {
        return;
    }
    for dataplane in dataplanes() {
        let (mut near, _far) = cabled();
        let before = identities(&mut near);
        let elsewhere = Host::new();
        let add = ["add", "team0", "--members", "eth0,eth1", "--dataplane", dataplane];
        let log = own_folder("log").with_extension("txt");
        near.run(&[&add[..], &["--log", log.to_str().unwrap()]].concat());
        let device = near.host.index("team0");
        near.host.netlink.move_to(device, elsewhere.netns.as_fd(), "team0").unwrap();
        eventually("the end of the process", || near.processes().is_empty());
        let told = std::fs::read_to_string(&log).unwrap();
        assert!(told.contains("was moved into another network namespace, so the team has ended"), "{told}");
        std::fs::remove_file(log).unwrap();
        assert_eq!(identities(&mut near), before, "{dataplane}");
        // Moved away while nobody ran it: it does not begin, and can be taken down.
        near.run(&add);
        near.crash("team0");
        let device = near.host.index("team0");
        near.host.netlink.move_to(device, elsewhere.netns.as_fd(), "team0").unwrap();
        let said = near.refuse(1, &["restart", "team0"]);
        assert!(said.contains("moved into another network namespace, where no team can follow it"), "{said}");
        near.run(&["del", "team0"]);
        assert_eq!(identities(&mut near), before, "{dataplane}");
    }
}
