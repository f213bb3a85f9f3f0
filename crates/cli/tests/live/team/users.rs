//! Other users and missing capabilities.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nicteam_testnet::may_make_networks;

use super::{cabled, names, probes, teamed};
use crate::common::teams::{Killed, may_test_bpf};

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
        command.args(arguments).env("NICTEAM_STATE_DIR", &near.state).uid(65_534).gid(65_534);
        near.host.netns.run(|| command.output()).unwrap().unwrap()
    };
    let file = near.state.with_extension("toml");
    std::fs::write(&file, "[teams.team0]\nmembers = [\"eth0\"]\n").unwrap();
    let one = [&["team", "show", "team0"][..], &["team", "del", "team0"], &["team", "set", "team0", "miimon=1"]];
    let all = [&["team", "list"][..], &["check", file.to_str().unwrap()]];
    let (of_one, of_all) = (one.map(as_nobody), all.map(as_nobody));
    let doctor = as_nobody(&["doctor"]);
    std::fs::remove_file(&program).unwrap();
    std::fs::remove_file(&file).unwrap();
    let words =
        ["team team0 belongs to another user (EPERM)\nhint: ", "teams of this network namespace belong to another"];
    for (outputs, words) in [(&of_one[..], words[0]), (&of_all, words[1])] {
        for output in outputs {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{said}");
            assert!(said.contains(words) && said.contains("\nhint: run this as root (sudo)"), "{said}");
        }
    }
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("  which teams there are: the teams of this network namespace belong to"), "{said}");
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
