//! The lints, which need the processors for a while: beside tests that mostly wait, and never beside those that measure.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::time::Instant;

use nicteam_sys::process;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::failure::Failure;
use crate::tools;

/// As much as tests that compute give way.
const NICENESS: i32 = 10;
const CLIPPY: [&str; 8] = ["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"];

/// Lints that run.
#[derive(Debug)]
pub(crate) struct Lints {
    child: Child,
    printed: File,
    start: Instant,
}

/// How they ended.
#[derive(Debug)]
pub(crate) struct Linted {
    /// What they printed, if they found something.
    pub(crate) found: Option<String>,
    /// How long they took, seconds.
    pub(crate) wall_s: f64,
}

impl Lints {
    /// Starts them.
    pub(crate) fn start() -> Result<Lints, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("cannot run the lints: {error}"));
        let printed = memfd_create(c"lints", MFdFlags::MFD_CLOEXEC).map(File::from).map_err(|error| failed(&error))?;
        let handle = || printed.try_clone().map(OwnedFd::from).map(Stdio::from).map_err(|error| failed(&error));
        let mut command = tools::cargo();
        command.args(CLIPPY).stdin(Stdio::null()).stdout(handle()?).stderr(handle()?);
        process::die_with_parent(&mut command);
        process::give_way(&mut command, NICENESS);
        let child = command.spawn().map_err(|error| failed(&error))?;
        Ok(Lints { child, printed, start: Instant::now() })
    }

    /// Waits for their end.
    pub(crate) fn wait(mut self) -> Result<Linted, Failure> {
        let failed = |error| Failure::failed(format!("cannot wait for the lints: {error}"));
        let status = self.child.wait().map_err(failed)?;
        let mut printed = String::new();
        self.printed
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.printed.read_to_string(&mut printed))
            .map_err(failed)?;
        let found = (!status.success()).then(|| format!("{printed}{status}\n"));
        Ok(Linted { found, wall_s: self.start.elapsed().as_secs_f64() })
    }
}
