//! A real NFS server.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nicteam_storage::NfsSpec;
use nicteam_sys::{mounts, pid_namespace, process};
use nicteam_testnet::{Host, eventually, may_make_networks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Folder, has_programs};

/// nfs-ganesha on every address of a host, with an rpcbind of its own; both go with their handle. They see its folder as
/// `/run`.
pub struct Server {
    folder: Folder,
    /// The server's, then rpcbind's.
    children: Vec<Child>,
}

impl Server {
    pub const EXPORT: &str = "/files";
    pub const FILE: &str = "disk";

    /// The same as [`Server::start`]; nothing, said aloud, where that cannot be.
    pub fn start_or_skip(host: &Host, bytes: u64, limits: &str) -> Option<Server> {
        if !may_make_networks() || !has_programs(&["ganesha.nfsd", "rpcbind"]) {
            return None;
        }
        Some(Server::start(host, bytes, limits))
    }

    /// Exports a folder with a file of so many zero bytes. `limits` go into the export's configuration.
    fn start(host: &Host, bytes: u64, limits: &str) -> Server {
        // From 6 on ganesha serves no file system of type tmpfs.
        let folder = Folder::on_disk("nfs");
        for name in ["ganesha", "export"] {
            std::fs::create_dir(folder.file(name)).unwrap();
        }
        std::fs::File::create(folder.file("export/disk")).unwrap().set_len(bytes).unwrap();
        let configuration = format!(
            "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 2049; MNT_Port = 20048; Enable_UDP = false; Enable_NLM = false; \
             Enable_RQUOTA = false; mount_path_pseudo = true;{} }}\n\
             NFS_KRB5 {{ Active_krb5 = false; }}\n\
             EXPORT {{ Export_Id = 1; Path = /run/export; Pseudo = {}; Access_Type = RW; Squash = No_Root_Squash; \
             SecType = sys; Protocols = 3; Transports = TCP; {limits} FSAL {{ Name = VFS; }} }}\n",
            if is_from_6() { " allow_set_io_flusher_fail = true;" } else { "" },
            Self::EXPORT
        );
        std::fs::write(folder.file("ganesha.conf"), configuration).unwrap();
        let mut server = Server { folder, children: Vec::new() };
        server.restart(host);
        server
    }

    /// Starts it, again or for the first time.
    pub fn restart(&mut self, host: &Host) {
        let registry = self.spawn(host, "rpcbind", &["-f"]);
        self.children.push(registry);
        let socket = self.folder.file("rpcbind.sock");
        eventually("rpcbind", || UnixStream::connect(&socket).is_ok());
        let arguments = ["-F", "-f", "/run/ganesha.conf", "-L", "/run/ganesha.log", "-p", "/run/ganesha.pid"];
        let server = self.spawn(host, "ganesha.nfsd", &arguments);
        self.children.insert(0, server);
    }

    /// Kills both as a power cut would; when it returns their ports are free.
    pub fn kill(&mut self) {
        for mut child in self.children.drain(..) {
            // The child that was started waits for them, and so for their ports.
            for pid in pid_namespace::processes(child.id()) {
                let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
            }
            let _ = child.wait();
        }
    }

    /// The file that it serves.
    pub fn file(&self) -> PathBuf {
        self.folder.file("export/disk")
    }

    /// The file, as a client at this address of the host names it.
    pub fn spec(address: &str) -> NfsSpec {
        NfsSpec::new(address.parse().unwrap(), Self::EXPORT, Self::FILE)
    }

    fn spawn(&self, host: &Host, program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process::in_netns(&mut command, &host.netns);
        mounts::show_in_place(&mut command, &self.folder.0, Path::new("/run")).unwrap();
        process::die_with_parent(&mut command);
        // rpcbind changes its user, after which the kernel no longer ends it with its parent.
        pid_namespace::in_new_pid_namespace(&mut command);
        command.spawn().unwrap()
    }
}

/// True for a ganesha from 6 on, which knows that option.
fn is_from_6() -> bool {
    let asked = Command::new("ganesha.nfsd").arg("-v").output().unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let major = said.split("Release = V").nth(1).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    major.is_some_and(|major| major >= 6)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
