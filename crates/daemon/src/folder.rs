//! Where the files and sockets of a network namespace's teams are.
//!
//! This file finds and makes the folder; `opened` reads and writes what is in it, `gone` removes those of namespaces that are
//! gone. What the files mean stands elsewhere (`persisted`, `saved`, `notes`); they reach the
//! files by [`Opened`] alone.
//!
//! `/run/nicteam/netns-COOKIE`, both 0750 and root's, of the group `nicteam` if there is one. In a user namespace
//! that does not own `/run` it is `$XDG_RUNTIME_DIR/nicteam` instead, or `/tmp/nicteam-UID` where there is no such folder.
//! A folder that another user owns or may write to is refused, and so is a link in its place: a user who can put a file
//! there could run teams.

mod gone;
mod opened;

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nicteam_sys::{Context, mounts, netns};
use nix::errno::Errno;
use nix::unistd::geteuid;

use crate::Error;
pub(crate) use opened::Opened;
use opened::open_folder;

/// Names another root folder.
pub(crate) const VARIABLE: &str = "NICTEAM_STATE_DIR";
/// Whose members may look at teams.
pub(crate) const GROUP: &str = "nicteam";

/// What the private folder of a process and its children may hold.
const PRIVATE_BYTES: u64 = 16 << 20;
/// Of the folders: nobody else may write, the group may enter.
const FOLDER_MODE: u32 = 0o750;

/// The folder of one network namespace, whether it is there or not.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    path: PathBuf,
}

impl Folder {
    /// Of the calling thread's network namespace.
    pub(crate) fn here() -> Result<Folder, Error> {
        let root = root();
        Ok(Folder { path: root.join(netns::id()?), root })
    }

    /// One in this folder, which is made with it.
    #[cfg(test)]
    pub(crate) fn of_test(root: PathBuf) -> Folder {
        Folder { path: root.join("netns-1"), root }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, made if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or somebody else may write to it.
    pub(crate) fn make(&self) -> Result<Opened, Error> {
        let operation = || format!("make the folder {} (${VARIABLE} names another)", self.path.display());
        let make = || make_folder(&self.root).and_then(|()| make_folder(&self.path));
        // Somebody may remove the empty one meanwhile.
        let again = |error: io::Error| if error.kind() == ErrorKind::NotFound { make() } else { Err(error) };
        make().or_else(again).context(operation)?;
        let opened = self.open()?.ok_or_else(|| nicteam_sys::Error::new(operation(), Errno::ENOENT))?;
        gone::mark(&opened);
        Ok(opened)
    }

    /// The folder, if it is there.
    ///
    /// # Errors
    /// The caller may not enter it (`EACCES`), or somebody else may write to it (`EPERM`).
    pub(crate) fn open(&self) -> Result<Option<Opened>, Error> {
        match open_folder(&self.root).and_then(|_| open_folder(&self.path)) {
            Ok(handle) => Ok(Some(Opened { path: self.path.clone(), handle })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(refused(nicteam_sys::Error::new(format!("use the folder {}", self.path.display()), error)))
            }
        }
    }

    /// Removes the folders of namespaces that are gone.
    pub(crate) fn remove_gone(&self) {
        gone::remove(&self.root, &self.path);
        self.leave_nothing();
    }

    /// Removes the folder if nothing is in it but its mark.
    pub(crate) fn remove_if_empty(&self) {
        gone::remove_if_unused(&self.path);
        self.leave_nothing();
    }

    /// Removes the folder of all in /tmp, where nothing is in it: elsewhere it goes with the boot or the login.
    fn leave_nothing(&self) {
        if self.root.parent() == Some(Path::new("/tmp")) {
            // Not where somebody else has something in it.
            let _ = fs::remove_dir(&self.root);
        }
    }
}

/// From now on the calling thread, and the threads and processes that it starts, have a folder of their own, which
/// goes with them: for teams that nobody else is to find. Call it early: other threads keep theirs.
///
/// # Errors
/// The machine allows no mounts; then they have the folder that all have.
pub fn keep_privately() -> Result<(), Error> {
    let root = root();
    make_folder(&root).and_then(|()| open_folder(&root)).context(|| format!("make the folder {}", root.display()))?;
    Ok(mounts::private_tmpfs(&root, PRIVATE_BYTES)?)
}

/// A new folder, for this process and its children alone, for other files: after [`keep_privately`] it goes with them.
/// Short, because the paths of sockets are.
///
/// # Errors
/// It cannot be made.
pub fn private_folder(name: &str) -> Result<PathBuf, Error> {
    let folder = root().join(format!("{name}-{}", std::process::id()));
    let make = || {
        // What a process of the same number left.
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)
    };
    make().context(|| format!("make the folder {}", folder.display()))?;
    Ok(folder)
}

/// Why something of the folder cannot be read: that it is another user's has a cure of its own. A folder that is not to be
/// trusted is not refused by the system.
pub(crate) fn refused(error: nicteam_sys::Error) -> Error {
    let is_forbidden = error.source.raw_os_error().is_some() && error.source.kind() == ErrorKind::PermissionDenied;
    if is_forbidden { Error::Forbidden(error) } else { error.into() }
}

/// Removes what was persisted for network namespaces that are gone. The start of a team does the same.
///
/// # Errors
/// The kernel does not say which namespace this is.
pub fn remove_gone() -> Result<(), Error> {
    Folder::here()?.remove_gone();
    Ok(())
}

/// The group whose members may look at teams, if there is one.
pub(crate) fn group() -> Option<u32> {
    let groups = fs::read_to_string("/etc/group").ok()?;
    group_in(&groups, GROUP)
}

/// The folder of all namespaces' folders.
fn root() -> PathBuf {
    let own = geteuid().as_raw();
    if let Some(named) = std::env::var_os(VARIABLE) {
        return PathBuf::from(named);
    }
    // In a user namespace that is not the machine's (or container's) own, /run belongs to nobody.
    if fs::metadata("/run").is_ok_and(|run| run.uid() == 0) {
        return PathBuf::from("/run").join(GROUP);
    }
    let is_private = |path: &PathBuf| {
        let found = fs::symlink_metadata(path);
        path.is_absolute() && found.is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0)
    };
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(is_private) {
        Some(runtime) => runtime.join(GROUP),
        // Somebody may have taken the name, which is found out when the folder is opened.
        None => PathBuf::from(format!("/tmp/{GROUP}-{}", outer_user(own))),
    }
}

/// The user as the parent user namespace knows him: all are 0 in their own.
fn outer_user(own: u32) -> u32 {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    outer_in(&map, own).unwrap_or(own)
}

/// In lines of `inside outside count` (user_namespaces(7)).
fn outer_in(map: &str, own: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let offset = own.checked_sub(inside).filter(|offset| *offset < count)?;
        outside.checked_add(offset)
    })
}

fn group_in(groups: &str, wanted: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(wanted)).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

/// Makes a folder, with what is above it; one that is there stays as it is.
fn make_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            // Whatever the umask says.
            fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))?;
            if let Some(group) = group().filter(|_| geteuid().is_root()) {
                // A user namespace may not have the group; then there are no others to look.
                let _ = std::os::unix::fs::lchown(path, None, Some(group));
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_folder(test: impl FnOnce(&Folder)) {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("nicteam-folder-{}-{number}", std::process::id()));
        let folder = Folder { path: root.join("netns-1"), root };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&folder)));
        let _ = fs::remove_dir_all(&folder.root);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }

    #[test]
    fn only_the_owner_may_read_what_is_written() {
        with_folder(|folder| {
            let opened = folder.make().unwrap();
            // One that is left over from elsewhere, too.
            fs::write(opened.at("x.json.new"), "longer than what comes").unwrap();
            opened.write("x.json", "{}").unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&opened.at("x.json")), opened.read("x.json").unwrap()), (0o600, Some("{}".to_owned())));
            assert_eq!((mode(&folder.path), mode(&folder.root)), (0o750, 0o750));
        });
    }

    #[test]
    fn what_cannot_be_written_whole_leaves_nothing() {
        with_folder(|folder| {
            let opened = folder.make().unwrap();
            // A folder that is not empty is in the place of the file.
            fs::create_dir_all(opened.at("x.json/in it")).unwrap();
            assert!(opened.write("x.json", "{}").is_err());
            assert!(!opened.at("x.json.new").exists());
        });
    }

    #[test]
    fn links_fifos_and_what_others_may_write_are_refused() {
        with_folder(|folder| {
            let opened = folder.make().unwrap();
            std::os::unix::fs::symlink("/etc/passwd", opened.at("link.json")).unwrap();
            nix::unistd::mkfifo(&opened.named("fifo.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
            fs::write(opened.at("open.json"), "{}").unwrap();
            fs::set_permissions(opened.at("open.json"), fs::Permissions::from_mode(0o666)).unwrap();
            for name in ["link.json", "fifo.json", "open.json"] {
                assert!(opened.read(name).is_err(), "{name}");
                assert!(opened.lock(name).is_err(), "{name}");
            }
            fs::set_permissions(&folder.path, fs::Permissions::from_mode(0o777)).unwrap();
            let said = folder.open().unwrap_err().to_string();
            assert!(said.contains("mode 777"), "{said}");
        });
        with_folder(|folder| {
            make_folder(&folder.root).unwrap();
            std::os::unix::fs::symlink("/tmp", &folder.path).unwrap();
            assert!(folder.make().is_err(), "a link in the place of the folder");
        });
    }

    #[test]
    fn a_lock_has_one_owner() {
        with_folder(|folder| {
            let opened = folder.make().unwrap();
            let lock = opened.lock("a.lock").unwrap().expect("nobody has it");
            assert!(opened.is_locked("a.lock").unwrap() && opened.lock("a.lock").unwrap().is_none());
            drop(lock);
            assert!(!opened.is_locked("a.lock").unwrap() && opened.lock("a.lock").unwrap().is_some());
            assert!(!opened.is_locked("b.lock").unwrap(), "there is no such file");
        });
    }

    #[test]
    fn users_and_groups_are_found_in_their_tables() {
        assert_eq!(outer_in("         0       1000          1\n", 0), Some(1000));
        assert_eq!(outer_in("0 100000 65536\n70000 5 1\n", 70_000), Some(5));
        assert_eq!(outer_in("0 1000 1\nx\n", 7), None);
        let groups = "root:x:0:\nnicteam2:x:5:\nnicteam:x:998:alice\n";
        assert_eq!((group_in(groups, "nicteam"), group_in(groups, "nic")), (Some(998), None));
    }
}
