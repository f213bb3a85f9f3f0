//! A file system for a guest's memory, as the kernel unpacks it: cpio, form "newc"
//! (Linux, Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::path::Path;

/// An archive in the making.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
    entries: u32,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl Archive {
    /// Adds an empty folder, and those above it. `path` is absolute.
    pub fn add_folder(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for folder in above {
            let name = name_of(folder);
            if !name.is_empty() && self.folders.insert(name.clone()) {
                self.add(&name, FOLDER, &[]);
            }
        }
    }

    /// Adds a file that may be run, and the folders above it. `path` is absolute.
    pub fn add_file(&mut self, path: &Path, content: &[u8]) {
        if let Some(folder) = path.parent() {
            self.add_folder(folder);
        }
        self.add(&name_of(path), PROGRAM, content);
    }

    /// The archive's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.add("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn add(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let (inode, links) = (self.entries, 1);
        // inode, mode, user, group, links, time, size, device (2), its number (2), name, checksum
        let size = content.len() as u32;
        let fields = [inode, mode, 0, 0, links, 0, size, 0, 0, 0, 0, name.len() as u32 + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

fn name_of(path: &Path) -> String {
    path.to_string_lossy().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_names_and_contents_begin_at_multiples_of_four() {
        let mut archive = Archive::default();
        archive.add_file(Path::new("/a/b"), b"12345");
        archive.add_folder(Path::new("/a"));
        let bytes = archive.finish();
        let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"070701")).collect();
        // The folder, the file and the end: the folder is there once.
        assert_eq!(places, [0, 112, 236]);
        assert_eq!(&bytes[110..112], b"a\0");
        assert_eq!(&bytes[112 + 110..112 + 116], b"a/b\0\0\0");
        assert_eq!(&bytes[112 + 116..112 + 124], b"12345\0\0\0");
        assert_eq!(bytes.len() % 4, 0);
    }
}
