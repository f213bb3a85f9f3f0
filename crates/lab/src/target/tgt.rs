//! `iscsi`: Linux's SCSI target (tgt), a `tgtd` a target.
//!
//! Its management socket lies in the agent's own folder (`TGT_IPC_SOCKET`), so a `tgtd` of the machine is not touched.
//! What the LUN holds is a file that `tgtd` inherits: it has no path that anybody else could open, and needs no mount.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nicteam_experiment::Iscsi;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::ServeTarget;
use nicteam_sys::process;
use serde::Deserialize;

use super::terms::{Kind, Said, Served, Server};
use super::{backing, login};
use crate::background::{Background, Start};
use crate::engine::Absent;
use crate::installed::{find, missing};

const SERVER: &str = "tgtd";
const TOOL: &str = "tgtadm";
const INSTALL: &str = "`apt-get install tgt` on Debian; its service need not run";

/// The kind.
#[derive(Debug)]
pub(super) struct Tgt;

impl Kind for Tgt {
    fn name(&self) -> &'static str {
        "iscsi"
    }

    fn is_there(&self) -> Result<(), Absent> {
        match missing(&[SERVER, TOOL]) {
            Some(program) => {
                let reason = format!("tgt is not installed: there is no {program}");
                Err(Absent { reason, hint: Some(INSTALL.to_owned()) })
            }
            None => Ok(()),
        }
    }

    fn serve(&self, target: &ServeTarget, output: &Output) -> Result<Served, Failure> {
        let settings = Iscsi::deserialize(&target.settings).map_err(|error| format!("no iSCSI target: {error}"))?;
        let backing = match target.on_disk {
            false => backing::in_memory(target.size_bytes)?,
            true => backing::on_disk(target.size_bytes)?,
        };
        let folder = nicteam_daemon::private_folder(&format!("target-{}", target.name))?;
        let portals: Vec<_> = target.addresses.iter().map(|address| SocketAddr::new(*address, settings.port)).collect();
        let portal = Portal {
            settings,
            backing: backing.try_clone()?,
            folder,
            portals: portals.clone(),
            output: output.clone(),
        };
        let said = Said { program: SERVER, version: version(), portals, configured: portal.configured() };
        Served::start(said, backing, Box::new(portal))
    }
}

/// A target with one LUN.
#[derive(Debug)]
struct Portal {
    settings: Iscsi,
    backing: File,
    folder: PathBuf,
    portals: Vec<SocketAddr>,
    output: Output,
}

impl Portal {
    /// Where its management socket is; `tgtd` adds a number.
    fn control(&self) -> PathBuf {
        self.folder.join("control")
    }

    /// What it is told, by its own words.
    fn configured(&self) -> BTreeMap<String, String> {
        let mut configured: BTreeMap<String, String> =
            self.parameters().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        configured.insert("TargetName".to_owned(), self.settings.target.clone());
        configured.insert("LUN".to_owned(), self.settings.lun.to_string());
        configured
    }

    /// Starts the server, without a target; the second is the path by which it has what the LUN holds.
    fn start_empty(&self) -> Result<(Background, String), Failure> {
        let mut command = program(SERVER)?;
        let any = if self.portals.iter().any(SocketAddr::is_ipv6) { "[::]" } else { "0.0.0.0" };
        command.args(["-f", "--iscsi", &format!("portal={any}:{}", self.settings.port)]);
        command.env("TGT_IPC_SOCKET", self.control());
        let number = process::inherit(&mut command, self.backing.try_clone()?.into());
        let output = self.folder.join("tgtd.out");
        let server =
            Background::start(Start { program: SERVER, command, output, log: None, apart: false, tell: &self.output })?;
        Ok((server, format!("/proc/self/fd/{number}")))
    }

    /// Runs `tgtadm` to its end.
    fn set(&self, words: &str) -> Result<(), Failure> {
        let mut command = program(TOOL)?;
        command.args(["--lld", "iscsi"]).args(words.split_whitespace()).stdin(Stdio::null());
        command.env("TGT_IPC_SOCKET", self.control());
        let output = command.output().map_err(|error| format!("start {TOOL}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{TOOL} {words}: {}", said.trim()).into())
    }

    /// The parameters that the file sets, by RFC 7143's names.
    fn parameters(&self) -> [(&'static str, String); 5] {
        let flag = |on: bool| if on { "Yes" } else { "No" }.to_owned();
        let settings = &self.settings;
        [
            ("MaxRecvDataSegmentLength", settings.max_recv_data_bytes.to_string()),
            ("FirstBurstLength", settings.first_burst_bytes.to_string()),
            ("MaxBurstLength", settings.max_burst_bytes.to_string()),
            ("ImmediateData", flag(settings.immediate_data)),
            ("InitialR2T", flag(settings.initial_r2t)),
        ]
    }
}

impl Server for Portal {
    fn start(&self) -> Result<Vec<Background>, Failure> {
        let (server, path) = self.start_empty()?;
        server.until("answer its tool", || self.set("--op show --mode system").is_ok())?;
        let Iscsi { target, lun, .. } = &self.settings;
        self.set(&format!("--op new --mode target --tid 1 --targetname {target}"))?;
        self.set(&format!("--op new --mode logicalunit --tid 1 --lun {lun} --bstype rdwr --backing-store {path}"))?;
        for (name, value) in self.parameters() {
            self.set(&format!("--op update --mode target --tid 1 --name {name} --value {value}"))?;
        }
        self.set("--op bind --mode target --tid 1 --initiator-address ALL")?;
        for portal in &self.portals {
            server.until(&format!("take a login at {portal}"), || login::is_taken(*portal, target))?;
        }
        Ok(vec![server])
    }
}

/// `1.0.85`; empty if it does not say.
pub(super) fn version() -> String {
    let asked = program(SERVER).ok().and_then(|mut command| command.arg("--version").output().ok());
    asked.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn program(name: &str) -> Result<Command, Failure> {
    let found = find(name).ok_or_else(|| format!("there is no {name}; hint: {INSTALL}"))?;
    Ok(Command::new(found))
}
