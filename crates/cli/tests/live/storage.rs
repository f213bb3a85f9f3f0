//! `nicteam storage export`: a disk over two paths for programs that speak NBD.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nicteam_sys::process;
use nicteam_testnet::{Host, IscsiTarget, cables};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::teams::own_folder;

/// An initiator, a target and two cables between them.
fn hosts() -> Option<(Host, Host, IscsiTarget)> {
    if !nicteam_testnet::may_make_networks() {
        return None;
    }
    let (mut initiator, mut target) = (Host::quiet(), Host::quiet());
    cables(&mut initiator, &mut target, 2);
    for n in 0..2 {
        initiator.address(&format!("eth{n}"), &[(&format!("10.77.{n}.1"), 24)]);
        target.address(&format!("eth{n}"), &[(&format!("10.77.{n}.2"), 24)]);
    }
    let tgt = IscsiTarget::start_or_skip(&target.netns, 32 << 20, &[])?;
    Some((initiator, target, tgt))
}

/// An export that runs; killed with this value.
struct Export {
    child: Child,
    lines: Receiver<String>,
}

impl Export {
    fn start(host: &Host, socket: &Path, more: &[&str]) -> Export {
        let mut command = command(host);
        command.args(["--portal", "10.77.0.2,eth0", "--portal", "10.77.1.2", "--target", IscsiTarget::NAME]);
        command.arg("--socket").arg(socket).args(more).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || said.map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Export { child, lines }
    }

    /// Waits for a line that has this in it.
    #[track_caller]
    fn said(&self, what: &str) -> String {
        let mut heard = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(20)) {
            if line.contains(what) {
                return line;
            }
            heard.push(line);
        }
        panic!("nothing of {what}: {heard:#?}");
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(host: &Host) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    command.args(["storage", "export"]).stdin(Stdio::null());
    process::in_netns(&mut command, &host.netns);
    process::die_with_parent(&mut command);
    command
}

#[test]
fn programs_use_the_disk_while_a_path_is_cut_and_the_end_is_clean() {
    let Some((mut initiator, _target, tgt)) = hosts() else { return };
    let folder = own_folder("export");
    std::fs::create_dir(&folder).unwrap();
    let socket = folder.join("socket");
    let arguments = ["--policy", "round-robin", "--iops", "1", "--cache", "4mib", "--status", "100ms"];
    let mut export = Export::start(&initiator, &socket, &arguments);
    let line = export.said("exports");
    assert!(line.contains("exports 32mib in blocks of 512 bytes: nbd+unix:///disk?socket="), "{line}");
    let uri = line.rsplit(' ').next().unwrap().to_owned();
    let qemu = |arguments: &[&str]| {
        let output = Command::new("qemu-img").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let content: Vec<u8> = (0..32_u32 << 20).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(folder.join("content"), &content).unwrap();
    let file = folder.join("content").display().to_string();
    if Command::new("qemu-img").arg("--version").output().is_ok() {
        qemu(&["convert", "-n", "-f", "raw", "-O", "raw", &file, &uri]);
        initiator.set_up("eth1", false);
        qemu(&["compare", "-f", "raw", "-F", "raw", &file, &uri]);
        export.said("path 1: up -> dead");
    }
    export.said("policy=iops,iops=1");
    export.said("path 0 eth0 10.77.0.2:3260: up");
    kill(Pid::from_raw(export.child.id() as i32), Signal::SIGTERM).unwrap();
    assert!(export.child.wait().unwrap().success());
    assert!(!socket.exists());
    if Command::new("qemu-img").arg("--version").output().is_ok() {
        assert!(std::fs::read(tgt.file()).unwrap() == content);
    }
    // Killed, it leaves its socket, and the next one takes its place.
    let mut export = Export::start(&initiator, &socket, &[]);
    export.said("exports");
    export.child.kill().unwrap();
    export.child.wait().unwrap();
    assert!(socket.exists());
    Export::start(&initiator, &socket, &[]).said("exports");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_makes_no_disk_is_refused_with_what_would() {
    let Some((initiator, _target, _tgt)) = hosts() else { return };
    let refused = |arguments: &[&str]| {
        let mut command = command(&initiator);
        let output = command.args(arguments).args(["--target", IscsiTarget::NAME]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = refused(&["--portal", "target.example", "--socket", "/run/s"]);
    assert!(code == Some(2) && told.contains("names are not looked up"), "{told}");
    let (code, told) = refused(&["--portal", "10.77.0.2"]);
    assert!(code == Some(2) && told.contains("--socket"), "{told}");
    let (code, told) = refused(&["--portal", "10.77.0.2", "--socket", "/run/s", "--iops", "3"]);
    assert!(code == Some(2) && told.contains("--iops is for the policy round-robin, not best"), "{told}");
    let (code, told) = refused(&["--portal", "10.77.0.2", "--socket", "/run/s", "--lun", "9"]);
    assert!(code == Some(1) && told.contains("ILLEGAL REQUEST"), "{told}");
    let (code, told) = refused(&["--portal", "10.77.0.2", "--socket", "/nowhere/s"]);
    assert!(code == Some(1) && told.contains("cannot listen on /nowhere/s"), "{told}");
}
