//! Folders of network namespaces that are gone.
//!
//! The end of a namespace is not announced, and a process that was killed in it has left its files. So the file
//! `namespace` in a folder has the inode number of its namespace. The start of a team removes the folders that no
//! process uses and whose namespace nothing holds any more: no thread, no open handle, no mount. An inode number may be
//! given again; then the folder stays longer.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nicteam_sys::capabilities::{self, Capability};

use super::opened::{Opened, is_locked, open_folder};

/// The file that names the namespace.
const MARK: &str = "namespace";
/// What begins the name of a folder.
const PREFIX: &str = "netns-";

/// Notes in a folder whose it is: the calling thread's network namespace.
pub(super) fn mark(folder: &Opened) {
    if let Ok(namespace) = fs::metadata("/proc/thread-self/ns/net")
        && !folder.at(MARK).exists()
    {
        // Without it the folder is not removed by others, and nothing else is missed.
        let _ = folder.write(MARK, &format!("{}\n", namespace.ino()));
    }
}

/// Removes the folders in `root` whose namespaces are gone; `own` stays.
pub(super) fn remove(root: &Path, own: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let unused = entries.filter(|path| path != own && is_folder(path) && !is_in_use(path));
    let marked: Vec<_> = unused.filter_map(|path| Some((inode_of(&path)?, path))).collect();
    // To look for namespaces takes long on a busy host; and who does not see into every process does not see every namespace.
    if marked.is_empty() || !capabilities::is_effective(Capability::SYS_PTRACE) {
        return;
    }
    let live = live();
    for (_, path) in marked.into_iter().filter(|(inode, _)| !live.contains(inode)) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Removes a folder in which nothing is left but the mark.
pub(super) fn remove_if_unused(path: &Path) {
    let names = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
    if names.into_iter().all(|name| name == MARK) {
        let _ = fs::remove_file(path.join(MARK));
        // Fails if somebody has put something there meanwhile.
        let _ = fs::remove_dir(path);
    }
}

fn is_folder(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
    named && open_folder(path).is_ok()
}

/// True if somebody holds a lock in it, or it cannot be seen whether somebody does.
fn is_in_use(path: &Path) -> bool {
    let files = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let locks = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock"));
    locks.into_iter().any(|path| is_locked(&path).unwrap_or(true))
}

fn inode_of(path: &Path) -> Option<u64> {
    fs::read_to_string(path.join(MARK)).ok()?.trim().parse().ok()
}

/// The inodes of all network namespaces that a thread, an open handle or a mount holds.
fn live() -> BTreeSet<u64> {
    let (mut found, mut mounts) = (BTreeSet::new(), BTreeSet::new());
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !process.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        let process = process.path();
        let links = |folder: &str, end: &str| {
            let entries = fs::read_dir(process.join(folder)).into_iter().flatten().flatten();
            let links: Vec<_> = entries.filter_map(|entry| fs::read_link(entry.path().join(end)).ok()).collect();
            links
        };
        let handles = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let handles = handles.filter_map(|entry| fs::read_link(entry.path()).ok());
        let all = links("task", "ns/net").into_iter().chain(handles);
        found.extend(all.filter_map(|link| inode_in(link.to_str()?)));
        // Processes share their mounts with most others.
        if let Ok(namespace) = fs::read_link(process.join("ns/mnt"))
            && mounts.insert(namespace)
        {
            let table = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
            found.extend(table.lines().filter_map(|line| inode_in(line.split(' ').nth(3)?)));
        }
    }
    found
}

/// The number in `net:[4026531840]`.
fn inode_in(text: &str) -> Option<u64> {
    text.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_namespace_is_alive() {
        let own = fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
        assert!(live().contains(&own));
        assert_eq!((inode_in("net:[12]"), inode_in("mnt:[12]"), inode_in("net:[x]")), (Some(12), None, None));
    }
}
