//! The signs of life of a team, for the supervisor of its process.

use std::fmt;
use std::time::Duration;

use nicteam_dataplane::Kind;
use nicteam_team::lacp::LacpRate;
use nicteam_team::{Config, Mode, Time};

/// What a team says of itself with each sign of life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Its mode.
    pub mode: Mode,
    /// What executes its plan.
    pub dataplane: Kind,
    /// Its members.
    pub members: usize,
    /// How many of them the team counts on.
    pub up: usize,
    /// Members whose devices are not there.
    pub missing: usize,
    /// True if its stack sees a carrier.
    pub carrier: bool,
    /// For so long it may be silent: after that its process is better ended, and another one begun.
    pub watchdog_timeout: Duration,
}

/// Hears signs of life. They come from the thread that runs the team, so they end when that hangs: at least four in each time of
/// [`Heartbeat::patience`], and one with each change of the others.
pub type HeartbeatListener = Box<dyn FnMut(&Heartbeat) + Send>;

/// How a team's process lives.
#[derive(Default)]
pub struct ProcessOptions {
    /// Hears signs of life.
    pub heartbeat_listener: Option<HeartbeatListener>,
    /// Once the team runs, its threads keep the capabilities alone that it needs then ([`crate::NEEDED`]), and so does the thread
    /// that starts it. For a process that does nothing else.
    pub confined: bool,
}

/// Signs of life in the time that a team may be silent.
pub(crate) const SIGNS: u32 = 4;
/// Between two of them passes so much at least, unless something has changed.
pub(crate) const LEAST: Duration = Duration::from_millis(50);

/// Who hears signs of life.
pub(crate) struct Heartbeats {
    pub(crate) listener: HeartbeatListener,
    /// When the next one is due.
    pub(crate) next: Time,
    /// The plan and the carrier of the last one: what is said follows from them.
    pub(crate) of: Option<(u64, bool)>,
}

impl Heartbeats {
    pub(crate) fn new(listener: HeartbeatListener, now: Time) -> Heartbeats {
        Heartbeats { listener, next: now, of: None }
    }

    /// When the next sign is due.
    pub(crate) fn deadline(&self) -> Time {
        self.next
    }
}

impl fmt::Debug for ProcessOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessOptions").field("confined", &self.confined).finish_non_exhaustive()
    }
}

impl fmt::Display for Heartbeat {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let carrier = if self.carrier { "carrier" } else { "no carrier" };
        write!(f, "{}, {carrier}, {} of {} members up", self.mode, self.up, self.members)?;
        if self.missing > 0 {
            write!(f, ", {} missing", self.missing)?;
        }
        write!(f, ", {}", self.dataplane)
    }
}

/// For how long a team's process may be silent: 20 s, and 150 s where the partner is asked to speak at the slow rate, so a stall that
/// the programs bridge passes; and always less than the lease, so that the next process is there before the partner leaves.
pub(crate) fn watchdog_timeout(config: &Config, lease: Option<Duration>) -> Duration {
    const USUAL: Duration = Duration::from_secs(20);
    const SLOW: Duration = Duration::from_secs(150);
    let Some(lease) = lease else { return USUAL };
    let of_rate = if config.lacp.rate == LacpRate::Slow { SLOW } else { USUAL };
    of_rate.min(lease * 5 / 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_before_the_lease() {
        let config = |rate: &str| {
            let mut config = Config::default();
            for (name, value) in [("mode", "802.3ad"), ("lacp_rate", rate)] {
                config.set(name, value).unwrap();
            }
            config
        };
        let seconds =
            |rate, lease: Option<u64>| watchdog_timeout(&config(rate), lease.map(Duration::from_secs)).as_secs_f64();
        assert_eq!([seconds("fast", Some(30)), seconds("slow", Some(180))], [20.0, 150.0]);
        assert_eq!([seconds("fast", Some(6)), seconds("slow", Some(60))], [5.0, 50.0]);
        assert_eq!(seconds("slow", None), 20.0);
        for rate in [LacpRate::Fast, LacpRate::Slow] {
            let of = |rate| if rate == LacpRate::Slow { "slow" } else { "fast" };
            let lease = nicteam_team::lacp::lease(rate);
            assert!(watchdog_timeout(&config(of(rate)), Some(lease)) < lease);
        }
    }

    #[test]
    fn a_team_is_told_of_in_a_line() {
        let heartbeat = Heartbeat {
            mode: Mode::ActiveBackup,
            dataplane: Kind::Bpf,
            members: 2,
            up: 1,
            missing: 0,
            carrier: true,
            watchdog_timeout: Duration::from_secs(20),
        };
        assert_eq!(heartbeat.to_string(), "active-backup, carrier, 1 of 2 members up, bpf");
        let bare = Heartbeat { members: 0, up: 0, missing: 2, carrier: false, dataplane: Kind::Packet, ..heartbeat };
        assert_eq!(bare.to_string(), "active-backup, no carrier, 0 of 0 members up, 2 missing, packet");
    }
}
