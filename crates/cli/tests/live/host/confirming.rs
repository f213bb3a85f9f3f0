//! A team that nobody confirms is taken down.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nicteam_testnet::{assert_becomes, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{FAR, Network, Session, TEAM};
use crate::common::teams::may_test_bpf;

#[test]
fn a_team_that_nobody_confirms_is_taken_down_and_the_session_lives_on() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let mut session = Session::new(&network, (FAR, 7001).into());
    let file = network.file("teams.toml", TEAM);
    let is_down = || network.snapshot() == before;
    let said = network.done(&["up", &file, "--confirm", "2s"]);
    assert!(said.contains("nicteam confirm team0"), "{said}");
    session.live_on("up");
    eventually("the way back", is_down);
    session.live_on("taken down");
    for arguments in [&["confirm"][..], &["confirm", "team0"]] {
        let (code, said) = network.nicteam(arguments);
        assert!(
            code == 1 && said.contains("team team0 was taken down") && said.contains("nobody confirmed it within 2 s"),
            "{said}"
        );
    }

    // A script hears when the way back is done.
    let (code, said) = network.nicteam(&["up", &file, "--confirm", "300ms", "--wait"]);
    assert!(code == 1 && said.contains("nobody confirmed it within 0.3 s"), "{said}");
    assert_becomes(|| network.snapshot(), &before, "taken down");

    let mut command = network.near.nicteam(&["up", &file, "--confirm", "1h", "--wait"]);
    let mut waiting = command.stderr(Stdio::piped()).spawn().unwrap();
    let said = std::io::BufReader::new(waiting.stderr.take().unwrap());
    assert!(std::io::BufRead::lines(said).any(|line| line.unwrap().contains("nicteam confirm team0")));
    kill(Pid::from_raw(waiting.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(130), "who waits is stopped, the team is still to be confirmed");
    network.done(&["confirm"]);
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");

    // A signal does not wait so long.
    let said = network.done(&["up", &file, "--confirm", "1h"]);
    let words: Vec<&str> = said.split([' ', ',']).collect();
    let at = words.iter().position(|word| *word == "process").unwrap();
    let (code, said_late) = network.nicteam(&["confirm", "team1"]);
    assert!(code == 1 && said_late.contains("nobody awaits a confirmation of team team1"), "{said_late}");
    let said_again = network.done(&["up", &file]);
    assert!(said_again.contains("nothing to do") && said_again.contains("nicteam confirm team0"), "{said_again}");
    kill(Pid::from_raw(words[at + 1].parse().unwrap()), Signal::SIGTERM).unwrap();
    eventually("the way back", is_down);
    session.live_on("told to go back");
    let (code, said) = network.nicteam(&["confirm"]);
    assert!(code == 1 && said.contains("by a signal to the process that awaited it"), "{said}");

    network.done(&["up", &file, "--confirm", "2s"]);
    let said = network.done(&["confirm"]);
    assert!(said.contains("team team0 stays up"), "{said}");
    let (code, said) = network.nicteam(&["confirm"]);
    assert!(code == 1 && said.contains("nothing awaits"), "{said}");
    // The process that waited has ended, and a team that is up is not put at risk again.
    let watchers = || network.near.processes().len();
    eventually("the end of the wait", || watchers() == 1);
    network.done(&["up", &file, "--confirm", "100ms"]);
    assert_eq!(watchers(), 1);
    session.live_on("confirmed");
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");
}

#[test]
fn a_command_that_is_killed_on_its_way_is_undone() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let file = network.file("teams.toml", TEAM);
    let mut command = network.near.nicteam(&["up", &file, "--confirm", "500ms", "--verbose"]);
    let mut up = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = std::io::BufReader::new(up.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("add 10.3.0.1/24 to team0") {
        assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0, "{line}");
    }
    up.kill().unwrap();
    up.wait().unwrap();
    eventually("the way back", || network.snapshot() == before);
}

/// Puts a file system in memory, of these options, where the host keeps what it knows of teams: for this test alone.
fn mount_state(state: &Path, options: &str) {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).unwrap();
    let mount = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success(), "{words:?}");
    mount(&["--make-rprivate", "/"]);
    fs::create_dir_all(state).unwrap();
    mount(&["-t", "tmpfs", "-o", options, "none", state.to_str().unwrap()]);
}

/// Takes all the room, or all the inodes, that there is.
fn fill(folder: &Path) {
    let mut number = 0;
    while fs::write(folder.join(format!("filler-{number}")), [7; 512]).is_ok() {
        number += 1;
    }
    assert!(number > 0 && fs::write(folder.join("one-more"), [7; 512]).is_err());
}

#[test]
fn the_way_back_needs_no_room_and_no_inode() {
    if !may_test_bpf() {
        return;
    }
    for options in ["mode=755,size=512k", "mode=755,size=4m,nr_inodes=60"] {
        let network = Network::new();
        let before = network.snapshot();
        // The file of the team is not there: the folder is another one.
        let file = network.file("teams.toml", TEAM);
        let text = fs::read_to_string(&file).unwrap();
        mount_state(&network.near.state, options);
        fs::write(&file, text).unwrap();
        network.done(&["up", &file, "--confirm", "2s"]);
        fill(&network.near.state);
        eventually(options, || network.snapshot() == before);
        let (code, said) = network.nicteam(&["confirm"]);
        assert!(code == 1 && said.contains("nobody confirmed it within 2 s"), "{options}: {said}");
    }
}

/// The processes that wait for the confirmation, of what `nicteam up` says.
fn guards(said: &str) -> Vec<i32> {
    let pids = said.split("by process ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let pids: Vec<i32> = pids.split(" or ").map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2, "{said}");
    pids
}

/// Both get no more of it, for good, than they have when the team is up.
#[test]
fn the_way_back_needs_no_descriptors_and_no_memory() {
    if !may_test_bpf() {
        return;
    }
    for which in ["nofile", "as", "data"] {
        let network = Network::new();
        let before = network.snapshot();
        let file = network.file("teams.toml", TEAM);
        let said = network.done(&["up", &file, "--confirm", "2s"]);
        for pid in guards(&said) {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let kilobytes = |name: &str| -> u64 {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.trim().trim_end_matches(" kB").parse().unwrap()
            };
            let limit = match which {
                "nofile" => fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() as u64,
                "as" => kilobytes("VmSize:") * 1024,
                _ => kilobytes("VmData:") * 1024,
            };
            let limits = format!("--{which}={limit}:{limit}");
            assert!(Command::new("prlimit").args(["--pid", &pid.to_string(), &limits]).status().unwrap().success());
        }
        assert!(network.snapshot() != before, "{which}");
        eventually(which, || network.snapshot() == before);
        let (code, said) = network.nicteam(&["confirm"]);
        assert!(code == 1 && said.contains("nobody confirmed it within 2 s"), "{which}: {said}");
    }
}

#[test]
fn who_is_to_take_the_team_down_may_be_killed() {
    if !may_test_bpf() {
        return;
    }
    for which in 0..2 {
        let network = Network::new();
        let before = network.snapshot();
        let file = network.file("teams.toml", TEAM);
        let said = network.done(&["up", &file, "--confirm", "2s"]);
        kill(Pid::from_raw(guards(&said)[which]), Signal::SIGKILL).unwrap();
        eventually("the way back", || network.snapshot() == before);
    }
}
