//! Open vSwitch with its userspace datapath.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nicteam_testnet::{Host, eventually};
use serde_json::{Value, json};

use super::end::{End, PORTS, device};
use crate::failure::Failure;
use crate::scratch::Scratch;
use crate::tools::{self, Daemon};

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// A bond of a switch of its own: a namespace, a database, a daemon.
pub(crate) struct OvsEnd {
    version: String,
    _daemons: Vec<Daemon>,
    scratch: Scratch,
    made: bool,
    // Behind the daemons, so that they end in a namespace that still is.
    _host: Host,
}

impl OvsEnd {
    pub(crate) fn new(host: Host) -> Result<OvsEnd, Failure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch::new(&format!("ovs-{number}"))?;
        let at = |name: &str| path(&scratch, name);
        tools::output(&mut command(&scratch, "ovsdb-tool", &["create", &at("conf.db"), SCHEMA]))?;
        let remote = format!("--remote=punix:{}", at("db.sock"));
        let control = format!("--unixctl={}", at("db.ctl"));
        let database =
            Daemon::spawn(&host.netns, command(&scratch, "ovsdb-server", &[&at("conf.db"), &remote, &control]))?;
        eventually("the database of Open vSwitch", || UnixStream::connect(at("db.sock")).is_ok());
        vsctl(&scratch, "--no-wait init")?;
        let (socket, control) = (format!("unix:{}", at("db.sock")), format!("--unixctl={}", at("ovs.ctl")));
        let switch =
            Daemon::spawn(&host.netns, command(&scratch, "ovs-vswitchd", &[&socket, &control, "--disable-system"]))?;
        eventually("Open vSwitch", || UnixStream::connect(at("ovs.ctl")).is_ok());
        let version = tools::output(Command::new("ovs-vswitchd").arg("--version"))?.stdout;
        let version = String::from_utf8_lossy(&version);
        let version = version.split_whitespace().nth(3).unwrap_or("of unknown version").to_owned();
        vsctl(&scratch, "add-br br0 -- set bridge br0 datapath_type=netdev")?;
        Ok(OvsEnd { version, _daemons: vec![switch, database], scratch, made: false, _host: host })
    }

    /// What `ovs-appctl COMMAND` prints, asked without a process.
    fn ask(&self, method: &str) -> Result<String, Failure> {
        let mut socket = UnixStream::connect(path(&self.scratch, "ovs.ctl")).map_err(Failure::failed)?;
        socket.set_read_timeout(Some(Duration::from_secs(20))).map_err(Failure::failed)?;
        let request = json!({"id": 0, "method": method, "params": []}).to_string();
        socket.write_all(request.as_bytes()).map_err(Failure::failed)?;
        let (mut said, mut buffer) = (Vec::new(), [0; 8192]);
        loop {
            let len = socket.read(&mut buffer).map_err(Failure::failed)?;
            said.extend_from_slice(&buffer[..len]);
            // The answer is whole when it is a value: there is no other mark.
            match serde_json::from_slice::<Value>(&said) {
                Ok(answer) => return Ok(answer["result"].as_str().unwrap_or_default().to_owned()),
                Err(_) if len > 0 => {}
                Err(error) => return Err(Failure::failed(format!("Open vSwitch does not answer: {error}"))),
            }
        }
    }
}

impl End for OvsEnd {
    fn wait_ms(&self) -> u32 {
        0
    }

    fn waits(&self) -> String {
        format!("Open vSwitch {} does not wait", self.version)
    }

    fn renew(&mut self) -> Result<(), Failure> {
        if self.made {
            vsctl(&self.scratch, "del-port bond0")?;
        }
        let ports = (0..PORTS).map(device).collect::<Vec<_>>().join(" ");
        vsctl(&self.scratch, &format!("add-bond br0 bond0 {ports} bond_mode=balance-slb lacp=active"))?;
        self.made = true;
        Ok(())
    }

    /// The bond sends by the port, and LACP says so.
    fn distributes(&mut self) -> Result<bool, Failure> {
        let enabled = self.ask("bond/show")?.matches(": enabled").count();
        let said = self.ask("lacp/show")?;
        let actors = said.lines().filter(|line| line.trim_start().starts_with("actor state:"));
        Ok(enabled == PORTS && actors.filter(|line| line.contains("distributing")).count() == PORTS)
    }

    fn state(&mut self) -> String {
        ["bond/show", "lacp/show"]
            .map(|method| self.ask(method).unwrap_or_else(|failure| failure.to_string()))
            .join("\n")
    }
}

fn path(scratch: &Scratch, name: &str) -> String {
    Path::new(scratch.path()).join(name).to_string_lossy().into_owned()
}

/// A program with its files in the scratch folder.
fn command(scratch: &Scratch, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    for folder in ["OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR"] {
        command.env(folder, scratch.path());
    }
    command
}

fn vsctl(scratch: &Scratch, words: &str) -> Result<(), Failure> {
    let database = format!("--db=unix:{}", path(scratch, "db.sock"));
    let arguments: Vec<&str> = [database.as_str(), "--timeout=20"].into_iter().chain(words.split(' ')).collect();
    tools::output(&mut command(scratch, "ovs-vsctl", &arguments)).map(drop)
}
