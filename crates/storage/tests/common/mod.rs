//! What tests have in common.
#![allow(dead_code, reason = "not every test file needs all of it")]

pub mod memory;
pub mod net;
pub mod nfs;
pub mod relay;
pub mod work;

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_storage::{Disk, DiskSpec, Library};
use nicteam_sys::netns::NetNs;
use nicteam_testnet::may_make_networks;
use nix::sched::{CloneFlags, setns};

use net::Net;

/// A folder in memory that goes with its handle.
pub struct Folder(pub PathBuf);

impl Folder {
    /// One in memory.
    pub fn new(what: &str) -> Folder {
        Folder::below("/dev/shm", what)
    }

    /// One whose files lie on a disk.
    pub fn on_disk(what: &str) -> Folder {
        Folder::below("/var/tmp", what)
    }

    fn below(parent: &str, what: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("{parent}/nicteam-{what}-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// True if every program is installed; else the test is to return.
pub fn has_programs(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/sbin".into()]);
    let is_missing = |program: &&&str| !folders.iter().any(|folder| folder.join(program).exists());
    let missing: Vec<_> = programs.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        eprintln!("SKIPPED: needs {missing:?}");
    }
    missing.is_empty()
}

/// Runs a command to its end; what it wrote, if it succeeded.
#[track_caller]
pub fn output(command: &mut Command) -> String {
    nicteam_sys::process::die_with_parent(command);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    told
}

/// libiscsi, where it and what a live test needs are there; else the test is to return.
pub fn library() -> Option<Library> {
    if !may_make_networks() || !has_programs(&["tgtd", "tgtadm"]) {
        return None;
    }
    Library::open().map_err(|absent| eprintln!("SKIPPED: {absent}")).ok()
}

/// Opens a disk at the initiator, lets `work` have it and the network, and closes it.
pub fn with_disk<R>(
    library: &Library,
    net: &mut Net,
    spec: &DiskSpec,
    work: impl FnOnce(&mut Disk, &mut Net) -> R,
) -> R {
    let netns = net.initiator.netns.as_fd().try_clone_to_owned().unwrap();
    inside(netns.as_fd(), || {
        let mut disk = Disk::open(library, spec).unwrap();
        let result = work(&mut disk, net);
        disk.close().unwrap();
        result
    })
}

/// Does something in a network namespace, on this thread: what it needs may be tied to that.
pub fn inside<R>(netns: BorrowedFd<'_>, work: impl FnOnce() -> R) -> R {
    let here = NetNs::current().unwrap();
    setns(netns, CloneFlags::CLONE_NEWNET).unwrap();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    here.enter().unwrap();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
