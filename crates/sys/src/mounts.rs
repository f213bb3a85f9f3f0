//! Mounts of one process.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::{Context, Result};

const NOTHING: Option<&str> = None;

/// Puts an empty file system in memory, which takes so many bytes, over a folder, for the calling thread and the threads
/// and processes that it starts from now on, and for nobody else. It goes with the last of them.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`; what was mounted before stays as it is.
pub fn private_tmpfs(folder: &Path, bytes: u64) -> Result<()> {
    let options = format!("mode=0700,size={bytes}");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    unshare(CloneFlags::CLONE_NEWNS)
        // Or the mount would show where this one's parent is.
        .and_then(|()| mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING))
        .and_then(|()| mount(Some("nicteam"), folder, Some("tmpfs"), flags, Some(options.as_str())))
        .context(|| format!("mount a private file system over {}", folder.display()))
}

/// Puts over a folder a file system of type overlay whose files are those of another folder, `within` which it has what it
/// needs for itself. It answers for files by their handles, as a server of NFS asks for them.
///
/// For the same processes as [`private_tmpfs`], which comes first.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`; `ENODEV` where the kernel has no overlayfs.
pub fn overlay(folder: &Path, within: &Path) -> Result<()> {
    let parts = ["lower", "upper", "work"].map(|part| within.join(part));
    let made = parts.iter().try_for_each(std::fs::create_dir);
    let [lower, upper, work] = parts.each_ref().map(|part| part.display());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work},index=on,nfs_export=on");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    made.and_then(|()| Ok(mount(Some("nicteam"), folder, Some("overlay"), flags, Some(options.as_str()))?))
        .context(|| format!("mount an overlay over {}", folder.display()))
}

/// Lets the child of `command`, and all that it starts, see one folder, with what is mounted in it, in place of another, and
/// nobody else.
///
/// # Errors
/// A path with a zero byte; whether the child may mount shows at its start.
pub fn show_in_place(command: &mut Command, folder: &Path, in_place_of: &Path) -> Result<()> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (text(folder), text(in_place_of));
    let (from, to) = from.and_then(|from| Ok((from, to?))).context(|| format!("mount {}", folder.display()))?;
    let enter = move || {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let root = c"/";
        mount(NO_TEXT, root, NO_TEXT, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NO_TEXT)?;
        Ok(mount(Some(from.as_c_str()), to.as_c_str(), NO_TEXT, MsFlags::MS_BIND | MsFlags::MS_REC, NO_TEXT)?)
    };
    // SAFETY: `enter` only makes system calls: it neither allocates nor takes locks.
    unsafe { command.pre_exec(enter) };
    Ok(())
}

const NO_TEXT: Option<&CStr> = None;
