//! What a team was told, recorded and replayed: `team record`, `team replay`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use nicteam_testnet::{eventually, may_make_networks};
use serde_json::Value;

use super::{cabled, names};
use crate::common::teams::{TeamHost, own_folder};

const KEY: &str = "a-key-that-nobody-may-find";

/// Records a team and replays it: all as recorded.
fn recorded(host: &TeamHost, file: &Path) -> Value {
    let file = file.to_str().unwrap();
    host.run(&["record", "team0", "-o", file]);
    let said = host.run(&["replay", file]);
    assert!(said.contains(" entries until ") && said.ends_with(" plans: all as recorded\n"), "{said}");
    serde_json::from_str(&host.run(&["replay", file, "--json"])).unwrap()
}

#[test]
fn a_teams_course_is_replayed() {
    if !may_make_networks() {
        return;
    }
    let folder = own_folder("replays");
    fs::create_dir(&folder).unwrap();
    let modes: [&[&str]; 3] = [
        &["--mode", "active-backup", "-o", "miimon=10", "-o", "primary=eth0"],
        &["--mode", "802.3ad", "-o", "lacp_rate=fast", "-o", "miimon=10"],
        &["--mode", "stripe", "-o", &format!("stripe_key={KEY}")],
    ];
    for (number, arguments) in modes.into_iter().enumerate() {
        let (mut near, mut far) = cabled();
        for host in [&near, &far] {
            host.run(&[&["add", "team0", "--members", "eth0,eth1"], arguments].concat());
        }
        near.host.address("team0", &[("10.3.0.1", 24)]);
        eventually("a carrier", || near.status("team0")["carrier"] == true);
        for up in [false, true] {
            far.host.set_up("eth0", up);
            let state = if up { "up" } else { "down" };
            eventually("what becomes of it", || near.status("team0")["members"][0]["state"] == state);
        }
        near.run(&["member", "add", "team0", "eth2"]);
        near.run(&["set", "team0", "num_grat_arp=3"]);
        near.run(&["member", "del", "team0", "eth1"]);
        sleep(Duration::from_millis(200));
        let file = folder.join(number.to_string());
        let outcome = recorded(&near, &file);
        assert!(outcome["same"] == true && outcome["ending"] == "whole", "{outcome}");
        assert!(outcome["plans"].as_u64().unwrap() > 3 && outcome["entries"].as_u64().unwrap() > 50, "{outcome}");
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(8).any(|part| part == &KEY.as_bytes()[8..16]), "a key");
        let shown = near.run(&["replay", file.to_str().unwrap(), "--show"]);
        for words in [
            "nicteam: ",
            "kernel: ",
            "member eth0: driver ",
            "team show:\nteam0: ",
            "eth2 joins as m2",
            " a deadline\n",
            "-> plan 1: ",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        for host in [&near, &far] {
            host.run(&["del", "team0"]);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_process_that_took_over_has_its_own_recording() {
    if !may_make_networks() {
        return;
    }
    let (near, far) = cabled();
    for host in [&near, &far] {
        host.run(&["add", "team0", "--mode", "802.3ad", "--members", "eth0,eth1", "-o", "lacp_rate=fast"]);
    }
    eventually("a carrier", || near.status("team0")["carrier"] == true);
    let folder = own_folder("taken-over");
    fs::create_dir(&folder).unwrap();
    let saved = folder.join("saved");
    let said = near.refuse(1, &["record", "team0", "--former", "-o", saved.to_str().unwrap()]);
    assert!(said.contains("no process that ran team0 before this one"), "{said}");
    // What was told is saved a second later.
    let is_saved = |path: &Path, arguments: &[&str]| {
        let _ = fs::remove_file(path);
        let written = near.output(&[arguments, &["-o", path.to_str().unwrap()]].concat());
        let shown = || near.run(&["replay", path.to_str().unwrap(), "--show"]);
        written.status.success() && shown().contains(" all members have joined\n")
    };
    let tried = folder.join("tried");
    eventually("enough for a report", || {
        let _ = fs::remove_file(&tried);
        near.run(&["record", "team0", "-o", tried.to_str().unwrap()]);
        let outcome: Value = serde_json::from_str(&near.run(&["replay", tried.to_str().unwrap(), "--json"])).unwrap();
        outcome["entries"].as_u64().unwrap() > 100
    });
    sleep(Duration::from_millis(2500));
    near.crash("team0");
    let saved_of = |arguments: &[&str], name: &str| {
        let path = folder.join(name);
        assert!(is_saved(&path, arguments), "{arguments:?}");
        let outcome: Value = serde_json::from_str(&near.run(&["replay", path.to_str().unwrap(), "--json"])).unwrap();
        assert!(outcome["same"] == true && outcome["ending"] == "cut off", "{outcome}");
        let told = near.output(&["replay", path.to_str().unwrap()]).stderr;
        assert!(String::from_utf8_lossy(&told).contains(" is cut off; replayed is what was before"), "{told:?}");
        assert!(outcome["entries"].as_u64().unwrap() > 50, "{outcome}");
        fs::read(&path).unwrap()
    };
    let killed = saved_of(&["record", "team0"], "killed");
    near.run(&["restart", "team0"]);
    assert_eq!(names(&near.status("team0")), ["eth0", "eth1"]);
    eventually("the files of the process before", || is_saved(&folder.join("tried"), &["record", "team0", "--former"]));
    assert_eq!(saved_of(&["record", "team0", "--former"], "former"), killed);
    let file = folder.join("own");
    let outcome = recorded(&near, &file);
    assert_eq!(outcome["same"], true);
    let shown = near.run(&["replay", file.to_str().unwrap(), "--show"]);
    assert!(shown.contains(" all members have joined\n"), "{shown}");
    near.run(&["del", "team0"]);
    eventually("the end of all files", || {
        let folders = fs::read_dir(&near.state).into_iter().flatten().flatten();
        folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten()).next().is_none()
    });
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_replayed_is_refused_or_told() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = cabled();
    let folder = own_folder("refused");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("team0.record");
    let file = path.to_str().unwrap();
    near.run(&["add", "team0", "--members", "eth0,eth1"]);
    near.run(&["record", "team0", "-o", file]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let said = near.refuse(1, &["record", "team0", "-o", file]);
    assert!(said.contains("is there already\nhint: -o names another file"), "{said}");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    // So few entries are one block.
    let said = near.refuse(2, &["replay", file]);
    assert!(said.contains("it is cut off before its first entry"), "{said}");
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    fs::write(&path, damaged).unwrap();
    let said = near.refuse(2, &["replay", file]);
    assert!(said.contains("it is damaged before its first entry"), "{said}");
    fs::write(&path, b"something else\n").unwrap();
    let said = near.refuse(2, &["replay", file]);
    assert!(said.contains("it is no recording\nhint: `nicteam team record NAME -o FILE` makes one"), "{said}");
    near.refuse(2, &["replay", folder.join("none").to_str().unwrap()]);
    near.refuse(2, &["record", "team1"]);
    fs::remove_dir_all(&folder).unwrap();
}
