//! An iSCSI target: tgt, which serves a file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_sys::netns::NetNs;
use nicteam_sys::process;

use crate::{eventually, may_make_networks};

const DAEMON: &str = "/usr/sbin/tgtd";

/// A target with one logical unit, a file of zeros. Daemon and file go with this value.
#[derive(Debug)]
pub struct IscsiTarget {
    netns: NetNs,
    dir: PathBuf,
    daemon: Option<Child>,
    settings: Vec<(String, String)>,
}

impl IscsiTarget {
    /// Its name.
    pub const NAME: &str = "iqn.2026-01.test:disk";
    /// Its logical unit.
    pub const LUN: u32 = 1;
    /// Its port, at every address of the host.
    pub const PORT: u16 = 3260;

    /// Starts one in a namespace, for the life of the calling thread; nothing, said aloud, where tgt is not installed or may
    /// not run. `settings` are tgt's own: `MaxRecvDataSegmentLength`.
    #[track_caller]
    pub fn start_or_skip(netns: &NetNs, bytes: u64, settings: &[(&str, &str)]) -> Option<IscsiTarget> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !may_make_networks() {
            return None;
        }
        if !Path::new(DAEMON).exists() {
            eprintln!("SKIPPED: needs tgt");
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nicteam-target-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let netns = netns.run(NetNs::current).unwrap().unwrap();
        let settings = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let mut target = IscsiTarget { netns, dir, daemon: None, settings };
        std::fs::File::create(target.file()).unwrap().set_len(bytes).unwrap();
        target.restart();
        Some(target)
    }

    /// The file that it serves.
    pub fn file(&self) -> PathBuf {
        self.dir.join("disk")
    }

    /// Its portal at this address of the host.
    pub fn portal(address: &str) -> SocketAddr {
        SocketAddr::new(address.parse().unwrap(), Self::PORT)
    }

    /// Kills it as a crash would.
    pub fn crash(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().unwrap();
            daemon.wait().unwrap();
        }
    }

    /// Starts it again after [`IscsiTarget::crash`], with the same file.
    #[track_caller]
    pub fn restart(&mut self) {
        assert!(self.daemon.is_none(), "the target runs");
        let mut command = self.command(DAEMON, &["-f"]);
        process::die_with_parent(&mut command);
        process::in_netns(&mut command, &self.netns);
        self.daemon = Some(command.spawn().unwrap());
        eventually("the target's control socket", || {
            self.tgtadm(&["--mode", "system", "--op", "show"]).status.success()
        });
        self.admin(&["--mode", "target", "--op", "new", "--tid", "1", "-T", Self::NAME]);
        for (key, value) in &self.settings {
            self.admin(&["--mode", "target", "--op", "update", "--tid", "1", "--name", key, "--value", value]);
        }
        let file = self.file();
        let file = ["--lun", "1", "--bstype", "rdwr", "-b", file.to_str().unwrap()];
        self.admin(&[&["--mode", "logicalunit", "--op", "new", "--tid", "1"], &file[..]].concat());
        self.admin(&["--mode", "target", "--op", "bind", "--tid", "1", "-I", "ALL"]);
    }

    /// Sends the daemon a signal, `-STOP` for one.
    pub fn signal(&self, signal: &str) {
        let pid = self.daemon.as_ref().expect("the target runs").id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// What `tgtadm` prints about target 1: sessions, logical units.
    #[track_caller]
    pub fn show(&self, mode: &str) -> String {
        let output = self.tgtadm(&["--mode", mode, "--op", "show", "--tid", "1"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[track_caller]
    fn admin(&self, arguments: &[&str]) {
        let output = self.tgtadm(arguments);
        assert!(output.status.success(), "tgtadm {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn tgtadm(&self, arguments: &[&str]) -> Output {
        let arguments = [&["--lld", "iscsi"], arguments].concat();
        self.command("tgtadm", &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    }

    /// A program that has or asks this daemon, by its own control socket.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("TGT_IPC_SOCKET", self.dir.join("control"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for IscsiTarget {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
