//! Events, logs and a team in the foreground.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nicteam_testnet::{eventually, may_make_networks};
use serde_json::Value;

use super::{cabled, identities};
use crate::common::teams::{Killed, own_folder};

#[test]
fn events_are_kept_and_followed() {
    if !may_make_networks() {
        return;
    }
    let (near, mut far) = cabled();
    near.run(&["add", "team0", "--mode", "active-backup", "--members", "eth0,eth1", "-o", "miimon=10"]);
    let mut follow = near.command(&["events", "team0", "--follow", "--json"]);
    let mut follower = Killed(follow.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(follower.0.stdout.take().unwrap()).lines();
    let mut until = |what: &dyn Fn(&Value) -> bool| {
        let mut numbers = Vec::new();
        for line in lines.by_ref() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            numbers.push(event["number"].as_u64().unwrap());
            if what(&event) {
                return numbers;
            }
        }
        panic!("the followed events ended");
    };
    let mut numbers = until(&|event| event["event"] == "started");
    far.host.set_up("eth0", false);
    numbers.extend(until(&|event| event["event"] == "active" && event["to"] == "eth1"));
    near.run(&["set", "team0", "miimon=20"]);
    numbers.extend(until(&|event| event["event"] == "options" && event["changed"][0]["to"] == "20"));
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
    let kept = near.run(&["events", "team0"]);
    for words in ["started", "member eth0: up -> down", "active member: eth0 -> eth1", "options: miimon 10 -> 20"] {
        assert!(kept.contains(words), "{words}: {kept}");
    }
    near.run(&["del", "team0"]);
    assert!(follower.0.wait().unwrap().success(), "following ends with the team");
}

#[test]
fn a_team_in_the_foreground_is_controlled_alike() {
    if !may_make_networks() {
        return;
    }
    let (mut near, _far) = cabled();
    let before = identities(&mut near);
    let mut run = near.command(&["run", "team0", "--members", "eth0,eth1"]);
    let mut process = Killed(run.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(process.0.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains(" runs on the ")));
    near.run(&["set", "team0", "mode=broadcast"]);
    assert_eq!(near.status("team0")["mode"], "broadcast");
    near.run(&["del", "team0"]);
    assert!(process.0.wait().unwrap().success());
    assert_eq!(identities(&mut near), before);
}

#[test]
fn what_happens_is_logged_and_problems_are_named() {
    if !may_make_networks() {
        return;
    }
    let (near, mut far) = cabled();
    let log = own_folder("log");
    near.run(&["add", "team0", "--members", "eth0,eth1", "-o", "min_links=2", "--log", log.to_str().unwrap()]);
    far.host.set_up("eth1", false);
    eventually("the loss of carrier", || near.status("team0")["carrier"] == false);
    let text = near.run(&["show"]);
    assert!(text.contains("team0: balance-rr, NO CARRIER, 1 of 2 members up\n"), "{text}");
    assert!(text.contains("problem    1 of 2 members are up and min_links is 2, so team0 has no carrier\n"), "{text}");
    assert!(text.contains("problem    member eth1 has no carrier\n             hint: look at its cable"), "{text}");
    let logged = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert!(logged.contains("member eth1: up -> down") && logged.contains("no carrier"), "{logged}");
}
