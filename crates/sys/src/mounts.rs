//! Mounts of one process.

use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::{Context, Result};

/// Puts an empty file system in memory over a folder, for the calling thread and the threads and processes that it starts
/// from now on, and for nobody else. It goes with the last of them.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`; what was mounted before stays as it is.
pub fn private_tmpfs(folder: &Path) -> Result<()> {
    const OPTIONS: &str = "mode=0700,size=16m";
    const NOTHING: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    unshare(CloneFlags::CLONE_NEWNS)
        // Or the mount would show where this one's parent is.
        .and_then(|()| mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING))
        .and_then(|()| mount(Some("nicteam"), folder, Some("tmpfs"), flags, Some(OPTIONS)))
        .context(|| format!("mount a private file system over {}", folder.display()))
}
