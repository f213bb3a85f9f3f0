//! What tests must not leave on the machine: processes, eBPF programs (and so their maps), state of teams.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_sys::process;

use crate::failure::Failure;

/// Where the state of running teams is.
const STATE: &str = "/run/nicteam";
/// The kernel takes namespaces with what is in them a moment after the last process that was there.
const GRACE: Duration = Duration::from_secs(10);

/// What is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    found: BTreeSet<String>,
}

impl Left {
    /// Looks.
    pub(crate) fn read() -> Result<Left, Failure> {
        let mut found = BTreeSet::new();
        found.extend(nicteam_dataplane::loaded_programs().into_iter().map(|name| format!("eBPF program {name}")));
        for child in process::children().map_err(Failure::from)? {
            found.insert(format!("process {child}"));
        }
        if let Ok(folder) = fs::read_dir(STATE) {
            found.extend(folder.flatten().map(|entry| format!("{}", entry.path().display())));
        }
        Ok(Left { found })
    }

    /// What has come since, once it no longer goes away.
    pub(crate) fn wait_for(before: &Left) -> Result<Vec<String>, Failure> {
        let start = Instant::now();
        loop {
            // A test that ends a team as a crash would has left its state, and that goes with the next team.
            nicteam_daemon::remove_gone().map_err(Failure::failed)?;
            let now = Left::read()?;
            let more: Vec<String> = now.found.difference(&before.found).cloned().collect();
            if more.is_empty() || start.elapsed() > GRACE {
                return Ok(more);
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}
