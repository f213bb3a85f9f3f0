//! Open vSwitch's two daemons, of one node: their processes, files and commands.
//!
//! Both are children of the agent, which die with it (`PR_SET_PDEATHSIG`), in its network namespace, with a database, a
//! control socket and a log of their own in its folder: an Open vSwitch of the machine is not touched.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::lock;
use nicteam_unixctl::Unixctl;

use crate::background::{Background, Log, Start, last_line_with};
use crate::engine::Absent;
use crate::installed::{find, missing};

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
/// How long `ovs-vsctl` may take: it guards against one that hangs, seconds.
const VSCTL_TIMEOUT: &str = "--timeout=20";

/// The database and the switch; both end with this value, and their files go.
#[derive(Debug)]
pub(super) struct Daemons {
    dir: PathBuf,
    control: Mutex<Unixctl>,
    /// In the order in which they end.
    processes: [Background; 2],
    version: String,
}

/// Whether this machine has them.
pub(super) fn are_there() -> Result<(), Absent> {
    let missing = missing(&PROGRAMS).or_else(|| (!Path::new(SCHEMA).exists()).then_some(SCHEMA));
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
        let database = daemon(&dir, DATABASE, &files.map(String::as_str), output)?;
        listens_at(&database, &socket)?;
        run(&dir, SETTINGS, &[&remote(&dir), VSCTL_TIMEOUT, "--no-wait", "init"])?;
        let files = [&format!("unix:{socket}"), &format!("--unixctl={control}"), &format!("--log-file={log}")];
        // The kernel's datapath would be one for all namespaces, where a kernel has it at all.
        let files: Vec<&str> = files.into_iter().map(String::as_str).chain(["--disable-system"]).collect();
        let switch = daemon(&dir, SWITCH, &files, output)?;
        listens_at(&switch, &control)?;
        let mut control = Unixctl::connect(Path::new(&control))?;
        let version = control.call("version", &[])??;
        Ok(Daemons {
            control: Mutex::new(control),
            processes: [switch, database],
            version: version.trim().to_owned(),
            dir,
        })
    }

    /// `ovs-vswitchd (Open vSwitch) 3.1.0`.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Their processes.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.processes.iter().flat_map(Background::processes).collect()
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

/// Starts a daemon. If it ends before it is ended, `output` is told, with its last words.
fn daemon(dir: &Path, program: &'static str, arguments: &[&str], output: &Output) -> Result<Background, Failure> {
    let mut command = command(dir, program)?;
    command.args(arguments);
    let log = (program == SWITCH).then(|| Log { path: dir.join(LOG), is_told: |line| !line.is_empty() });
    let written = dir.join(format!("{program}.stderr"));
    Background::start(Start { program, command, output: written, log, apart: false, tell: output })
}

/// Waits until a daemon listens at a socket.
fn listens_at(daemon: &Background, socket: &str) -> Result<(), Failure> {
    daemon.until(&format!("listen at {socket}"), || UnixStream::connect(socket).is_ok())
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
