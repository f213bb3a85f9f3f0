//! Which bundles have changed: a thread looks at their folder again and again.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::folder::{Mark, entries, shown};

/// From the end of one look to the next one, and how many times longer than the look itself that is at least.
const PAUSE: Duration = Duration::from_millis(500);
const REST: u32 = 20;
/// The most changes that are kept; a client that has missed one of them reads everything anew.
const MOST: usize = 256;

/// Changes so far.
#[derive(Debug)]
pub(crate) struct Changes {
    log: Arc<Mutex<Log>>,
    bell: UnixStream,
}

#[derive(Debug, Default)]
struct Log {
    /// Counts looks that found a change.
    version: u64,
    changes: VecDeque<(u64, String)>,
}

impl Changes {
    /// Starts to look; ends with this value.
    pub(crate) fn start(dir: PathBuf) -> io::Result<Changes> {
        let (bell, mut ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let log = Arc::new(Mutex::new(Log::default()));
        let seen = Arc::downgrade(&log);
        let mut known = marks(&dir);
        std::thread::Builder::new().name("changes".to_owned()).spawn(move || {
            let mut took = Duration::ZERO;
            loop {
                std::thread::sleep(PAUSE.max(took * REST));
                let begun = Instant::now();
                let now = marks(&dir);
                took = begun.elapsed();
                let Some(log) = seen.upgrade() else { return };
                let changed = differ(&known, &now);
                known = now;
                if !changed.is_empty() {
                    log.lock().unwrap_or_else(PoisonError::into_inner).add(&changed);
                    if ring.write_all(&[1]).is_err() {
                        return;
                    }
                }
            }
        })?;
        Ok(Changes { log, bell })
    }

    /// Readable when something has changed.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Takes the bell's ring.
    pub(crate) fn hear(&mut self) {
        let _ = self.bell.read(&mut [0; 64]);
    }

    /// Differs after each change.
    pub(crate) fn version(&self) -> u64 {
        // A listener that has seen nothing yet is at 0.
        self.log.lock().unwrap_or_else(PoisonError::into_inner).version + 1
    }

    /// The names of what has changed since; none where nothing has, and an empty list where that is no longer known.
    pub(crate) fn since(&self, seen: u64) -> Option<Vec<String>> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.since(seen.saturating_sub(1))
    }
}

impl Log {
    fn add(&mut self, names: &[OsString]) {
        self.version += 1;
        self.changes.extend(names.iter().map(|name| (self.version, shown(name))));
        while self.changes.len() > MOST {
            self.changes.pop_front();
        }
    }

    fn since(&self, seen: u64) -> Option<Vec<String>> {
        if seen >= self.version {
            return None;
        }
        let is_known =
            self.changes.front().is_some_and(|(version, _)| *version <= seen + 1) && self.changes.len() < MOST;
        let mut names: Vec<String> = Vec::new();
        for (_, name) in self.changes.iter().filter(|(version, _)| is_known && *version > seen) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Some(names)
    }
}

fn marks(dir: &std::path::Path) -> BTreeMap<OsString, Mark> {
    let found = entries(dir).map(|(found, _)| found).unwrap_or_default();
    found.into_iter().map(|entry| (entry.name, entry.mark)).collect()
}

/// What is new, gone or different.
fn differ(before: &BTreeMap<OsString, Mark>, now: &BTreeMap<OsString, Mark>) -> Vec<OsString> {
    let new = now.iter().filter(|(name, mark)| before.get(*name) != Some(mark)).map(|(name, _)| name);
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    new.chain(gone).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_each_change_once_and_when_it_does_not_know() {
        let mut log = Log::default();
        assert_eq!(log.since(0), None);
        log.add(&["a".into(), "b".into()]);
        log.add(&["a".into()]);
        assert_eq!(log.since(0), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!((log.since(1), log.since(2)), (Some(vec!["a".to_owned()]), None));
        for _ in 0..MOST {
            log.add(&["c".into()]);
        }
        assert_eq!(log.since(0), Some(Vec::new()), "the first changes are forgotten");
    }

    #[test]
    fn what_is_new_gone_or_different_has_changed() {
        let marks = |names: &[&str]| names.iter().map(|name| (OsString::from(name), Mark::default())).collect();
        assert_eq!(differ(&marks(&["a", "b"]), &marks(&["b", "c"])), ["c", "a"]);
        assert!(differ(&marks(&["a"]), &marks(&["a"])).is_empty());
    }
}
