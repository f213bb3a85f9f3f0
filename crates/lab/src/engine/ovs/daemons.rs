//! Open vSwitch's two daemons, of one node: their processes, files and commands.
//!
//! Both are children of the agent, which die with it (`PR_SET_PDEATHSIG`), in its network namespace, with a database, a
//! control socket and a log of their own in its folder: an Open vSwitch of the machine is not touched.

use std::ffi::OsStr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nicteam_sys::process;
use nicteam_unixctl::Unixctl;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::engine::Absent;
use crate::error::Failure;
use crate::lock::lock;
use crate::say::Output;

/// The schema of the database, from which the first one is made.
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
/// The programs that are run.
const PROGRAMS: [&str; 4] = [DATABASE_TOOL, DATABASE, SWITCH, SETTINGS];
const DATABASE_TOOL: &str = "ovsdb-tool";
const DATABASE: &str = "ovsdb-server";
const SWITCH: &str = "ovs-vswitchd";
const SETTINGS: &str = "ovs-vsctl";
/// What to do where they are not.
const INSTALL: &str = "`apt-get install openvswitch-switch` on Debian";
/// From which the bridge's local port comes.
const TUN: &str = "/dev/net/tun";
/// Folders of programs that an ordinary user's PATH lacks.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];
/// How long a daemon may take to listen: it guards against one that hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same for `ovs-vsctl`, seconds.
const VSCTL_TIMEOUT: &str = "--timeout=20";

/// The database and the switch; both end with this value, and their files go.
#[derive(Debug)]
pub(super) struct Daemons {
    dir: PathBuf,
    control: Mutex<Unixctl>,
    /// In the order in which they end.
    _processes: [Daemon; 2],
    pids: [u32; 2],
    version: String,
}

/// Whether this machine has them.
pub(super) fn are_there() -> Result<(), Absent> {
    let missing = PROGRAMS.into_iter().find(|program| find(program).is_none());
    let missing = missing.or_else(|| (!Path::new(SCHEMA).exists()).then_some(SCHEMA));
    if let Some(missing) = missing {
        let reason = format!("Open vSwitch is not installed: there is no {missing}");
        return Err(Absent { reason, hint: Some(format!("{INSTALL}; its service need not run")) });
    }
    let tun = std::fs::File::options().read(true).write(true).open(TUN);
    tun.map(drop).map_err(|error| Absent {
        reason: format!("Open vSwitch's userspace datapath needs {TUN}: {error}"),
        hint: Some("run the lab as root, or let everybody open that file, as Debian does".to_owned()),
    })
}

impl Daemons {
    /// Starts them, in this process's network namespace, without bridges. `output` is told if one ends early.
    pub(super) fn start(output: &Output) -> Result<Daemons, Failure> {
        let dir = nicteam_daemon::private_folder("openvswitch")?;
        let path = |name: &str| dir.join(name).to_string_lossy().into_owned();
        let (database, socket, control, log) = (path("conf.db"), path("db.sock"), path("ovs.ctl"), path(LOG));
        run(&dir, DATABASE_TOOL, &["create", &database, SCHEMA])?;
        let files = [&database, &format!("--remote=punix:{socket}"), &format!("--unixctl={}", path("db.ctl"))];
        let database = Daemon::start(&dir, DATABASE, &files.map(String::as_str), output)?;
        database.listens_at(Path::new(&socket))?;
        run(&dir, SETTINGS, &[&remote(&dir), VSCTL_TIMEOUT, "--no-wait", "init"])?;
        let files = [&format!("unix:{socket}"), &format!("--unixctl={control}"), &format!("--log-file={log}")];
        // The kernel's datapath would be one for all namespaces, where a kernel has it at all.
        let files: Vec<&str> = files.into_iter().map(String::as_str).chain(["--disable-system"]).collect();
        let switch = Daemon::start(&dir, SWITCH, &files, output)?;
        switch.listens_at(Path::new(&control))?;
        let mut control = Unixctl::connect(Path::new(&control))?;
        let version = control.call("version", &[])??;
        Ok(Daemons {
            control: Mutex::new(control),
            pids: [&database, &switch].map(|daemon| daemon.pid),
            _processes: [switch, database],
            version: version.trim().to_owned(),
            dir,
        })
    }

    /// `ovs-vswitchd (Open vSwitch) 3.1.0`.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Their processes.
    pub(super) fn pids(&self) -> [u32; 2] {
        self.pids
    }

    /// Changes the database (`ovs-vsctl`), and waits until the switch has followed. What the switch could not do it has
    /// logged.
    pub(super) fn set(&self, words: &[&str]) -> Result<(), Failure> {
        let remote = remote(&self.dir);
        run(&self.dir, SETTINGS, &[&[remote.as_str(), VSCTL_TIMEOUT], words].concat()).map_err(|error| {
            let log = self.complaint().map_or_else(String::new, |line| format!("; the switch's log: {line}"));
            format!("{error}{log}").into()
        })
    }

    /// What the switch answers to a command (`ovs-appctl`).
    pub(super) fn ask(&self, command: &str, arguments: &[&str]) -> Result<String, Failure> {
        let answer = lock(&self.control).call(command, arguments)?;
        answer
            .map_err(|refused| format!("{SWITCH} refuses {command} {}: {}", arguments.join(" "), refused.trim()).into())
    }

    /// The last warning or error that the switch logged.
    pub(super) fn complaint(&self) -> Option<String> {
        last_line_with(&self.dir.join(LOG), |line| line.contains("|WARN|") || line.contains("|ERR|"))
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        // It lies in memory and goes with the agent in any case.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The switch's log.
const LOG: &str = "ovs-vswitchd.log";

/// A process that ends with this value.
#[derive(Debug)]
struct Daemon {
    program: &'static str,
    child: Child,
    pid: u32,
    /// Set before it is ended.
    is_over: Arc<AtomicBool>,
    errors: PathBuf,
}

impl Daemon {
    /// Starts it. If it ends before it is ended, `output` is told, with its last words.
    fn start(dir: &Path, program: &'static str, arguments: &[&str], output: &Output) -> Result<Daemon, Failure> {
        let errors = dir.join(format!("{program}.stderr"));
        let mut command = command(dir, program)?;
        command.args(arguments).stdout(Stdio::null()).stderr(std::fs::File::create(&errors)?);
        process::die_with_parent(&mut command);
        let child = command.spawn().map_err(|error| format!("start {program}: {error}"))?;
        let (pid, is_over) = (child.id(), Arc::<AtomicBool>::default());
        let daemon = Daemon { program, child, pid, is_over: Arc::clone(&is_over), errors: errors.clone() };
        let (log, output) = (dir.join(LOG), output.clone());
        std::thread::Builder::new().name(program.to_owned()).spawn(move || {
            // Left to be waited for, so that its number is not given again meanwhile.
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            let ended = waitid(Id::Pid(Pid::from_raw(pid as i32)), flags);
            if !is_over.load(Ordering::SeqCst) {
                let words = if program == SWITCH { last_line(&log) } else { None };
                output.lost(died(program, ended.ok(), words.or_else(|| last_line(&errors))));
            }
        })?;
        Ok(daemon)
    }

    /// Waits until it listens at a socket.
    fn listens_at(&self, socket: &Path) -> Result<(), Failure> {
        let begun = Instant::now();
        while UnixStream::connect(socket).is_err() {
            let ended = waitid(
                Id::Pid(Pid::from_raw(self.pid as i32)),
                WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG,
            );
            if let Ok(status @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..))) = ended {
                return Err(died(self.program, Some(status), last_line(&self.errors)).into());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{} does not listen at {}", self.program, socket.display()).into());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a daemon ended, in words.
fn died(program: &str, status: Option<WaitStatus>, words: Option<String>) -> String {
    let how = match status {
        Some(WaitStatus::Signaled(_, signal, _)) => format!(" by {signal}"),
        Some(WaitStatus::Exited(_, code)) => format!(" with exit code {code}"),
        _ => String::new(),
    };
    let words = words.map_or_else(|| "it said nothing".to_owned(), |words| format!("the last that it said: {words}"));
    format!("{program} has ended{how}; {words}")
}

/// The last line of a file that is not empty.
fn last_line(path: &Path) -> Option<String> {
    last_line_with(path, |line| !line.is_empty())
}

fn last_line_with(path: &Path, such: impl Fn(&str) -> bool) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().map(str::trim).find(|line| such(line)).map(str::to_owned)
}

/// The database, for `ovs-vsctl`.
fn remote(dir: &Path) -> String {
    format!("--db=unix:{}", dir.join("db.sock").display())
}

/// Runs a program to its end.
fn run(dir: &Path, program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let output =
        command(dir, program)?.args(arguments).output().map_err(|error| format!("start {program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // Of a port that the switch cannot take the program warns, and ends well.
    if output.status.success() && said.is_empty() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), said.trim()).into())
}

/// A program with its own files.
fn command(dir: &Path, program: &str) -> Result<Command, Failure> {
    let found = find(program).ok_or_else(|| format!("there is no {program}; hint: {INSTALL}"))?;
    let mut command = Command::new(found);
    command.stdin(Stdio::null());
    for folder in ["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR"] {
        command.env(folder, dir);
    }
    Ok(command)
}

/// Where a program is.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(OsStr::new(program))).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_daemon_ended_is_said_with_its_last_words() {
        let pid = Pid::from_raw(7);
        let killed = WaitStatus::Signaled(pid, nix::sys::signal::Signal::SIGKILL, false);
        let told = died(SWITCH, Some(killed), Some("bridge team0: added".to_owned()));
        assert_eq!(told, "ovs-vswitchd has ended by SIGKILL; the last that it said: bridge team0: added");
        assert_eq!(
            died(DATABASE, Some(WaitStatus::Exited(pid, 1)), None),
            "ovsdb-server has ended with exit code 1; it said nothing"
        );
    }
}
