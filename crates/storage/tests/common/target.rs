//! A real target.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::{Host, eventually};

use super::{Folder, output};

/// Its name.
pub const NAME: &str = "iqn.2026-01.org.example:disk";

/// tgt, serving a file in memory on every address of a host, with a control socket of its own; it goes with its handle.
pub struct Target {
    folder: Folder,
    child: Option<Child>,
}

impl Target {
    /// Serves so many bytes.
    pub fn start(host: &Host, bytes: u64) -> Target {
        let folder = Folder::new("target");
        let file = std::fs::File::create(folder.file("lun")).unwrap();
        file.set_len(bytes).unwrap();
        let mut target = Target { folder, child: None };
        target.restart(host);
        target
    }

    /// Starts it, again or for the first time, with what the file holds.
    pub fn restart(&mut self, host: &Host) {
        let mut command = Command::new("tgtd");
        command
            .arg("-f")
            .env("TGT_IPC_SOCKET", self.folder.file("control"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process::in_netns(&mut command, &host.netns);
        process::die_with_parent(&mut command);
        self.child = Some(command.spawn().unwrap());
        let admin = |arguments: &str| {
            let mut command = Command::new("tgtadm");
            command.env("TGT_IPC_SOCKET", self.folder.file("control")).args(["--lld", "iscsi"]);
            command.args(arguments.split_whitespace());
            command
        };
        eventually("an answer of the target", || {
            admin("--mode system --op show").output().is_ok_and(|output| output.status.success())
        });
        output(admin("--op new --mode target --tid 1 -T").arg(NAME));
        output(admin("--op new --mode logicalunit --tid 1 --lun 1 --bstype rdwr -b").arg(self.file()));
        output(&mut admin("--op bind --mode target --tid 1 -I ALL"));
    }

    /// Kills it as a power cut would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Its sockets are named after it; the next one would take them for those of another process.
        let _ = std::fs::remove_file(self.folder.file("control.0"));
        let _ = std::fs::remove_file(self.folder.file("control.0.lock"));
    }

    /// The file that it serves.
    pub fn file(&self) -> PathBuf {
        self.folder.file("lun")
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.kill();
    }
}
