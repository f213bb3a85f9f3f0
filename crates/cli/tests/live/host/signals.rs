//! Signals to `up` and `down`: a host is never left half way.

use std::fs;
use std::io::{PipeReader, Read, Write};
use std::process::{Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::{assert_becomes, eventually};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Network, TEAM};
use crate::common::teams::may_test_bpf;

/// A pipe with so much room left, bytes: a program that writes more waits until it is read.
fn nearly_full(room: usize) -> (PipeReader, std::io::PipeWriter) {
    const SIZE: usize = 4096;
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl(&writer, FcntlArg::F_SETPIPE_SZ(SIZE as i32)).unwrap();
    writer.write_all(&vec![b'.'; SIZE - room]).unwrap();
    (reader, writer)
}

#[test]
fn a_signal_undoes_what_up_has_done() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    let before = network.snapshot();
    let file = network.file("teams.toml", TEAM);
    for (signal, arguments) in
        [(Signal::SIGINT, &[][..]), (Signal::SIGTERM, &["--confirm", "1h"]), (Signal::SIGHUP, &[])]
    {
        // The parent of the tests may ignore SIGHUP, and an ignored signal stays ignored.
        let mut command = up_by(&network, &["env", "--default-signal=HUP"], &[&[file.as_str()], arguments].concat());
        let (code, text) = signalled(&network, &mut command, signal);
        assert_eq!(code, Some(130), "{signal}: {text}");
        assert!(text.ends_with("nicteam: stopped by a signal: what was done for team team0 is undone\n"), "{text}");
        assert_becomes(|| network.snapshot(), &before, "stopped");
        eventually("the end of all processes", || network.near.processes().is_empty());
        assert_eq!(files(&network), [] as [&str; 0]);
    }
    // What is to outlive its terminal does.
    let mut command = up_by(&network, &["nohup"], &[&file]);
    let (code, text) = signalled(&network, &mut command, Signal::SIGHUP);
    assert_eq!(code, Some(0), "{text}");
    network.done(&["down", "team0"]);
    assert_becomes(|| network.snapshot(), &before, "down");
}

/// A verbose `up` that this program starts, with its arguments.
fn up_by(network: &Network, program: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).args([env!("CARGO_BIN_EXE_nicteam"), "up", "--verbose"]).args(arguments);
    command.env("NICTEAM_STATE_DIR", &network.near.state);
    process::in_netns(&mut command, &network.near.host.netns);
    command
}

/// The names of all that is in the folders of the namespaces.
fn files(network: &Network) -> Vec<String> {
    let folders = fs::read_dir(&network.near.state).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}

/// The exit code of a verbose `up`, and what it said, which got a signal on its way.
fn signalled(network: &Network, command: &mut Command, signal: Signal) -> (Option<i32>, String) {
    // It says each step before it takes it, and waits where that cannot be said.
    let (mut said, stderr) = nearly_full(300);
    let mut up = command.stderr(stderr).spawn().unwrap();
    // Ours is the last other end.
    command.stderr(Stdio::null());
    let has_begun = || network.snapshot().iter().any(|line| line.contains("team0"));
    eventually("the team's device", has_begun);
    kill(Pid::from_raw(up.id() as i32), signal).unwrap();
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    (up.wait().unwrap().code(), text)
}

#[test]
fn a_signal_does_not_stop_down_half_way() {
    if !may_test_bpf() {
        return;
    }
    let network = Network::new();
    // They take a while.
    (1..=250).for_each(|host| network.ip(&format!("address add 10.4.0.{host}/24 dev eth0")));
    let before = network.snapshot();
    let file = network.file("teams.toml", TEAM);
    network.done(&["up", &file]);
    let mut command = network.near.nicteam(&["down", "team0"]);
    let mut down = command.stderr(Stdio::null()).spawn().unwrap();
    eventually("the first address at the member", || {
        network.snapshot().iter().any(|line| line.starts_with("eth0") && line.contains("10."))
    });
    kill(Pid::from_raw(down.id() as i32), Signal::SIGINT).unwrap();
    let status = down.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_becomes(|| network.snapshot(), &before, "down");
}
