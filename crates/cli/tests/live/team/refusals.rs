//! What is refused, and how.

use std::process::Stdio;

use nicteam_testnet::{eventually, may_make_networks};

use super::{cabled, identities, names};

#[test]
fn a_team_that_cannot_be_added_leaves_nothing_and_says_why() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = identities(&mut near);
    let said = near.refuse(2, &["add", "team0", "--members", "eth0,nope"]);
    assert!(said.contains("no device `nope` for team team0 (ENODEV)\nhint: "), "{said}");
    let said = near.refuse(2, &["add", "team0", "--members", "eth0,lo"]);
    assert!(said.contains("no Ethernet address"), "{said}");
    let said = near.refuse(2, &["add", "team0", "--members", "eth0,,eth1"]);
    assert!(said.contains("missing beside a comma"), "{said}");
    let said = near.refuse(2, &["add", "team0", "--members", "eth0", "--mac", "01:00:00:00:00:01"]);
    assert!(said.contains("a group's address"), "{said}");
    let said = near.refuse(2, &["add", "team0", "--members", "eth0", "-o", "miimon"]);
    assert!(said.contains("`miimon` is not NAME=VALUE\nhint: miimon=100"), "{said}");
    let said = near.refuse(2, &["add", "team0", "--members", "eth0", "-o", "miimonn=1"]);
    assert!(said.contains("did you mean `miimon`?"), "{said}");
    let said = near.refuse(1, &["add", "team0", "--members", "eth0", "--log", "/nowhere/team0.log"]);
    assert!(said.contains("/nowhere/team0.log"), "{said}");
    assert_eq!(identities(&mut near), before);
    assert!(near.kept().is_empty() && near.run(&["list"]).is_empty());
    eventually("the end of the processes", || near.processes().is_empty());
}

#[test]
fn refusals_have_a_code_a_number_and_a_hint() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = cabled();
    near.run(&["add", "team0", "--members", "eth0,eth1"]);
    let said = near.refuse(2, &["show", "tean0"]);
    assert!(said.contains("no team `tean0`") && said.contains("(ENODEV)") && said.contains("`team0`"), "{said}");
    let said = near.refuse(1, &["add", "team0", "--members", "eth2"]);
    assert!(said.contains("(EEXIST)"), "{said}");
    let said = near.refuse(1, &["add", "team1", "--members", "eth0"]);
    assert!(said.contains("member of team team0") && said.contains("(EBUSY)"), "{said}");
    let said = near.refuse(1, &["member", "add", "team0", "eth1"]);
    assert!(said.contains("(EEXIST)"), "{said}");
    let said = near.refuse(2, &["member", "del", "team0", "eth2"]);
    assert!(said.contains("its members are eth0, eth1"), "{said}");
    let said = near.refuse(1, &["member", "add", "team0", "team0-dp"]);
    assert!(said.contains("belongs to the team itself"), "{said}");
    let said = near.refuse(2, &["set", "team0", "xmit_hash_polcy=layer2"]);
    assert!(said.contains("(EINVAL)\nhint: did you mean `xmit_hash_policy`?"), "{said}");
    let said = near.refuse(2, &["set", "team0", "primary=eth0"]);
    assert!(
        said.contains("works in modes active-backup, balance-tlb, balance-alb, stripe, ovs-active-backup"),
        "{said}"
    );
    let said = near.refuse(1, &["activate", "team0", "eth0"]);
    assert!(said.contains("(EACCES)"), "{said}");
    near.run(&["member", "del", "team0", "eth0"]);
    let said = near.refuse(1, &["member", "del", "team0", "eth1"]);
    assert!(said.contains("`nicteam team del team0`"), "{said}");
}

#[test]
fn a_device_is_its_teams_whatever_its_alias_says() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = near.host.link("eth1");
    near.run(&["add", "team0", "--members", "eth0,eth1", "--mtu", "1400"]);
    let index = near.host.index("eth1");
    near.host.netlink.set_alias(index, "x").unwrap();
    let said = near.refuse(1, &["add", "team1", "--members", "eth1"]);
    assert!(said.contains("member of team team0") && said.contains("(EBUSY)"), "{said}");
    assert_eq!(names(&near.status("team0")), ["eth0", "eth1"]);
    near.crash("team0");
    near.run(&["del", "team0"]);
    let after = near.host.link("eth1");
    assert_eq!((after.mac, after.mtu, after.all_multicast), (before.mac, before.mtu, before.all_multicast));
    assert_eq!(after.alias, "x", "the user's");
}

#[test]
fn of_two_teams_that_want_one_device_one_gets_it() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = near.host.link("eth0").mac;
    for _ in 0..4 {
        let add = |team: &str| {
            let mut command = near.command(&["add", team, "--members", "eth0", "--dataplane", "packet"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children = ["one", "two"].map(add);
        let outputs = children.map(|child| child.wait_with_output().unwrap());
        let winners: Vec<bool> = outputs.iter().map(|output| output.status.success()).collect();
        assert_eq!(winners.iter().filter(|won| **won).count(), 1, "{outputs:?}");
        let (winner, loser) = if winners[0] { ("one", &outputs[1]) } else { ("two", &outputs[0]) };
        let said = String::from_utf8_lossy(&loser.stderr);
        assert!(said.contains("`eth0` is a member of team") && said.contains("(EBUSY)"), "{said}");
        near.run(&["del", winner]);
        assert_eq!(near.host.link("eth0").mac, before);
    }
}
