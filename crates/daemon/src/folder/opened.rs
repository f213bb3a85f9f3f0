//! A folder that is there: its files, which are read and written through its handle.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::geteuid;

/// Of the files.
const OWNER_ALONE: u32 = 0o600;
/// The longest file that is read, bytes.
const LONGEST: u64 = 1024 * 1024;
/// How often a file is tried for that its last owner is just removing.
const TRIES: u32 = 20;
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// A folder that is there and can be trusted.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(super) path: PathBuf,
    pub(super) handle: File,
}

impl Opened {
    /// A file or socket in it, reached through the handle: no longer than an address of a socket may be, and the
    /// folder itself, whatever its name is by now.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.handle.as_raw_fd()))
    }

    /// The same by its name, for people, and for sockets if it fits.
    pub(crate) fn named(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// What is in it, sorted; names that are no text are left out.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// It is no file of a trusted owner, is longer than 1 MB, or is no text.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<String>> {
        self.read_up_to(name, LONGEST)
    }

    /// The same with another bound, bytes.
    pub(crate) fn read_up_to(&self, name: &str, longest: u64) -> io::Result<Option<String>> {
        let text = |bytes| String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error));
        self.read_bytes(name, longest)?.map(text).transpose()
    }

    /// The same of what need be no text.
    pub(crate) fn read_bytes(&self, name: &str, longest: u64) -> io::Result<Option<Vec<u8>>> {
        let opened = OpenOptions::new().read(true).custom_flags(flags()).open(self.at(name));
        let file = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let metadata = file.metadata()?;
        check_file(&metadata)?;
        if metadata.len() > longest {
            return Err(io::Error::from(Errno::EFBIG));
        }
        let mut bytes = Vec::new();
        file.take(longest).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes a file that its owner alone may read, whole or not at all.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let aside = format!("{name}.new");
        let mut file = self.create(&aside)?;
        let written = io::Write::write_all(&mut file, text.as_bytes());
        written.and_then(|()| fs::rename(self.at(&aside), self.at(name))).inspect_err(|_| {
            // Where a disk is full, nothing is left that says nothing.
            let _ = self.remove(&aside);
        })
    }

    /// Makes a file that its owner alone may read, in the place of one that is there.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        self.remove(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(OWNER_ALONE).custom_flags(flags()).open(self.at(name))
    }

    /// Gives a file another name, in the place of one that has it; false if there is none.
    pub(crate) fn rename(&self, name: &str, to: &str) -> io::Result<bool> {
        match fs::rename(self.at(name), self.at(to)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            renamed => renamed.map(|()| true),
        }
    }

    /// Removes a file or socket; no error if there is none.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.at(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the lock of a file, which is made if it is not there; `None`: another process has it. A process that only
    /// asks whether the lock is taken holds it for a moment, so this tries again for a while.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Option<Flock<File>>> {
        let path = self.at(name);
        for tried in 0..TRIES {
            if tried > 0 {
                std::thread::sleep(PAUSE);
            }
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false).mode(OWNER_ALONE);
            let file = options.custom_flags(flags()).open(&path)?;
            check_file(&file.metadata()?)?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                // Its last owner may have removed it meanwhile.
                Ok(lock) if is_at(&lock, &path) => return Ok(Some(lock)),
                Ok(_) | Err((_, Errno::EWOULDBLOCK)) => {}
                Err((_, errno)) => return Err(errno.into()),
            }
        }
        Ok(None)
    }

    /// True if somebody has the lock of a file.
    pub(crate) fn is_locked(&self, name: &str) -> io::Result<bool> {
        is_locked(&self.at(name))
    }
}

/// True if somebody has the lock of the file at this path.
pub(super) fn is_locked(path: &Path) -> io::Result<bool> {
    let file = match OpenOptions::new().read(true).custom_flags(flags()).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(_) => Ok(false),
        Err((_, Errno::EWOULDBLOCK)) => Ok(true),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// A folder of a trusted owner that nobody else may write to.
pub(super) fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let handle = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    check_owner(&handle.metadata()?)?;
    Ok(handle)
}

/// Never through a link, and never waiting for what is no file.
fn flags() -> i32 {
    (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC).bits()
}

fn check_file(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if !metadata.is_file() || kind.is_fifo() || kind.is_socket() {
        return Err(io::Error::from(Errno::EINVAL));
    }
    check_owner(metadata)
}

/// Refuses what another user than root or this one owns, and what others may write to.
fn check_owner(metadata: &Metadata) -> io::Result<()> {
    let own = geteuid().as_raw();
    let trusted = metadata.uid() == 0 || metadata.uid() == own;
    if trusted && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let (uid, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    let message = format!(
        "it belongs to user {uid} and has mode {mode:o}; hint: it has to be root's or your own, and nobody else's to write to"
    );
    Err(io::Error::new(ErrorKind::PermissionDenied, message))
}

/// True if a file is still the one of this name.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |(a, b): (Metadata, Metadata)| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().and_then(|own| Ok((own, fs::symlink_metadata(path)?))).is_ok_and(same)
}
