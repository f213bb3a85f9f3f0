//! A folder that stands for the root of a host.

pub mod network;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_netlink::Link;

/// It goes with its handle.
pub struct Root(PathBuf);

impl Root {
    /// An empty one.
    pub fn new() -> Root {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nicteam-host-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Root(path)
    }

    /// One with these files.
    pub fn with(files: &[(&str, &str)]) -> Root {
        let root = Root::new();
        files.iter().for_each(|(path, text)| root.write(path, text));
        root
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, and the folders that it needs.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A process of this name runs.
    pub fn run(&self, pid: u32, name: &str, arguments: &[&str]) {
        self.write(&format!("/proc/{pid}/comm"), &format!("{name}\n"));
        self.write(&format!("/proc/{pid}/cmdline"), &(arguments.join("\0") + "\0"));
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A device of hardware.
pub fn link(index: u32, name: &str) -> Link {
    let mac = [2, 0, 0, 0, 0, u8::try_from(index).unwrap()];
    Link { index, name: name.to_owned(), mac, permanent_mac: Some(mac), mtu: 1500, up: true, ..Link::default() }
}
