//! A bundle in the making: what its lab writes while runs go on, and whether that lab is still there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg, OFlag};
use serde::{Deserialize, Serialize};

use crate::{BundleError, Folder, Run, Sample};

/// The file that marks a folder as a bundle in the making; its lab holds a lock on it.
pub const MARK: &str = ".nicteam-unfinished";
/// The file that says which run goes on.
pub const RUNNING: &str = "running.json";
/// The largest such file that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The run that goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// Its number, from 1.
    pub number: usize,
    /// How many runs there are.
    pub count: usize,
    /// What is known of it ahead of its traffic; its measured time is the longest one.
    pub run: Run,
}

impl Running {
    /// Reads it from a bundle in the making.
    ///
    /// # Errors
    /// It is not there, or is none.
    pub fn read(dir: &Path) -> Result<Running, BundleError> {
        let text = Folder::open(dir)?.read(RUNNING, MAX_BYTES)?;
        serde_json::from_str(&text).map_err(|error| BundleError::Format {
            path: dir.join(RUNNING),
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        })
    }

    /// As text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("a run has string keys only")
    }
}

/// The file of a run's samples, relative to the bundle.
pub fn samples_of(run: &str) -> String {
    format!("samples/{run}.jsonl")
}

/// A line of it.
pub fn line(sample: &Sample) -> String {
    serde_json::to_string(sample).expect("a sample has string keys only") + "\n"
}

/// The samples of a run that goes on, written as they come. What cannot be written is left out: the lab writes all of them once
/// more at the end of the run, in order, and says then what is wrong.
#[derive(Debug)]
pub struct SampleLog(Option<BufWriter<File>>);

impl SampleLog {
    /// Begins the file of this run anew.
    pub fn begin(dir: &Path, run: &str) -> SampleLog {
        let create = || -> io::Result<File> { File::create(dir.join(samples_of(run))) };
        SampleLog(create().ok().map(BufWriter::new))
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &Sample) {
        if let Some(file) = &mut self.0
            && file.write_all(line(sample).as_bytes()).is_err()
        {
            self.0 = None;
        }
    }

    /// Hands everything so far to the system, whole lines alone.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.0 {
            let _ = file.flush();
        }
    }
}

/// True for a bundle in the making whose lab has ended.
pub fn is_abandoned(folder: &Path) -> bool {
    let locked = |file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err();
    // Whatever a stranger's folder holds by this name: a FIFO is not waited for, a link not followed.
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits();
    let mark = File::options().read(true).custom_flags(flags).open(folder.join(MARK));
    folder.is_dir() && mark.is_ok_and(|file| file.metadata().is_ok_and(|found| found.is_file()) && !locked(file))
}
