//! The service manager that is told how a team is.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use nicteam_daemon::{Heartbeat, HeartbeatListener};
use nicteam_sys::notify::Notify;

use crate::failure::Failure;

/// Who started this process, if it wants to be told.
#[derive(Clone, Debug)]
pub(crate) struct Manager {
    notify: Option<Arc<Notify>>,
    /// It ends a process that gives no sign of life.
    watches: bool,
}

impl Manager {
    /// As sd_notify(3) and sd_watchdog_enabled(3) find it.
    pub(super) fn from_environment() -> Result<Manager, Failure> {
        let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
        let is_for_us = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watches = is_for_us && number("WATCHDOG_USEC").is_some_and(|time| time > 0);
        Ok(Manager { notify: Notify::from_environment()?.map(Arc::new), watches })
    }

    /// Tells it something. One that does not listen is no reason to end a team.
    pub(super) fn say(&self, lines: &str) {
        if let Some(notify) = &self.notify {
            let _ = notify.say(lines);
        }
    }

    /// What tells it of the team's signs of life.
    pub(super) fn heartbeat_listener(&self) -> HeartbeatListener {
        let (manager, mut before) = (self.clone(), Said::default());
        Box::new(move |heartbeat| {
            let lines = before.lines(heartbeat, manager.watches);
            manager.say(&lines);
        })
    }
}

/// What the manager was told last.
#[derive(Debug, Default)]
struct Said {
    status: String,
    watchdog_timeout: Option<Duration>,
}

impl Said {
    /// What it is to be told now: a sign of life, and what has changed.
    fn lines(&mut self, heartbeat: &Heartbeat, watches: bool) -> String {
        let mut lines = Vec::new();
        if watches {
            // How long the unit's file cannot know: it follows from the team's options.
            if self.watchdog_timeout.replace(heartbeat.watchdog_timeout) != Some(heartbeat.watchdog_timeout) {
                lines.push(format!("WATCHDOG_USEC={}", heartbeat.watchdog_timeout.as_micros()));
            }
            lines.push("WATCHDOG=1".to_owned());
        }
        let status = heartbeat.to_string();
        if self.status != status {
            lines.push(format!("STATUS={status}"));
            self.status = status;
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_dataplane::Kind;
    use nicteam_team::Mode;

    #[test]
    fn what_has_not_changed_is_not_said_again() {
        let heartbeat = Heartbeat {
            mode: Mode::Ad,
            dataplane: Kind::Bpf,
            members: 2,
            up: 2,
            missing: 0,
            carrier: true,
            watchdog_timeout: Duration::from_secs(20),
        };
        let mut said = Said::default();
        let first = "WATCHDOG_USEC=20000000\nWATCHDOG=1\nSTATUS=802.3ad, carrier, 2 of 2 members up, bpf";
        assert_eq!(said.lines(&heartbeat, true), first);
        assert_eq!(said.lines(&heartbeat, true), "WATCHDOG=1");
        let slow = Heartbeat { watchdog_timeout: Duration::from_secs(150), ..heartbeat.clone() };
        assert_eq!(said.lines(&slow, true), "WATCHDOG_USEC=150000000\nWATCHDOG=1");
        let fewer = Heartbeat { up: 1, ..slow };
        assert_eq!(said.lines(&fewer, false), "STATUS=802.3ad, carrier, 1 of 2 members up, bpf");
        assert_eq!(said.lines(&fewer, false), "");
    }
}
