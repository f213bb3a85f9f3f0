//! Teams run on a host: `nicteam team add`, `del`, `set`, `member`, `show`,
//! `activate`, `events`, `list`, `restart`.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::common::teams::{Killed, Probes, TeamHost, may_test_bpf, own_folder};
use nicteam_testnet::{Host, cable, eventually, may_make_networks};
use serde_json::Value;

/// Two hosts with three cables; the far one takes what comes over any of them.
fn cabled() -> (TeamHost, TeamHost) {
    let (mut near, mut far) = (Host::new(), Host::new());
    for n in 0..3 {
        cable(&mut near, &format!("eth{n}"), &mut far, &format!("eth{n}"), 1000 + 2 * n);
    }
    (TeamHost::new(near), TeamHost::new(far))
}

/// The same, with `team0` on both, which reach each other at 10.3.0.1 and
/// 10.3.0.2. The far one answers by every cable, whatever the near one uses.
fn teamed(near_arguments: &[&str]) -> (TeamHost, TeamHost) {
    let (mut near, mut far) = cabled();
    near.run(&[&["add", "team0"], near_arguments].concat());
    far.run(&["add", "team0", "--mode", "broadcast", "--members", "eth0,eth1,eth2"]);
    near.host.address("team0", &[("10.3.0.1", 24)]);
    far.host.address("team0", &[("10.3.0.2", 24)]);
    (near, far)
}

fn probes(near: &TeamHost, far: &TeamHost) -> Probes {
    Probes::new(&near.host, [10, 3, 0, 1], &far.host, [10, 3, 0, 2])
}

/// What a member gets back, of all devices.
fn identities(host: &mut TeamHost) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let links = host.host.netlink.links().unwrap();
    links.into_iter().map(|link| (link.name, link.mac, link.mtu, link.up, link.addr_gen_mode, link.alias)).collect()
}

fn names(status: &Value) -> Vec<&str> {
    status["members"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap()).collect()
}

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
    assert!(said.contains("works in modes active-backup, balance-tlb, balance-alb and stripe alone"), "{said}");
    let said = near.refuse(1, &["activate", "team0", "eth0"]);
    assert!(said.contains("(EACCES)"), "{said}");
    near.run(&["member", "del", "team0", "eth0"]);
    let said = near.refuse(1, &["member", "del", "team0", "eth1"]);
    assert!(said.contains("`nicteam team del team0`"), "{said}");
}

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
fn another_user_is_refused() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = cabled();
    near.run(&["add", "team0", "--members", "eth0,eth1"]);
    // The other user may not be allowed to where the program lies.
    let program = std::env::temp_dir().join(format!("nicteam-test-{}", std::process::id()));
    std::fs::copy(env!("CARGO_BIN_EXE_nicteam"), &program).unwrap();
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("team").args(arguments).env("NICTEAM_STATE_DIR", &near.state).uid(65_534).gid(65_534);
        near.host.netns.run(|| command.output()).unwrap().unwrap()
    };
    let outputs = [&["show", "team0"][..], &["del", "team0"], &["set", "team0", "miimon=1"]].map(as_nobody);
    std::fs::remove_file(&program).unwrap();
    for output in outputs {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("team team0 belongs to another user (EPERM)\nhint: "), "{said}");
    }
    assert_eq!(near.status("team0")["options"]["miimon"], "100");
}

/// Abstract names are anybody's: with them a restart destroyed the team it was to replace.
#[test]
fn a_user_who_takes_names_hinders_nobody() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, far) = teamed(&["--mode", "balance-xor", "--members", "eth0,eth1"]);
    let Ok(python) = Command::new("python3").arg("--version").output() else {
        eprintln!("SKIPPED: no python3 to listen as another user");
        return;
    };
    assert!(python.status.success());
    near.crash("team0");
    let listen = "import socket,sys\nfor name,kind in (('control',1),('team',2)):\n s=socket.socket(socket.AF_UNIX,kind)\n s.bind('\\0nicteam-%s-team0'%name)\n globals()[name]=s\ncontrol.listen()\nprint('ready',flush=True)\nsys.stdin.read()";
    let spawn = || {
        let mut command = Command::new("python3");
        command.args(["-c", listen]).uid(65_534).gid(65_534).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.spawn()
    };
    let mut other = Killed(near.host.netns.run(spawn).unwrap().unwrap());
    let mut ready = *b"ready\n";
    other.0.stdout.take().unwrap().read_exact(&mut ready).unwrap();
    let (index, probes) = (near.host.index("team0"), probes(&near, &far));
    let (lost, _) = probes.lost_during(|| {
        near.run(&["restart", "team0"]);
        near.run(&["restart", "team0"]);
    });
    assert_eq!((lost, near.host.index("team0")), (vec![], index));
    near.run(&["del", "team0"]);
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
fn only_who_has_the_capability_changes_a_team() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = cabled();
    near.run(&["add", "team0", "--members", "eth0,eth1"]);
    let without = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", "--", env!("CARGO_BIN_EXE_nicteam"), "team"]);
        command.args(arguments).env("NICTEAM_STATE_DIR", &near.state);
        near.host.netns.run(|| command.output()).unwrap()
    };
    let Ok(shown) = without(&["show", "team0"]) else {
        eprintln!("SKIPPED: no setpriv to give capabilities up");
        return;
    };
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with("team0: "), "{shown:?}");
    for arguments in [&["set", "team0", "miimon=1"][..], &["member", "del", "team0", "eth0"], &["del", "team0"]] {
        let output = without(arguments).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("takes CAP_NET_ADMIN") && said.contains("(EPERM)"), "{said}");
    }
    assert_eq!(near.status("team0")["options"]["miimon"], "100");
    assert_eq!(names(&near.status("team0")), ["eth0", "eth1"]);
}

#[test]
fn sockets_and_files_are_their_owners() {
    if !may_make_networks() {
        return;
    }
    let (near, _far) = cabled();
    near.run(&["add", "team0", "--members", "eth0,eth1"]);
    let file = near.kept().remove(0);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    let modes = ["json", "lock", "control", "status"].map(|end| mode(&file.with_extension(end)));
    assert_eq!(modes, [0o600, 0o600, 0o600, 0o660]);
    assert_eq!([file.parent().unwrap(), &near.state].map(mode), [0o750, 0o750]);
    // What no team can be called is no team's, and steers no terminal.
    for name in ["\u{1b}[31m.json", "a b.lock", "..lock", "team1.json.new"] {
        std::fs::write(file.with_file_name(name), "x").unwrap();
    }
    assert_eq!(near.run(&["list"]), "team0  running\n");
    std::fs::set_permissions(file.parent().unwrap(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let said = near.refuse(1, &["list"]);
    assert!(said.contains("mode 777"), "{said}");
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
    cable(&mut near.host, "eth1", &mut far.host, "again", 2000);
    eventually("the member's return", || names(&near.status("team0")) == ["eth0", "eth1"]);
    let status = near.status("team0");
    assert_eq!((status["members"][1]["place"].as_u64(), status.get("missing")), (Some(1), None));
    let events = near.run(&["events", "team0"]);
    assert!(events.contains("member eth1 is missing") && events.contains("member eth1 joined"), "{events}");
    // One that is called otherwise is the same device.
    near.run(&["set", "team0", "primary=eth1"]);
    near.crash("team0");
    near.host.set_up("eth1", false);
    near.host.netlink.set_name(2000, "uplink").unwrap();
    near.run(&["restart", "team0"]);
    let status = near.status("team0");
    assert_eq!((names(&status), &status["options"]["primary"]), (vec!["eth0", "uplink"], &Value::from("uplink")));
    // And one that nobody waits for is given up.
    near.crash("team0");
    near.host.netlink.delete(2000).unwrap();
    near.run(&["restart", "team0"]);
    near.run(&["member", "del", "team0", "uplink"]);
    assert_eq!(near.status("team0").get("missing"), None);
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
    cable(&mut far.host, "own", &mut fourth.host, "own", 3000);
    far.run(&["add", "team1", "--members", "own", "--dataplane", "packet"]);
    let folders = std::fs::read_dir(&far.state).unwrap().count();
    assert_eq!((far.kept().len(), folders), (2, 2), "that of the living namespace stays");
    third.run(&["restart", "team0"]);
    third.run(&["del", "team0"]);
    far.run(&["del", "team1"]);
    assert_eq!(std::fs::read_dir(&far.state).unwrap().count(), 0);
    third.state = own_folder("none");
}

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
