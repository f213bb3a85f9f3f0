//! What tests have in common.
#![allow(dead_code, reason = "not every test file needs all of it")]

pub mod memory;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in memory that goes with its handle.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(what: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/dev/shm/nicteam-{what}-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// True if every program is installed; else the test is to return.
pub fn has_programs(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/sbin".into()]);
    let is_missing = |program: &&&str| !folders.iter().any(|folder| folder.join(program).exists());
    let missing: Vec<_> = programs.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        eprintln!("SKIPPED: needs {missing:?}");
    }
    missing.is_empty()
}

/// Runs a command to its end; what it wrote, if it succeeded.
#[track_caller]
pub fn output(command: &mut Command) -> String {
    nicteam_sys::process::die_with_parent(command);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    told
}
