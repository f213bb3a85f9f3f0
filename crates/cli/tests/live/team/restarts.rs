//! Changes and restarts, most of them under traffic.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use nicteam_testnet::{assert_reach, cable, datagrams, eventually, may_make_networks};
use serde_json::Value;

use super::{cabled, identities, names, probes, teamed};
use crate::common::teams::may_test_bpf;

#[test]
fn everything_changes_under_traffic_without_losing_a_frame() {
    if !may_test_bpf() {
        return;
    }
    let (near, far) = teamed(&["--mode", "balance-xor", "--members", "eth0,eth1"]);
    let probes = probes(&near, &far);
    let changes: [&[&str]; 10] = [
        &["set", "team0", "xmit_hash_policy=layer3+4"],
        &["set", "team0", "xmit_hash_policy=layer2+3", "miimon=20"],
        &["set", "team0", "mode=active-backup", "primary=eth1"],
        &["set", "team0", "primary=eth0", "primary_reselect=failure"],
        &["activate", "team0", "eth1"],
        &["set", "team0", "mode=balance-rr", "primary=", "packets_per_slave=3"],
        &["member", "add", "team0", "eth2"],
        &["member", "del", "team0", "eth1"],
        &["set", "team0", "packets_per_slave=1", "mode=balance-xor", "xmit_hash_policy=layer3+4"],
        &["member", "add", "team0", "eth1"],
    ];
    for change in changes {
        let (lost, sent) = probes.lost_during(|| drop(near.run(change)));
        assert_eq!(lost, [] as [u32; 0], "{change:?}: of {sent}");
        assert!(sent > 0);
    }
    let status = near.status("team0");
    assert_eq!(names(&status), ["eth0", "eth1", "eth2"]);
    assert_eq!(status["options"]["xmit_hash_policy"], "layer3+4");
    let carried = |n: usize| status["members"][n]["tx_frames"].as_u64().unwrap();
    assert!((0..3).all(|n| carried(n) > 0), "{status}");
}

#[test]
fn a_crashed_team_is_taken_over_with_what_was_set_and_loses_no_frame() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, far) = teamed(&["--mode", "balance-rr", "--members", "eth0,eth1", "-o", "miimon=50"]);
    near.run(&["member", "add", "team0", "eth2"]);
    near.run(&["member", "del", "team0", "eth0"]);
    near.run(&["set", "team0", "mode=balance-xor", "xmit_hash_policy=layer3+4", "updelay=150"]);
    let (before, index) = (near.status("team0"), near.host.index("team0"));
    let probes = probes(&near, &far);
    let (lost, _) = probes.lost_during(|| {
        near.crash("team0");
        assert!(near.run(&["list"]).starts_with("team0  not running"));
        let said = near.refuse(1, &["show", "team0"]);
        assert!(said.contains("`nicteam team restart team0`"), "{said}");
        near.run(&["restart", "team0"]);
    });
    assert_eq!(lost, [] as [u32; 0]);
    let after = near.status("team0");
    assert_eq!(after["options"], before["options"]);
    let kept = |status: &Value| {
        let member = |m: &Value| (m["place"].as_u64(), m["name"].clone(), m["permanent_mac"].clone());
        status["members"].as_array().unwrap().iter().map(member).collect::<Vec<_>>()
    };
    assert_eq!(kept(&after), kept(&before));
    assert_eq!((near.host.index("team0"), after["mac"].clone()), (index, before["mac"].clone()));
    assert_ne!(after["pid"], before["pid"]);
    // A running one is replaced as smoothly.
    let (lost, _) = probes.lost_during(|| drop(near.run(&["restart", "--all"])));
    assert_eq!(lost, [] as [u32; 0]);
    assert_ne!(near.status("team0")["pid"], after["pid"]);
    near.run(&["del", "team0"]);
    assert!(near.kept().is_empty());
}

#[test]
fn a_packet_team_is_added_changed_and_taken_over() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = identities(&mut near);
    near.run(&["add", "team0", "--members", "eth0,eth1", "--dataplane", "packet"]);
    near.run(&["set", "team0", "mode=broadcast"]);
    near.run(&["member", "add", "team0", "eth2"]);
    near.crash("team0");
    near.run(&["restart", "team0"]);
    let status = near.status("team0");
    assert_eq!((status["dataplane"].as_str(), status["mode"].as_str()), (Some("packet"), Some("broadcast")));
    assert_eq!(names(&status), ["eth0", "eth1", "eth2"]);
    near.run(&["del", "team0"]);
    assert_eq!(identities(&mut near), before);
}

#[test]
fn a_failed_start_leaves_the_team_that_it_found() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, far) = teamed(&["--mode", "balance-xor", "--members", "eth0,eth1"]);
    let (index, probes) = (near.host.index("team0"), probes(&near, &far));
    near.crash("team0");
    // Nothing can listen where a folder is.
    let control = near.kept()[0].with_extension("control");
    std::fs::remove_file(&control).unwrap();
    std::fs::create_dir(&control).unwrap();
    let (lost, _) = probes.lost_during(|| {
        let said = near.refuse(1, &["restart", "team0"]);
        assert!(said.contains("team0.control"), "{said}");
        let said = near.refuse(1, &["add", "team0", "--members", "eth0,eth1"]);
        assert!(said.contains("team0.control"), "{said}");
    });
    assert_eq!((lost, near.host.index("team0")), (vec![], index), "the dataplane goes on");
    std::fs::remove_dir(&control).unwrap();
    near.run(&["restart", "team0"]);
    assert_eq!(near.host.index("team0"), index);
}

#[test]
fn a_team_goes_on_without_a_member_that_is_gone_and_takes_it_in_again() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, mut far) = teamed(&["--mode", "active-backup", "--members", "eth0,eth1", "-o", "miimon=10"]);
    let probes = probes(&near, &far);
    near.crash("team0");
    let gone = near.host.index("eth1");
    near.host.netlink.delete(gone).unwrap();
    let (lost, _) = probes.lost_during(|| drop(near.run(&["restart", "team0"])));
    assert_eq!(lost, [] as [u32; 0]);
    let status = near.status("team0");
    assert_eq!((names(&status), &status["missing"][0]), (vec!["eth0"], &Value::from("eth1")));
    let text = near.run(&["show", "team0"]);
    assert!(text.contains("problem    member eth1 is missing: no device `eth1`"), "{text}");
    // Nothing is forgotten by another restart.
    near.run(&["restart", "team0"]);
    cable(&mut near.host, "eth1", &mut far.host, "again");
    eventually("the member's return", || names(&near.status("team0")) == ["eth0", "eth1"]);
    let status = near.status("team0");
    assert_eq!((status["members"][1]["place"].as_u64(), status.get("missing")), (Some(1), None));
    let events = near.run(&["events", "team0"]);
    assert!(events.contains("member eth1 is missing") && events.contains("member eth1 joined"), "{events}");
    // One that is called otherwise is the same device.
    near.run(&["set", "team0", "primary=eth1"]);
    near.crash("team0");
    near.host.set_up("eth1", false);
    let index = near.host.index("eth1");
    near.host.netlink.set_name(index, "uplink").unwrap();
    near.run(&["restart", "team0"]);
    let status = near.status("team0");
    assert_eq!((names(&status), &status["options"]["primary"]), (vec!["eth0", "uplink"], &Value::from("uplink")));
    // And one that nobody waits for is given up.
    near.crash("team0");
    near.host.netlink.delete(index).unwrap();
    near.run(&["restart", "team0"]);
    near.run(&["member", "del", "team0", "uplink"]);
    assert_eq!(near.status("team0").get("missing"), None);
}

#[test]
fn a_renamed_member_is_found_again_after_a_crash() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    near.run(&["add", "team0", "--mode", "active-backup", "--members", "eth0,eth1", "-o", "primary=eth1"]);
    let index = near.host.index("eth1");
    near.host.set_up("eth1", false);
    near.host.netlink.set_name(index, "uplink").unwrap();
    near.host.set_up("uplink", true);
    eventually("the new name", || near.status("team0")["options"]["primary"] == "uplink");
    near.crash("team0");
    near.run(&["restart", "team0"]);
    eventually("the primary's return", || near.status("team0")["active"] == "uplink");
}

#[test]
fn connections_keep_their_members_in_open_vswitchs_modes() {
    if !may_test_bpf() {
        return;
    }
    for options in
        [&["--mode", "balance-slb"][..], &["--mode", "balance-tcp", "-o", "lacp=active", "-o", "lacp-time=fast"]]
    {
        let (mut near, mut far) = cabled();
        let add = [&["add", "team0", "--members", "eth0,eth1,eth2"], options].concat();
        near.run(&add);
        far.run(&add);
        near.host.address("team0", &[("10.3.0.1", 24)]);
        far.host.address("team0", &[("10.3.0.2", 24)]);
        eventually("members that send", || {
            [&near, &far].iter().all(|host| {
                let status = host.status("team0");
                status["members"].as_array().unwrap().iter().all(|member| member["active"] == true)
            })
        });
        let address = |host: u8, port: u16| SocketAddr::from(([10, 3, 0, host], port));
        let flows: Vec<_> =
            (7400..7424).map(|port| datagrams((&near.host, address(1, port)), (&far.host, address(2, port)))).collect();
        let member_by_bucket = || {
            flows.iter().for_each(|flow| assert_reach(flow, "a flow"));
            let status = near.status("team0");
            let members = status["openvswitch"]["members"].as_array().unwrap().clone();
            let buckets = members.iter().flat_map(|member| {
                let buckets = member["buckets"].as_array().unwrap().clone().into_iter();
                buckets.map(|load| (load["bucket"].as_u64().unwrap(), member["name"].clone()))
            });
            buckets.collect::<BTreeMap<u64, Value>>()
        };
        let before = member_by_bucket();
        let probes = probes(&near, &far);
        let (lost, _) = probes.lost_during(|| drop(near.run(&["restart", "team0"])));
        assert_eq!(lost, [] as [u32; 0], "{options:?}");
        // Once all members send again.
        let sends =
            || near.status("team0")["members"].as_array().unwrap().iter().all(|member| member["active"] == true);
        eventually("members that send", sends);
        let after = member_by_bucket();
        // ARP, say, was sent before alone.
        let both: Vec<_> = after.iter().filter(|(bucket, _)| before.contains_key(bucket)).collect();
        assert!(!both.is_empty());
        assert!(both.iter().all(|(bucket, member)| before[*bucket] == **member), "{options:?}: {before:?} {after:?}");
    }
}
