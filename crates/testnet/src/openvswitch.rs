//! An Open vSwitch of its own, with the userspace datapath.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Host, eventually, may_make_networks};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";
const LOG: &str = "vswitchd.log";
const CONTROL: &str = "ovs.ctl";

/// A switch: a namespace, a database, a daemon. All of it goes with this value.
#[derive(Debug)]
pub struct OpenVSwitch {
    /// Where its ports are.
    pub host: Host,
    dir: PathBuf,
    /// The database's, then the switch's.
    daemons: Vec<Child>,
}

impl OpenVSwitch {
    /// True if it is installed.
    pub fn is_installed() -> bool {
        Path::new(SCHEMA).exists()
    }

    /// The same as [`OpenVSwitch::start`]; nothing, said aloud, where it is not installed or may not run.
    #[track_caller]
    pub fn start_or_skip() -> Option<OpenVSwitch> {
        if !may_make_networks() {
            return None;
        }
        if !OpenVSwitch::is_installed() {
            eprintln!("SKIPPED: needs openvswitch-switch");
            return None;
        }
        Some(OpenVSwitch::start())
    }

    /// Starts one without bridges.
    #[track_caller]
    pub fn start() -> OpenVSwitch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nicteam-switch-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut switch = OpenVSwitch { host: Host::quiet(), dir, daemons: Vec::new() };
        let [database, socket, control] = ["conf.db", "db.sock", "db.ctl"].map(|name| switch.path(name));
        switch.call("ovsdb-tool", &["create", &database, SCHEMA]);
        let remote = format!("--remote=punix:{socket}");
        switch.spawn("ovsdb-server", &[&database, &remote, &format!("--unixctl={control}")]);
        eventually("the database", || UnixStream::connect(&socket).is_ok());
        switch.vsctl("--no-wait init");
        switch.start_switch();
        switch
    }

    #[track_caller]
    fn start_switch(&mut self) {
        let control = self.path(CONTROL);
        let [database, unixctl, log] = [
            format!("unix:{}", self.path("db.sock")),
            format!("--unixctl={control}"),
            format!("--log-file={}", self.path(LOG)),
        ];
        self.spawn("ovs-vswitchd", &[&database, &unixctl, "--disable-system", &log]);
        eventually("the switch", || UnixStream::connect(&control).is_ok());
    }

    /// Kills the switch as a crash would; its ports keep their links.
    pub fn crash(&mut self) {
        let mut switch = self.daemons.pop().unwrap();
        switch.kill().unwrap();
        switch.wait().unwrap();
    }

    /// Starts it again after [`OpenVSwitch::crash`].
    #[track_caller]
    pub fn restart(&mut self) {
        assert_eq!(self.daemons.len(), 1, "the switch runs");
        self.start_switch();
    }

    /// Sends the switch a signal, `-STOP` for one.
    pub fn signal(&self, signal: &str) {
        let pid = self.daemons[1].id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Members by which its bonds forward.
    #[track_caller]
    pub fn enabled(&self) -> usize {
        self.appctl("bond/show").matches(": enabled").count()
    }

    /// `ovs-vsctl` with these words.
    #[track_caller]
    pub fn vsctl(&self, words: &str) -> String {
        let database = format!("--db=unix:{}", self.path("db.sock"));
        let arguments: Vec<&str> = [database.as_str(), "--timeout=20"].into_iter().chain(words.split(' ')).collect();
        self.call("ovs-vsctl", &arguments)
    }

    /// `ovs-appctl` with this command.
    #[track_caller]
    pub fn appctl(&self, command: &str) -> String {
        self.appctl_with(command, &[])
    }

    /// The same, with arguments.
    #[track_caller]
    pub fn appctl_with(&self, command: &str, arguments: &[&str]) -> String {
        let control = self.path(CONTROL);
        self.call("ovs-appctl", &[&["-t", &control, command], arguments].concat())
    }

    /// The socket that takes the switch's commands (`unixctl`).
    pub fn control_socket(&self) -> PathBuf {
        self.dir.join(CONTROL)
    }

    /// What the switch has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path(LOG)).unwrap_or_default()
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).to_string_lossy().into_owned()
    }

    /// A program with its files.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
        for folder in ["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR"] {
            command.env(folder, &self.dir);
        }
        command
    }

    fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program, arguments);
        let child = self.host.netns.run(|| command.stdout(Stdio::null()).spawn()).unwrap().unwrap();
        self.daemons.push(child);
    }

    #[track_caller]
    fn call(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program, arguments).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for OpenVSwitch {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
