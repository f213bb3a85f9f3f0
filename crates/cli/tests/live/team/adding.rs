//! What is added, and deleted.

use nicteam_testnet::{cable, eventually, may_make_networks};
use serde_json::Value;

use super::{cabled, identities, names};
use crate::common::teams::{may_test_bpf, own_folder};

#[test]
fn a_team_is_added_shown_and_deleted_and_leaves_nothing() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = identities(&mut near);
    near.run(&["add", "team0", "--mode", "active-backup", "--members", "eth0,eth1", "-o", "primary=eth1"]);
    assert_eq!(near.run(&["list"]), "team0  running\n");
    let text = near.run(&["show", "team0"]);
    assert!(text.starts_with("team0: active-backup, carrier, 2 of 2 members up, active eth1\n"), "{text}");
    assert!(text.contains("options    primary=eth1\n"), "{text}");
    let proc = near.run(&["show", "team0", "--format", "proc"]);
    assert!(proc.contains("Primary Slave: eth1 (primary_reselect always)\nCurrently Active Slave: eth1\n"), "{proc}");
    let json = near.status("team0");
    assert_eq!((json["schema"].as_u64(), json["options"]["primary"].as_str()), (Some(1), Some("eth1")));
    assert_eq!(names(&json), ["eth0", "eth1"]);
    let teamdctl: Value = serde_json::from_str(&near.run(&["show", "team0", "--format", "teamdctl"])).unwrap();
    assert_eq!(teamdctl["runner"]["active_port"], "eth1");
    assert_eq!(teamdctl["setup"]["runner_name"], "activebackup");
    assert_eq!(teamdctl["ports"]["eth0"]["link_watches"]["up"], true);
    let view = near.run(&["show", "team0", "--format", "teamdctl-view"]);
    assert!(view.starts_with("setup:\n  runner: activebackup\nports:\n  eth0\n    link watches:\n"), "{view}");
    assert_eq!(near.kept().len(), 1);
    near.run(&["del", "team0"]);
    assert_eq!(identities(&mut near), before);
    assert_eq!(near.kept(), [] as [std::path::PathBuf; 0]);
    assert_eq!(near.run(&["list"]), "");
    eventually("the end of the process", || near.processes().is_empty());
}

#[test]
fn two_namespaces_have_teams_of_one_name() {
    if !may_make_networks() {
        return;
    }
    let (near, far) = cabled();
    near.run(&["add", "team0", "--mode", "broadcast", "--members", "eth0"]);
    far.run(&["add", "team0", "--mode", "balance-xor", "--members", "eth0,eth1"]);
    assert_eq!(near.status("team0")["mode"], "broadcast");
    assert_eq!(far.status("team0")["mode"], "balance-xor");
    near.run(&["del", "team0"]);
    assert_eq!(near.run(&["list"]), "");
    assert_eq!(far.run(&["list"]), "team0  running\n");
}

#[test]
fn a_team_is_deleted_whatever_has_become_of_it() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = identities(&mut near);
    for dataplane in ["bpf", "packet"] {
        if dataplane == "bpf" && !may_test_bpf() {
            continue;
        }
        let add = ["add", "team0", "--members", "eth0,eth1", "--mtu", "1400", "--dataplane", dataplane];
        near.run(&add);
        near.crash("team0");
        near.run(&["del", "team0"]);
        assert_eq!(identities(&mut near), before, "{dataplane}");
        assert_eq!((near.run(&["list"]), near.kept().len()), (String::new(), 0), "{dataplane}");
        // Its device is gone, and so is what was kept of it.
        near.run(&add);
        near.crash("team0");
        let device = near.host.index("team0");
        near.host.netlink.delete(device).unwrap();
        std::fs::write(&near.kept()[0], "no team").unwrap();
        near.run(&["del", "team0"]);
        assert_eq!(identities(&mut near), before, "{dataplane}");
        assert!(near.kept().is_empty(), "{dataplane}");
    }
    near.run(&["add", "team0", "--members", "eth0,eth2"]);
    near.crash("team0");
    let gone = near.host.index("eth2");
    near.host.netlink.delete(gone).unwrap();
    near.run(&["del", "team0"]);
    let rest = identities(&mut near);
    assert!(before.iter().filter(|device| rest.contains(device)).count() == before.len() - 1, "{rest:?}");
    eventually("the end of the processes", || near.processes().is_empty());
}

#[test]
fn what_a_namespace_left_that_is_gone_is_removed_by_the_next_team() {
    if !may_make_networks() {
        return;
    }
    let ((mut near, mut far), (mut third, mut fourth)) = (cabled(), cabled());
    (near.state, third.state) = (far.state.clone(), far.state.clone());
    let add = ["add", "team0", "--members", "eth0", "--dataplane", "packet"];
    for host in [&near, &third] {
        host.run(&add);
        host.crash("team0");
    }
    assert_eq!(far.kept().len(), 2);
    // With its handle goes the namespace, and not what is kept.
    near.state = own_folder("none");
    drop(near);
    // Its cables went, too.
    cable(&mut far.host, "own", &mut fourth.host, "own");
    // The number of the namespace that is gone may be another test's for a moment: then a later team removes it.
    let folders = || std::fs::read_dir(&far.state).unwrap().count();
    eventually("what the gone namespace left is removed", || {
        far.run(&["add", "team1", "--members", "own", "--dataplane", "packet"]);
        let is_removed = folders() == 2;
        if !is_removed {
            far.run(&["del", "team1"]);
        }
        is_removed
    });
    assert_eq!(far.kept().len(), 2, "that of the living namespace stays");
    third.run(&["restart", "team0"]);
    third.run(&["del", "team0"]);
    far.run(&["del", "team1"]);
    assert_eq!(std::fs::read_dir(&far.state).unwrap().count(), 0);
    third.state = own_folder("none");
}
