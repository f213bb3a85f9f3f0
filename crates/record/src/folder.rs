//! The files of a bundle: the one place that opens them.
//!
//! Bundles come from strangers, as archives that hold whatever an archive can
//! hold. So a file of a bundle has a plain relative name, no part of which is a
//! symbolic link; it is a regular file; it is no larger than it can be; and what
//! is written replaces a name and is never written into a file that is there.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::BundleError;

/// Longest name of a file, bytes, and most folders and file in it.
const LONGEST_NAME: usize = 512;
const DEEPEST_NAME: usize = 8;

/// An open folder that holds a bundle.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    fd: OwnedFd,
}

impl Folder {
    /// Opens a folder that the user named; the way to it may hold symbolic links.
    pub fn open(path: &Path) -> Result<Folder, BundleError> {
        // `Path::new("")` is where one is.
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let fd = openat(AT_FDCWD, named, FOLDER, Mode::empty()).map_err(cannot("open the folder", path))?;
        Ok(Folder { path: path.to_owned(), fd })
    }

    /// Reads a text file of at most `max_bytes`.
    pub fn read(&self, name: &str, max_bytes: u64) -> Result<String, BundleError> {
        let mut text = String::new();
        let mut file = self.file(name, max_bytes)?;
        let path = file.path.clone();
        file.read_to_string(&mut text).map_err(cannot("read", &path))?;
        Ok(text)
    }

    /// Reads a text file of at most `max_bytes` line by line, the line's number from 0 before each.
    /// Ends at the first error of `each`.
    pub fn read_lines<T>(
        &self,
        name: &str,
        max_bytes: u64,
        mut each: impl FnMut(usize, &str) -> Result<T, BundleError>,
    ) -> Result<Vec<T>, BundleError> {
        let file = self.file(name, max_bytes)?;
        let path = file.path.clone();
        let (mut reader, mut line, mut found) = (BufReader::new(file), String::new(), Vec::new());
        while reader.read_line(&mut line).map_err(cannot("read", &path))? > 0 {
            found.push(each(found.len(), line.trim_end_matches(['\n', '\r']))?);
            line.clear();
        }
        Ok(found)
    }

    /// Opens a file of at most `max_bytes` to be read in parts.
    pub fn file_of(&self, name: &str, max_bytes: u64) -> Result<File, BundleError> {
        Ok(self.file(name, max_bytes)?.inner)
    }

    /// Writes a text file: into a new one, which then takes the name. What had the name before is
    /// not written to; if that is no regular file, it stays and this fails.
    pub fn write(&self, name: &str, text: &str) -> Result<(), BundleError> {
        let place = self.place(name)?;
        match stat(&place) {
            Ok(found) if is_regular(&found) => {}
            Ok(found) => return Err(not_regular(&place.path, &found)),
            Err(Errno::ENOENT) => {}
            Err(errno) => return Err(cannot("look at", &place.path)(errno)),
        }
        let new = format!(".{}.{}.new", place.last, std::process::id());
        // What a process of the same number left when it was killed.
        let _ = unlinkat(&place.parent, new.as_str(), UnlinkatFlags::NoRemoveDir);
        let written = openat(&place.parent, new.as_str(), NEW, Mode::from_bits_truncate(0o666))
            .map_err(io::Error::from)
            .and_then(|fd| File::from(fd).write_all(text.as_bytes()))
            .and_then(|()| Ok(renameat(&place.parent, new.as_str(), &place.parent, place.last)?));
        written.map_err(|source| {
            let _ = unlinkat(&place.parent, new.as_str(), UnlinkatFlags::NoRemoveDir);
            BundleError::Io { operation: "write", path: place.path.clone(), source }
        })
    }

    /// Opens a file to be read.
    fn file(&self, name: &str, max_bytes: u64) -> Result<Bounded, BundleError> {
        let place = self.place(name)?;
        let path = &place.path;
        // Before it is opened, for opening alone does something to some devices.
        let found = stat(&place).map_err(cannot("read", path))?;
        if !is_regular(&found) {
            return Err(not_regular(path, &found));
        }
        let fd = openat(&place.parent, place.last, FILE, Mode::empty()).map_err(cannot("read", path))?;
        // Again: another program may have put something else there in the meantime.
        let found = fstat(&fd).map_err(cannot("read", path))?;
        if !is_regular(&found) {
            return Err(not_regular(path, &found));
        }
        if found.st_size as u64 > max_bytes {
            return Err(BundleError::TooLarge { path: path.clone(), max_bytes });
        }
        Ok(Bounded { inner: File::from(fd), path: path.clone(), left: max_bytes, max_bytes })
    }

    /// Goes to the folder that holds a file, by folders that are no links.
    fn place<'a>(&self, name: &'a str) -> Result<Place<'a>, BundleError> {
        let bad = |why| BundleError::Name { name: name.to_owned(), why };
        let parts: Vec<&str> = name.split('/').collect();
        if name.starts_with('/') {
            return Err(bad("an absolute path"));
        }
        if parts.contains(&"..") {
            return Err(bad("a path with `..`"));
        }
        if parts.iter().any(|part| part.is_empty() || *part == ".") || name.chars().any(char::is_control) {
            return Err(bad("no plain name"));
        }
        if name.len() > LONGEST_NAME || parts.len() > DEEPEST_NAME {
            return Err(bad("too long"));
        }
        let (last, folders) = parts.split_last().ok_or_else(|| bad("no name"))?;
        let mut path = self.path.clone();
        let mut parent = self.fd.try_clone().map_err(|error| cannot("open the folder", &path)(error))?;
        for folder in folders {
            let place = Place { parent, last: folder, path: path.join(folder) };
            let found = stat(&place).map_err(cannot("open", &place.path))?;
            if kind(&found) != SFlag::S_IFDIR {
                return Err(BundleError::NotRegular { path: place.path, wanted: "folder", found: what(&found) });
            }
            parent = openat(&place.parent, *folder, FOLDER | OFlag::O_NOFOLLOW, Mode::empty())
                .map_err(cannot("open", &place.path))?;
            path = place.path;
        }
        Ok(Place { parent, last, path: path.join(last) })
    }
}

const FOLDER: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);
/// Without waiting: perhaps no program ever writes into a FIFO.
const FILE: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_NOFOLLOW).union(OFlag::O_NONBLOCK).union(OFlag::O_NOCTTY).union(OFlag::O_CLOEXEC);
const NEW: OFlag =
    OFlag::O_WRONLY.union(OFlag::O_CREAT).union(OFlag::O_EXCL).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// A name in an open folder.
struct Place<'a> {
    parent: OwnedFd,
    last: &'a str,
    /// For messages.
    path: PathBuf,
}

/// A file that gives no more than it may hold, though it grows while it is read.
struct Bounded {
    inner: File,
    path: PathBuf,
    left: u64,
    max_bytes: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {} bytes", self.max_bytes))
        })?;
        Ok(count)
    }
}

fn stat(place: &Place<'_>) -> nix::Result<FileStat> {
    fstatat(place.parent.as_fd(), place.last, AtFlags::AT_SYMLINK_NOFOLLOW)
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits())
}

fn is_regular(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFREG
}

/// The kind of a file in words.
fn what(stat: &FileStat) -> &'static str {
    match kind(stat) {
        SFlag::S_IFREG => "regular file",
        SFlag::S_IFDIR => "folder",
        SFlag::S_IFLNK => "symbolic link",
        SFlag::S_IFIFO => "FIFO",
        SFlag::S_IFSOCK => "socket",
        SFlag::S_IFCHR | SFlag::S_IFBLK => "device",
        _ => "special file",
    }
}

fn not_regular(path: &Path, found: &FileStat) -> BundleError {
    BundleError::NotRegular { path: path.to_owned(), wanted: "regular file", found: what(found) }
}

fn cannot<E: Into<io::Error>>(operation: &'static str, path: &Path) -> impl FnOnce(E) -> BundleError {
    let path = path.to_owned();
    move |source| BundleError::Io { operation, path, source: source.into() }
}
