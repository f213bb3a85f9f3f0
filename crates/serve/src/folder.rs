//! The folder that holds the bundles, which may come from strangers: what is in it is opened by a plain name, and a name
//! that is a symbolic link is not followed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nicteam_record::{RECORD, is_abandoned};

/// The most entries of a folder that are looked at.
pub(crate) const MOST_ENTRIES: usize = 4096;
/// How the name of a folder ends that an experiment is being written to.
const MAKING: &str = ".partial";

/// Differs if a bundle does: its record, or the number and size of its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    record: [i64; 4],
    samples: [u64; 2],
    /// Its lab was killed.
    is_abandoned: bool,
}

/// A folder that is a bundle, or becomes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) mark: Mark,
    /// An experiment that runs writes into it.
    pub(crate) is_making: bool,
}

/// The bundles of a folder, by name, and whether there are more than are looked at.
pub(crate) fn entries(dir: &Path) -> std::io::Result<(Vec<Entry>, bool)> {
    let mut found = Vec::new();
    let mut names = fs::read_dir(dir)?;
    for entry in names.by_ref().take(MOST_ENTRIES).flatten() {
        let name = entry.file_name();
        if let Some((mark, is_making)) = own(dir, &name).and_then(|path| mark(&path, &name)) {
            found.push(Entry { name, mark, is_making });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((found, names.next().is_some()))
}

/// The path of a bundle with this name; none if that is no folder of its own.
pub(crate) fn own(dir: &Path, name: &OsStr) -> Option<PathBuf> {
    let bytes = name.as_bytes();
    let is_plain =
        !bytes.is_empty() && bytes != b"." && bytes != b".." && !bytes.contains(&b'/') && !bytes.contains(&0);
    let path = is_plain.then(|| dir.join(name))?;
    let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
    is_folder.then_some(path)
}

/// Whether the name is one of an experiment that runs.
pub(crate) fn is_making(name: &OsStr) -> bool {
    name.as_bytes().ends_with(MAKING.as_bytes())
}

/// What this name leads to: an experiment that has ended has left the name under which it ran.
pub(crate) fn lasting<'n>(dir: &Path, name: &'n OsStr) -> &'n OsStr {
    let ended = name.as_bytes().strip_suffix(MAKING.as_bytes()).map(OsStr::from_bytes);
    ended.filter(|ended| own(dir, name).is_none() && own(dir, ended).is_some()).unwrap_or(name)
}

fn mark(path: &Path, name: &OsStr) -> Option<(Mark, bool)> {
    let record = fs::symlink_metadata(path.join(RECORD)).ok();
    // It has a record of the runs that have ended.
    let is_making = is_making(name);
    if record.is_none() && !is_making {
        return None;
    }
    let of = |found: Metadata| [found.mtime(), found.mtime_nsec(), found.len() as i64, found.ino() as i64];
    let sizes: Vec<u64> = samples(path).iter().map(|(_, size)| *size).collect();
    let samples = [sizes.len() as u64, sizes.iter().fold(0, |sum: u64, size| sum.wrapping_add(*size))];
    let is_abandoned = is_making && is_abandoned(path);
    Some((Mark { record: record.map(of).unwrap_or_default(), samples, is_abandoned }, is_making))
}

/// The files of samples of a bundle, by name, and their sizes.
pub(crate) fn samples(path: &Path) -> Vec<(OsString, u64)> {
    let samples = path.join("samples");
    if !fs::symlink_metadata(&samples).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(samples).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let of =
        |entry: fs::DirEntry| entry.metadata().ok().filter(Metadata::is_file).map(|it| (entry.file_name(), it.len()));
    let mut found: Vec<(OsString, u64)> = entries.filter_map(of).collect();
    found.sort();
    found
}

/// A name as it is shown: characters that no name should have are visible.
pub(crate) fn shown(name: &OsStr) -> String {
    visible(&name.to_string_lossy())
}

/// A text whose control characters, and those that turn the direction of writing, are visible.
pub(crate) fn visible(text: &str) -> String {
    let turns =
        |letter: char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let show = |letter: char| match letter.is_control() || turns(letter) {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_steer_something_are_visible() {
        assert_eq!(visible("a\x1b[2J\nb\u{202e}c ü"), "a\\u{1b}[2J\\nb\\u{202e}c ü");
    }

    #[test]
    fn a_bundle_is_a_folder_of_its_own() {
        let dir = std::env::temp_dir().join(format!("nicteam-serve-own-{}", std::process::id()));
        fs::create_dir_all(dir.join("real")).unwrap();
        fs::write(dir.join("file"), "").unwrap();
        std::os::unix::fs::symlink("real", dir.join("link")).unwrap();
        for name in ["", ".", "..", "link", "file", "real/", "real/../real", "none", "re\0al"] {
            assert_eq!(own(&dir, OsStr::new(name)), None, "{name:?}");
        }
        assert!(own(&dir, OsStr::new("real")).is_some());
        for (name, lasts) in [("real.partial", "real"), ("none.partial", "none.partial"), ("real", "real")] {
            assert_eq!(lasting(&dir, OsStr::new(name)), lasts);
        }
        fs::create_dir_all(dir.join("real.partial")).unwrap();
        assert_eq!(lasting(&dir, OsStr::new("real.partial")), "real.partial", "it runs again");
        fs::remove_dir_all(&dir).unwrap();
    }
}
