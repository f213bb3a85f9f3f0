//! `nfs`: an export of NFS 3 by nfs-ganesha, with an rpcbind of its own.
//!
//! Ganesha registers its services and does not start without an rpcbind, whose socket has a fixed path in `/run`. So both
//! see the target's folder in place of `/run`, with all that they read and write; rpcbind's TCP port, 111, is the namespace's. rpcbind gives up root for a user
//! of its own, and with that the kernel forgets that it is to end with its parent: both run in PID namespaces.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use nicteam_experiment::Nfs;
use nicteam_node::Failure;
use nicteam_node::Output;
use nicteam_node::protocol::ServeTarget;
use nicteam_sys::{mounts, netns};
use serde::Deserialize;

use super::terms::{Kind, Said, Served, Server};
use super::{backing, mount};
use crate::background::{Background, Log, Start};
use crate::engine::Absent;
use crate::installed::{find, missing};

const SERVER: &str = "ganesha.nfsd";
const REGISTRY: &str = "rpcbind";
const INSTALL: &str = "`apt-get install nfs-ganesha nfs-ganesha-vfs rpcbind` on Debian; their services need not run";
/// What ganesha loads to serve a folder.
const PLUGIN: &str = "ganesha/libfsalvfs.so";
/// Folders that libraries are in, some by the machine's architecture.
const LIBRARIES: [&str; 3] = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
/// Room for the file system's own.
const SPARE_BYTES: u64 = 4 << 20;

/// The kind.
#[derive(Debug)]
pub(super) struct Ganesha;

impl Kind for Ganesha {
    fn name(&self) -> &'static str {
        "nfs"
    }

    fn is_there(&self) -> Result<(), Absent> {
        let plugin = (!can_serve_folders()).then_some(PLUGIN);
        if let Some(what) = missing(&[SERVER, REGISTRY]).or(plugin) {
            let reason = format!("nfs-ganesha is not installed: there is no {what}");
            return Err(Absent { reason, hint: Some(INSTALL.to_owned()) });
        }
        if netns::is_in_user_namespace() {
            let reason =
                "rpcbind, which nfs-ganesha needs, gives up root for a user that a user namespace does not have";
            return Err(Absent { reason: reason.to_owned(), hint: Some("run the lab as root".to_owned()) });
        }
        Ok(())
    }

    fn serve(&self, target: &ServeTarget, output: &Output) -> Result<Served, Failure> {
        let settings = Nfs::deserialize(&target.settings).map_err(|error| format!("no export of NFS: {error}"))?;
        let folder = nicteam_daemon::private_folder(&format!("target-{}", target.name))?;
        backing::has_memory(target.size_bytes)?;
        let export = folder.join(EXPORT);
        fs::create_dir_all(&export)?;
        fs::create_dir_all(folder.join("ganesha"))?;
        let version = version();
        serve_memory(&export, &folder, target.size_bytes + SPARE_BYTES, &version)?;
        let backing = File::options().read(true).write(true).create_new(true).open(export.join(&settings.file))?;
        backing.set_len(target.size_bytes)?;
        fs::write(folder.join(CONFIGURATION), configuration(&settings, &version))?;
        let portals: Vec<_> = target.addresses.iter().map(|address| SocketAddr::new(*address, settings.port)).collect();
        let export = Export { settings, folder, portals: portals.clone(), output: output.clone() };
        let said = Said { program: SERVER, version, portals, configured: export.configured() };
        Served::start(said, backing, Box::new(export))
    }
}

/// As both programs see the target's folder.
const RUN: &str = "/run";
/// What is in it: what ganesha is told, what it logs, what it serves.
const CONFIGURATION: &str = "ganesha.conf";
const LOG: &str = "ganesha.log";
const EXPORT: &str = "export";

/// An export with one file.
#[derive(Debug)]
struct Export {
    settings: Nfs,
    folder: PathBuf,
    portals: Vec<SocketAddr>,
    output: Output,
}

impl Export {
    /// What it is told, by its own words.
    fn configured(&self) -> BTreeMap<String, String> {
        let Nfs { mount_port, export, file, .. } = &self.settings;
        let told = [("Protocols", "3".to_owned()), ("MNT_Port", mount_port.to_string()), ("Pseudo", export.clone())];
        let told = told.into_iter().chain([("file", file.clone())]);
        told.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Starts a program that sees the target's folder in place of `/run`.
    fn launch(&self, program: &'static str, arguments: &[&str], log: Option<Log>) -> Result<Background, Failure> {
        let found = find(program).ok_or_else(|| format!("there is no {program}; hint: {INSTALL}"))?;
        let mut command = Command::new(found);
        command.args(arguments);
        mounts::show_in_place(&mut command, &self.folder, Path::new(RUN))?;
        let output = self.folder.join(format!("{program}.out"));
        Background::start(Start { program, command, output, log, apart: true, tell: &self.output })
    }
}

impl Server for Export {
    fn start(&self) -> Result<Vec<Background>, Failure> {
        let registry = self.launch(REGISTRY, &["-f"], None)?;
        let socket = self.folder.join("rpcbind.sock");
        registry.until("listen at its socket", || UnixStream::connect(&socket).is_ok())?;
        let log = Log { path: self.folder.join(LOG), is_told: is_serious };
        let [configuration, written, pid] = [CONFIGURATION, LOG, "ganesha.pid"].map(|name| format!("{RUN}/{name}"));
        let arguments = ["-F", "-f", &configuration, "-L", &written, "-p", &pid];
        let server = self.launch(SERVER, &arguments, Some(log))?;
        for portal in &self.portals {
            let service = SocketAddr::new(portal.ip(), self.settings.mount_port);
            let what = format!("grant a mount of {} at {service}", self.settings.export);
            server.until(&what, || mount::is_granted(service, &self.settings.export))?;
        }
        Ok(vec![server, registry])
    }
}

/// Puts memory over the folder that is exported.
fn serve_memory(export: &Path, folder: &Path, bytes: u64, version: &str) -> Result<(), Failure> {
    if !is_from_6(version) {
        return Ok(mounts::private_tmpfs(export, bytes)?);
    }
    // It leaves file systems of type tmpfs out.
    let memory = folder.join("memory");
    fs::create_dir_all(&memory)?;
    mounts::private_tmpfs(&memory, bytes)?;
    Ok(mounts::overlay(export, &memory)?)
}

/// True for a version from 6 on.
fn is_from_6(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 6)
}

/// NFS 3 over TCP alone: the rest of what ganesha can do asks for services that a host of a lab does not have.
fn configuration(settings: &Nfs, version: &str) -> String {
    let Nfs { port, mount_port, export, .. } = settings;
    // Or it ends where it may not tell the kernel that writing is its work (`PR_SET_IO_FLUSHER`, CAP_SYS_RESOURCE).
    let flusher = if is_from_6(version) { " allow_set_io_flusher_fail = true;" } else { "" };
    format!(
        "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = {port}; MNT_Port = {mount_port}; Enable_UDP = false; \
         Enable_NLM = false; Enable_RQUOTA = false; mount_path_pseudo = true;{flusher} }}\n\
         NFS_KRB5 {{ Active_krb5 = false; }}\n\
         EXPORT {{ Export_Id = 1; Path = {RUN}/{EXPORT}; Pseudo = {export}; Access_Type = RW; Squash = No_Root_Squash; \
         SecType = sys; Protocols = 3; Transports = TCP; FSAL {{ Name = VFS; }} }}\n\
         LOG {{ Default_Log_Level = WARN; }}\n"
    )
}

/// A line that says why ganesha ends; that a host of a lab has neither D-Bus nor Kerberos does not.
fn is_serious(line: &str) -> bool {
    let serious = [":FATAL :", ":MAJ :", ":CRIT :"].iter().any(|level| line.contains(level));
    serious && !line.contains(":DBUS :") && !line.contains("krb5")
}

/// Whether ganesha can serve a folder.
pub(crate) fn can_serve_folders() -> bool {
    let below = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    LIBRARIES.iter().any(|folder| {
        Path::new(folder).join(PLUGIN).exists() || below(folder).any(|folder| folder.join(PLUGIN).exists())
    })
}

/// `4.3`; empty if it does not say.
pub(super) fn version() -> String {
    let asked = find(SERVER).and_then(|program| Command::new(program).arg("-v").output().ok());
    let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.lines().find_map(|line| line.strip_prefix("NFS-Ganesha Release = V")).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        assert!(is_from_6("6.5") && is_from_6("10.1"));
        assert!(!is_from_6("4.3") && !is_from_6(""));
    }

    #[test]
    fn what_is_told_of_its_log_is_why_it_ended() {
        let line = |rest: &str| format!("24/11/2026 13:11:54 : epoch 6b05 : vm : nfs-ganesha-7[main] {rest}");
        assert!(is_serious(&line("__Register_program :DISP :MAJ :Cannot register NFS V3 on TCP")));
        for usual in [
            "gsh_dbus_pkginit :DBUS :CRIT :dbus_bus_get failed",
            "gssd_refresh_krb5_machine_credential :NFS CB :CRIT :ERROR: no usable keytab entry",
            "log_conf_commit :LOG :NULL :LOG: Changing custom RPC_Debug_Flags",
        ] {
            assert!(!is_serious(&line(usual)), "{usual}");
        }
    }
}
