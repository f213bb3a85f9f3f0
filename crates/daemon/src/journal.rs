//! What happened to a team, for those who ask and those who follow.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Entries kept for those who come later.
const KEPT: usize = 1000;

/// One thing that happened to a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts from 1 since the team's process began.
    pub number: u64,
    /// When, milliseconds of Unix time.
    pub unix_ms: u64,
    /// What.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What can happen to a team. Devices by name, states in the kernel's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happened {
    /// The first plan is in force.
    Started {
        /// True if an ended process of the same team was taken over.
        taken_over: bool,
    },
    /// A member's state changed.
    Member {
        /// The member.
        member: String,
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Another member, or none, is the active one.
    Active {
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// The team's stack sees a carrier, or none any more.
    Carrier {
        /// Now.
        carrier: bool,
    },
    /// 802.3ad: something happened to a port or to the aggregators.
    Lacp {
        /// The port's device.
        member: Option<String>,
        /// What, in words.
        text: String,
    },
    /// A device has joined.
    Joined {
        /// The device.
        member: String,
    },
    /// A member has left.
    Left {
        /// The device.
        member: String,
    },
    /// A member's device has another name.
    Renamed {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// The team device has another name; the team keeps its own.
    DeviceRenamed {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Options were set.
    Options {
        /// Those with another value than before.
        changed: Vec<OptionChange>,
    },
    /// The dataplane executes another plan.
    Plan {
        /// Its number.
        generation: u64,
    },
    /// stripe: the namespace's `net.ipv4.tcp_min_rtt_wlen` was changed.
    TcpMinRttWlen {
        /// Before, seconds.
        from: String,
        /// Now.
        to: String,
    },
    /// 802.3ad on eBPF: the process did not run for a while.
    Stalled {
        /// How long, milliseconds.
        ms: u64,
    },
    /// More frames of a kind for the control side come to a member than are handled, or no more do so.
    Flood {
        /// The member.
        member: String,
        /// What comes, in words.
        kind: String,
        /// True at the beginning.
        begins: bool,
    },
    /// stripe: a member is left, or used again, towards hosts that do not stripe.
    OneSided {
        /// The member.
        member: String,
        /// What, and why, in words that follow its name.
        text: String,
    },
    /// Another program took something of the team's away from a device, and it was put back.
    Repaired {
        /// The device.
        device: String,
        /// What, in words.
        what: String,
    },
    /// Another program takes it away again and again: from now on it is put back twenty times a second at most.
    Conflict {
        /// The device.
        device: String,
        /// What, in words.
        what: String,
    },
    /// The port at the other end of a member speaks PAgP.
    Pagp {
        /// The member.
        member: String,
        /// The switch, by its name or its address.
        switch: String,
        /// Mode of its port: `auto` or `desirable`.
        mode: String,
    },
    /// Something could not be done; the team goes on unless it says otherwise.
    Trouble {
        /// In words.
        text: String,
    },
}

/// An option that was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionChange {
    /// The kernel's name for it.
    pub option: String,
    /// Its value before.
    pub from: String,
    /// Its value now.
    pub to: String,
}

/// The events of a team: the last [`KEPT`], and a bell for the next.
#[derive(Debug, Default)]
pub struct Journal {
    inner: Mutex<Inner>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    kept: VecDeque<Entry>,
    closed: bool,
}

impl Journal {
    /// Enters what happened just now.
    pub(crate) fn record(&self, happened: Happened) -> Entry {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
        let mut inner = self.lock();
        inner.last += 1;
        let entry = Entry { number: inner.last, unix_ms, happened };
        if inner.kept.len() == KEPT {
            inner.kept.pop_front();
        }
        inner.kept.push_back(entry.clone());
        self.bell.notify_all();
        entry
    }

    /// Says that nothing more will happen.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// The number of the last entry; 0: there was none.
    pub(crate) fn last(&self) -> u64 {
        self.lock().last
    }

    /// The entries kept after this number; 0: all.
    pub fn after(&self, number: u64) -> Vec<Entry> {
        self.lock().after(number)
    }

    /// The same; waits up to `patience` if there is none. `None`: there is none
    /// and none will come.
    pub fn wait_after(&self, number: u64, patience: Duration) -> Option<Vec<Entry>> {
        let quiet = |inner: &mut Inner| inner.last <= number && !inner.closed;
        let waited = self.bell.wait_timeout_while(self.lock(), patience, quiet);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let entries = inner.after(number);
        if entries.is_empty() && inner.closed { None } else { Some(entries) }
    }

    /// Nothing here panics half way, so a poisoned lock guards a sound journal.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn after(&self, number: u64) -> Vec<Entry> {
        self.kept.iter().filter(|entry| entry.number > number).cloned().collect()
    }
}

impl fmt::Display for Entry {
    /// One line: time (UTC) and words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.unix_ms) * 1_000_000).ok();
        match at.and_then(|at| at.format(&Rfc3339).ok()) {
            Some(at) => write!(f, "{at} {}", self.happened),
            None => write!(f, "{} ms {}", self.unix_ms, self.happened),
        }
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        match self {
            Happened::Started { taken_over: false } => f.write_str("started"),
            Happened::Started { taken_over: true } => f.write_str("started, taken over from an ended process"),
            Happened::Member { member, from, to } => write!(f, "member {member}: {from} -> {to}"),
            Happened::Active { from, to } => write!(f, "active member: {} -> {}", or_none(from), or_none(to)),
            Happened::Carrier { carrier: true } => f.write_str("carrier"),
            Happened::Carrier { carrier: false } => f.write_str("no carrier"),
            Happened::Lacp { member: Some(member), text } => write!(f, "member {member}: {text}"),
            Happened::Lacp { member: None, text } => f.write_str(text),
            Happened::Joined { member } => write!(f, "member {member} joined"),
            Happened::Left { member } => write!(f, "member {member} left"),
            Happened::Renamed { from, to } => write!(f, "member {from} is called {to} now"),
            Happened::DeviceRenamed { from, to } => write!(f, "the team device {from} is called {to} now"),
            Happened::TcpMinRttWlen { from, to } => {
                write!(f, "net.ipv4.tcp_min_rtt_wlen of this namespace: {from} -> {to}")
            }
            Happened::Options { changed } => {
                f.write_str("options:")?;
                changed.iter().try_for_each(|change| write!(f, " {change}"))
            }
            Happened::Plan { generation } => write!(f, "plan {generation}"),
            Happened::Stalled { ms } => {
                write!(f, "the process did not run for {}.{} s", ms / 1000, ms % 1000 / 100)
            }
            Happened::OneSided { member, text } => write!(f, "member {member} {text}"),
            Happened::Repaired { device, what } => {
                write!(f, "{device}: another program took the team's {what} away; it was put back")
            }
            Happened::Conflict { device, what } => {
                write!(f, "{device}: another program takes the team's {what} away again and again")
            }
            Happened::Pagp { member, switch, mode } => write!(f, "member {member}: {switch} speaks PAgP (mode {mode})"),
            Happened::Flood { member, kind, begins: true } => write!(f, "member {member}: a flood of {kind}"),
            Happened::Flood { member, kind, begins: false } => {
                write!(f, "member {member}: no flood of {kind} any more")
            }
            Happened::Trouble { text } => write!(f, "warning: {text}"),
        }
    }
}

impl fmt::Display for OptionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
        write!(f, "{} {} -> {}", self.option, shown(&self.from), shown(&self.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    fn plan(generation: u64) -> Happened {
        Happened::Plan { generation }
    }

    #[test]
    fn the_last_are_kept_and_numbers_go_on() {
        let journal = Journal::default();
        for generation in 0..KEPT as u64 + 5 {
            journal.record(plan(generation));
        }
        let kept = journal.after(0);
        assert_eq!((kept.len(), kept[0].number), (KEPT, 6));
        assert_eq!(journal.after(KEPT as u64 + 4).len(), 1);
    }

    #[test]
    fn a_follower_misses_nothing_and_learns_of_the_end() {
        let journal = Journal::default();
        assert_eq!(journal.wait_after(0, SOON), Some(vec![]));
        let heard = std::thread::scope(|scope| {
            let follower = scope.spawn(|| {
                let (mut heard, mut last) = (Vec::new(), 0);
                while let Some(entries) = journal.wait_after(last, Duration::from_secs(20)) {
                    last = entries.last().map_or(last, |entry| entry.number);
                    heard.extend(entries);
                }
                heard
            });
            for generation in 0..100 {
                journal.record(plan(generation));
            }
            journal.close();
            follower.join().unwrap()
        });
        assert!(heard.iter().map(|entry| entry.number).eq(1..=100));
    }

    #[test]
    fn entries_read_as_lines_and_travel_as_json() {
        let changed = vec![OptionChange { option: "primary".into(), from: String::new(), to: "eth1".into() }];
        let entry = Entry { number: 7, unix_ms: 1_700_000_000_250, happened: Happened::Options { changed } };
        assert_eq!(entry.to_string(), "2023-11-14T22:13:20.25Z options: primary none -> eth1");
        let text = serde_json::to_string(&entry).unwrap();
        let expected = r#"{"number":7,"unix_ms":1700000000250,"event":"options","changed":[{"option":"primary","from":"","to":"eth1"}]}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }
}
