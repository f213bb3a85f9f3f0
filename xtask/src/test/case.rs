//! A test, run in a process of its own.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nicteam_sys::process::{self, Ended};
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::test::lane::Lane;
use crate::test::program::Program;

/// A test.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its program and its path there.
    pub(crate) name: String,
    /// Its path in its program.
    pub(crate) test: String,
    /// What may run beside it.
    pub(crate) lane: Lane,
    /// Where it is.
    pub(crate) program: Program,
}

/// A test that ran.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Which.
    pub(crate) case: Case,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) wall: Duration,
    /// The processor time that it and its children took.
    pub(crate) processor: Duration,
    /// What it printed for the summary.
    pub(crate) remarks: Vec<String>,
}

/// How a test ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Well.
    Passed,
    /// It said what the machine lacks.
    Skipped(String),
    /// Badly; what it printed.
    Failed(String),
}

/// A test that takes longer hangs.
const HANG: Duration = Duration::from_secs(600);

impl Case {
    /// Runs it.
    pub(crate) fn run(&self) -> Ran {
        let start = Instant::now();
        let (ended, printed) = match self.run_to_end(start) {
            Ok(ran) => ran,
            Err(error) => (None, error),
        };
        let outcome = match &ended {
            Some(ended) if ended.status.success() => passed(&printed),
            Some(ended) => Outcome::Failed(format!("{printed}{}\n", ended.status)),
            None => Outcome::Failed(printed.clone()),
        };
        let remarks = printed.lines().filter(|line| line.contains("against Linux ")).map(str::to_owned).collect();
        let processor = ended.map_or(Duration::ZERO, |ended| ended.processor);
        Ran { case: self.clone(), outcome, wall: start.elapsed(), processor, remarks }
    }

    /// How it ended (none: it was killed), and what it printed.
    fn run_to_end(&self, start: Instant) -> Result<(Option<Ended>, String), String> {
        let said = |error: &dyn std::fmt::Display| format!("cannot run it: {error}\n");
        let mut output =
            memfd_create(c"output", MFdFlags::MFD_CLOEXEC).map(File::from).map_err(|error| said(&error))?;
        let handle = |output: &File| output.try_clone().map(OwnedFd::from).map(Stdio::from).map_err(|e| said(&e));
        let mut command = self.program.command();
        command.args(["--exact", &self.test, "--nocapture", "--test-threads=1"]);
        command.stdin(Stdio::null()).stdout(handle(&output)?).stderr(handle(&output)?);
        process::die_with_parent(&mut command);
        process::give_way(&mut command, self.lane.niceness());
        let mut child = command.spawn().map_err(|error| said(&error))?;
        let ended = wait(&mut child).map_err(|error| said(&error))?;
        let mut printed = Vec::new();
        output.seek(SeekFrom::Start(0)).and_then(|_| output.read_to_end(&mut printed)).map_err(|e| said(&e))?;
        let mut printed = String::from_utf8_lossy(&printed).into_owned();
        if ended.is_none() {
            printed += &format!("killed after {} s\n", start.elapsed().as_secs());
        }
        Ok((ended, printed))
    }
}

/// Waits for the end; kills what hangs, and what is to end because we are.
fn wait(child: &mut Child) -> nicteam_sys::Result<Option<Ended>> {
    let ended = process::wait(child, HANG)?;
    if ended.is_none() {
        // One that has just ended needs no signal.
        let _ = child.kill();
        let _ = child.wait();
    }
    Ok(ended)
}

/// A test that ended well ran, and was not skipped.
fn passed(printed: &str) -> Outcome {
    if let Some(why) = printed.lines().find_map(|line| line.strip_prefix("SKIPPED: ")) {
        return Outcome::Skipped(why.to_owned());
    }
    match printed.contains("1 passed") || printed.contains("... ok") {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("{printed}it did not say that it ran\n")),
    }
}
