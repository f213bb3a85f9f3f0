//! Open vSwitch as the other end: a switch of its own for each test.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_testnet::{Host, eventually, may_make_networks};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// A switch of its own: a namespace, a database, a daemon with the userspace datapath.
pub struct OpenVSwitch {
    pub host: Host,
    dir: PathBuf,
    daemons: Vec<Child>,
}

impl OpenVSwitch {
    /// Nothing, said aloud, where it is not installed.
    pub fn start() -> Option<OpenVSwitch> {
        if !may_make_networks() {
            return None;
        }
        if !Path::new(SCHEMA).exists() {
            eprintln!("SKIPPED: needs openvswitch-switch");
            return None;
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nicteam-ovs-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut ovs = OpenVSwitch { host: Host::new(), dir, daemons: Vec::new() };
        ovs.call("ovsdb-tool", &["create", &ovs.path("conf.db"), SCHEMA]);
        ovs.spawn(
            "ovsdb-server",
            &[
                &ovs.path("conf.db"),
                &format!("--remote=punix:{}", ovs.path("db.sock")),
                &format!("--unixctl={}", ovs.path("db.ctl")),
            ],
        );
        eventually("the database", || UnixStream::connect(ovs.path("db.sock")).is_ok());
        ovs.vsctl("--no-wait init");
        ovs.start_switch();
        Some(ovs)
    }

    fn start_switch(&mut self) {
        let arguments = [
            &format!("unix:{}", self.path("db.sock")),
            &format!("--unixctl={}", self.path("ovs.ctl")),
            "--disable-system",
        ];
        self.spawn("ovs-vswitchd", &arguments);
        eventually("the switch", || UnixStream::connect(self.path("ovs.ctl")).is_ok());
    }

    /// Kills the switch as a crash would; its ports keep their links.
    pub fn crash(&mut self) {
        let mut switch = self.daemons.pop().unwrap();
        switch.kill().unwrap();
        switch.wait().unwrap();
    }

    /// Starts it again.
    pub fn restart(&mut self) {
        assert_eq!(self.daemons.len(), 1, "the switch runs");
        self.start_switch();
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).to_str().unwrap().to_owned()
    }

    /// A program in its namespace, with its files.
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
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn vsctl(&self, words: &str) -> String {
        let database = format!("--db=unix:{}", self.path("db.sock"));
        let arguments: Vec<&str> = [database.as_str(), "--timeout=20"].into_iter().chain(words.split(' ')).collect();
        self.call("ovs-vsctl", &arguments)
    }

    /// What `ovs-appctl lacp/show` prints.
    pub fn lacp(&self) -> String {
        self.call("ovs-appctl", &["-t", &self.path("ovs.ctl"), "lacp/show"])
    }

    /// True if it forwards by so many members.
    pub fn uses(&self, members: usize) -> bool {
        self.call("ovs-appctl", &["-t", &self.path("ovs.ctl"), "bond/show"]).matches(": enabled").count() == members
    }

    /// Sends the switch a signal, `-STOP` for one.
    pub fn signal(&self, signal: &str) {
        let pid = self.daemons[1].id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
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
