//! Looks at the host.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nicteam_daemon::{Entry, Happened};
use nicteam_observe::{Look, Observer};
use nicteam_sys::Result;

use crate::snapshot::{Happening, Snapshot, Tally};

/// Happenings that are remembered.
const REMEMBERED: usize = 200;

/// Looks at the bundles of the calling thread's network namespace, and counts what happens between two looks.
#[derive(Debug)]
pub struct Watcher {
    observer: Observer,
    teams: BTreeMap<String, Heard>,
    happenings: VecDeque<Happening>,
}

/// What was heard of a team until now.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// Number of the last event, of the process with this number.
    number: u64,
    pid: u32,
    tally: Tally,
}

impl Watcher {
    /// One that has seen nothing yet.
    ///
    /// # Errors
    /// The kernel gives no netlink socket.
    pub fn open() -> Result<Watcher> {
        Ok(Watcher { observer: Observer::open()?, teams: BTreeMap::new(), happenings: VecDeque::new() })
    }

    /// How the host is now. A team whose process does not answer may keep this waiting.
    ///
    /// # Errors
    /// The kernel does not list its devices.
    pub fn look(&mut self) -> Result<Snapshot> {
        let begun = Instant::now();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let Look { host, statuses, sample } = self.observer.look()?;
        for (team, status) in &statuses {
            let Some(pid) = self.observer.teams.pid(team) else { continue };
            // Another process counts its events anew.
            let heard = self.teams.get(team).filter(|heard| heard.pid == pid).map(|heard| heard.number);
            if heard.is_some() && heard == status.last_event {
                continue;
            }
            if let Some(entries) = self.observer.teams.events_after(team, heard.unwrap_or(0)) {
                self.hear(team, pid, &entries);
            }
        }
        let mut snapshot = Snapshot { unix, host, sample, teams: statuses, ..Snapshot::default() };
        snapshot.tallies = self.teams.iter().map(|(team, heard)| (team.clone(), heard.tally)).collect();
        snapshot.happenings = self.happenings.iter().cloned().collect();
        snapshot.took = begun.elapsed();
        Ok(snapshot)
    }

    /// Counts events that are new. Another process counts its events anew.
    fn hear(&mut self, team: &str, pid: u32, entries: &[Entry]) {
        let heard = self.teams.entry(team.to_owned()).or_default();
        if heard.pid != pid {
            (heard.pid, heard.number) = (pid, 0);
        }
        for entry in entries.iter().filter(|entry| entry.number > heard.number) {
            heard.tally.count(&entry.happened);
            if !matches!(entry.happened, Happened::Plan { .. }) {
                let text = entry.happened.to_string();
                self.happenings.push_back(Happening { unix_ms: entry.unix_ms, team: team.to_owned(), text });
            }
        }
        heard.number = entries.iter().map(|entry| entry.number).fold(heard.number, u64::max);
        while self.happenings.len() > REMEMBERED {
            self.happenings.pop_front();
        }
    }
}

impl Tally {
    fn count(&mut self, happened: &Happened) {
        match happened {
            Happened::Active { from: Some(_), to: Some(_) } => self.failovers += 1,
            Happened::Member { to, .. } if to == "down" => self.member_downs += 1,
            Happened::Carrier { carrier: false } => self.carrier_losses += 1,
            _ => {}
        }
    }
}
