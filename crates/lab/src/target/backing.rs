//! What targets hold: files that take room for what is written alone, and that nobody finds by a name.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nicteam_node::Failure;
use nix::fcntl::{OFlag, open};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;
use nix::sys::statfs::{TMPFS_MAGIC, statfs};

/// Where files of targets on a disk are, where `TMPDIR` does not say otherwise: `/tmp` often is in memory.
const DISK: &str = "/var/tmp";

/// A file in memory; it goes with its last handle.
pub(super) fn in_memory(bytes: u64) -> Result<File, Failure> {
    has_memory(bytes)?;
    let file: OwnedFd = memfd_create(c"nicteam-target", MFdFlags::MFD_CLOEXEC)?;
    sized(file.into(), bytes)
}

/// A file on a disk, which has no name, so that it goes with its last handle.
pub(super) fn on_disk(bytes: u64) -> Result<File, Failure> {
    let folder = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from(DISK), PathBuf::from);
    let failed = |error| format!("make a file without a name in {}: {error}; hint: {HINT}", folder.display());
    let system = statfs(&folder).map_err(failed)?;
    if system.filesystem_type() == TMPFS_MAGIC {
        return Err(format!("{} is in memory; hint: {HINT}", folder.display()).into());
    }
    let free = system.blocks_available().saturating_mul(system.block_size().unsigned_abs());
    if free < bytes {
        let (free, wanted) = (mebibytes(free), mebibytes(bytes));
        return Err(
            format!("{} has {free} MiB left, and {wanted} MiB are wanted; hint: {HINT}", folder.display()).into()
        );
    }
    let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
    let file: OwnedFd = open(&folder, flags, Mode::S_IRUSR | Mode::S_IWUSR).map_err(failed)?;
    sized(file.into(), bytes)
}

const HINT: &str = "let TMPDIR name a folder on a disk with room";

/// Refuses what would end the machine's memory.
pub(super) fn has_memory(bytes: u64) -> Result<(), Failure> {
    let text = std::fs::read_to_string(Path::new("/proc/meminfo"))?;
    match available(&text) {
        Some(free) if free < bytes => {
            let (free, wanted) = (mebibytes(free), mebibytes(bytes));
            let hint = "make the target smaller, or let it be on a disk: `medium = \"disk\"`";
            Err(format!("{free} MiB of memory are left, and {wanted} MiB are wanted; hint: {hint}").into())
        }
        _ => Ok(()),
    }
}

/// Bytes that `/proc/meminfo` says can be had.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.saturating_mul(1024))
}

fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

fn sized(file: File, bytes: u64) -> Result<File, Failure> {
    file.set_len(bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn files_have_their_size_and_no_room_and_no_name() {
        for file in [in_memory(1 << 20), on_disk(1 << 20)] {
            let data = file.unwrap().metadata().unwrap();
            assert_eq!((data.len(), data.blocks(), data.nlink()), (1 << 20, 0, 0));
        }
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        let refused = in_memory(1 << 60).unwrap_err().to_string();
        assert!(refused.contains("MiB of memory are left") && refused.contains("hint:"), "{refused}");
        let refused = on_disk(1 << 60).unwrap_err().to_string();
        assert!(refused.contains("TMPDIR"), "{refused}");
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:  12 kB\n"), Some(12 << 10));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
