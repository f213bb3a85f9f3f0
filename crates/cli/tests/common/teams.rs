//! Teams added on a host of a test, in processes that go with it.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs};

use nicteam_dataplane::Kind;
use nicteam_sys::process;
use nicteam_testnet::{Host, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A host on which teams are added. With this value every process of the host
/// is killed, and what it kept is removed.
pub struct TeamHost {
    pub host: Host,
    pub state: PathBuf,
}

/// Whether teams on the eBPF dataplane can be tested here; says why not.
pub fn may_test_bpf() -> bool {
    if !may_make_networks() {
        return false;
    }
    match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => true,
        (Kind::Packet, reason) => {
            eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default());
            false
        }
    }
}

/// A folder that no other test has.
pub fn own_folder(what: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{what}-{}-{number}", std::process::id()))
}

impl TeamHost {
    pub fn new(host: Host) -> TeamHost {
        TeamHost { host, state: own_folder("state") }
    }

    /// `nicteam team ...` on this host.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.nicteam(&[&["team"][..], arguments].concat())
    }

    /// `nicteam ...` on this host.
    pub fn nicteam(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.args(arguments).env("NICTEAM_STATE_DIR", &self.state).stdin(Stdio::null());
        process::in_netns(&mut command, &self.host.netns);
        command
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a command that succeeds.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a command that fails with this code.
    #[track_caller]
    pub fn refuse(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        said
    }

    #[track_caller]
    pub fn status(&self, team: &str) -> Value {
        serde_json::from_str(&self.run(&["show", team, "--format", "json"])).unwrap()
    }

    /// Kills the process of a team as a crash would.
    #[track_caller]
    pub fn crash(&self, team: &str) {
        let pid = self.status(team)["pid"].as_i64().unwrap();
        kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
        // Its threads, and with them its sockets, go one by one.
        let stopped = format!("{team}  not running");
        nicteam_testnet::eventually("the crash", || self.run(&["list"]).contains(&stopped));
    }

    /// The processes in this host's network namespace.
    pub fn processes(&self) -> Vec<i32> {
        let own = self.host.netns.run(|| fs::read_link("/proc/thread-self/ns/net").unwrap()).unwrap();
        let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
        let here = |pid: &i32| fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|ns| ns == own);
        fs::read_dir("/proc").unwrap().flatten().filter_map(pid).filter(here).collect()
    }

    /// The files of what is persisted of teams.
    pub fn kept(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(&self.state).into_iter().flatten().flatten();
        folders
            .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
            .map(|f| f.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect()
    }
}

impl Drop for TeamHost {
    fn drop(&mut self) {
        for pid in self.processes() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = fs::remove_dir_all(&self.state);
    }
}

/// A child that is killed with this value.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Numbered datagrams of several flows from one host to another, a thousand a second.
pub struct Probes {
    senders: Vec<UdpSocket>,
    receiver: UdpSocket,
}

impl Probes {
    /// Flows that a layer3+4 hash spreads, between these addresses.
    #[track_caller]
    pub fn new(from: &Host, from_address: impl Into<IpAddr>, to: &Host, to_address: impl Into<IpAddr>) -> Probes {
        let (from_address, receiver) = (from_address.into(), to.udp(SocketAddr::new(to_address.into(), 7000)));
        receiver.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let sender = |n: u16| {
            let socket = from.udp(SocketAddr::new(from_address, 7100 + n));
            socket.connect(receiver.local_addr().unwrap()).unwrap();
            socket
        };
        let senders: Vec<UdpSocket> = (0..8).map(sender).collect();
        let mut buffer = [0; 4];
        // The first exchange resolves addresses, which loses what came before.
        let met = (0..40).any(|_| senders[0].send(&[255; 4]).is_ok() && receiver.recv(&mut buffer).is_ok());
        assert!(met, "the hosts do not reach each other");
        Probes { senders, receiver }
    }

    /// Sends while `change` goes on; the numbers that never came, and how many were sent.
    pub fn lost_during(&self, change: impl FnOnce()) -> (Vec<u32>, u32) {
        Probes::all_lost_during(&[self], change).remove(0)
    }

    /// The same of several at once, in their order.
    pub fn all_lost_during(all: &[&Probes], change: impl FnOnce()) -> Vec<(Vec<u32>, u32)> {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let heard: Vec<_> = all.iter().map(|probes| scope.spawn(|| probes.hear_until(&done))).collect();
            let sent: Vec<_> = all.iter().map(|probes| scope.spawn(|| probes.send_until(&done))).collect();
            std::thread::sleep(Duration::from_millis(100));
            let changed = catch_unwind(AssertUnwindSafe(change));
            std::thread::sleep(Duration::from_millis(100));
            // Also after a panic, or the senders would go on for ever.
            done.store(true, Ordering::SeqCst);
            changed.unwrap_or_else(|panic| resume_unwind(panic));
            let lost = |(sent, heard): (u32, BTreeSet<u32>)| {
                ((0..sent).filter(|number| !heard.contains(number)).collect(), sent)
            };
            let sent = sent.into_iter().map(|sent| sent.join().unwrap());
            sent.zip(heard.into_iter().map(|heard| heard.join().unwrap())).map(lost).collect()
        })
    }

    /// Sends until it is done; how many.
    fn send_until(&self, done: &AtomicBool) -> u32 {
        let mut number = 0_u32;
        while !done.load(Ordering::SeqCst) {
            // Without a way to the other end it is lost.
            let _ = self.senders[number as usize % self.senders.len()].send(&number.to_be_bytes());
            number += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        number
    }

    /// The numbers that come, until it is done and none come any more.
    fn hear_until(&self, done: &AtomicBool) -> BTreeSet<u32> {
        let (mut heard, mut buffer) = (BTreeSet::new(), [0; 4]);
        loop {
            let was_done = done.load(Ordering::SeqCst);
            match self.receiver.recv(&mut buffer) {
                Ok(_) => drop(heard.insert(u32::from_be_bytes(buffer))),
                Err(_) if was_done => return heard,
                Err(_) => {}
            }
        }
    }
}
