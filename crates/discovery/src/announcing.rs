//! When a team announces itself.

use std::time::Duration;

use nicteam_machine::{Time, state};

/// The announcements to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcing {
    last: Option<Time>,
    next: Option<Time>,
    /// So many follow one another quickly.
    quick: u32,
    /// Urgent ones that have left, as far as they are not forgotten.
    urgent: u32,
    /// When the last of them was forgotten.
    forgotten: Time,
}

state!(struct Announcing { last, next, quick, urgent, forgotten });

/// Between two announcements where few teams are.
const USUAL: Duration = Duration::from_secs(1);
/// The same for each team that is known, if that is more: 300 teams with four members send 100 frames a second together. Each hears
/// them all, by every member, so this is the larger part of what idle teams cost.
const USUAL_PER_TEAM: Duration = Duration::from_millis(40);
/// After something changed; as much again for each eight teams that are known.
const QUICK: Duration = Duration::from_millis(20);
/// How many follow one another that quickly.
const QUICK_ANNOUNCEMENTS: u32 = 3;
/// Urgent ones that may leave at once, one after the other.
const URGENT: u32 = 10;
/// One of them is forgotten each.
const URGENT_PAUSE: Duration = Duration::from_millis(100);

impl Announcing {
    /// The next one is due then.
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Something changed that peers want to know.
    pub(super) fn soon(&mut self, teams: usize, now: Time) {
        self.quick = QUICK_ANNOUNCEMENTS;
        let earliest = self.last.map_or(now, |last| now.max(last + quick(teams)));
        self.next = Some(self.next.map_or(earliest, |next| next.min(earliest)));
    }

    /// A member was lost, or is back: every frame counts.
    pub(super) fn at_once(&mut self, teams: usize, now: Time) {
        while self.urgent > 0 && now.since(self.forgotten) >= URGENT_PAUSE {
            self.urgent -= 1;
            self.forgotten = self.forgotten + URGENT_PAUSE;
        }
        self.soon(teams, now);
        if self.urgent < URGENT {
            if self.urgent == 0 {
                self.forgotten = now;
            }
            self.urgent += 1;
            self.next = Some(now);
        }
    }

    /// One leaves now; the longest time until the next one, which the receivers may expect.
    pub(super) fn announced(&mut self, teams: usize, now: Time) -> Duration {
        let usual = usual(teams);
        self.last = Some(now);
        self.next = Some(now + if self.quick > 0 { quick(teams) } else { usual });
        self.quick = self.quick.saturating_sub(1);
        usual
    }
}

fn usual(teams: usize) -> Duration {
    USUAL.max(USUAL_PER_TEAM * teams as u32)
}

fn quick(teams: usize) -> Duration {
    QUICK * (1 + teams as u32 / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Announcements within a second, something urgent happening each millisecond.
    fn within_a_second(teams: usize) -> u32 {
        let (mut announcing, mut count) = (Announcing::default(), 0);
        for ms in 1..=1000 {
            let now = Time::from_millis(ms);
            announcing.at_once(teams, now);
            if announcing.next().is_some_and(|next| next <= now) {
                announcing.announced(teams, now);
                count += 1;
            }
        }
        count
    }

    #[test]
    fn what_is_urgent_leaves_at_once_and_is_bounded_all_the_same() {
        let mut announcing = Announcing::default();
        let now = Time::from_millis(1000);
        announcing.announced(1, now);
        announcing.soon(1, now);
        assert_eq!(announcing.next(), Some(now + QUICK));
        announcing.at_once(1, now);
        assert_eq!(announcing.next(), Some(now));
        assert!((50..=50 + 20).contains(&within_a_second(0)), "{}", within_a_second(0));
        assert!(within_a_second(256) <= 1 + 2 + 20, "{}", within_a_second(256));
    }

    #[test]
    fn many_teams_take_more_time() {
        let mut announcing = Announcing::default();
        assert_eq!(announcing.announced(3, Time::from_millis(1)), USUAL);
        assert_eq!(announcing.announced(256, Time::from_millis(1)), Duration::from_millis(10_240));
    }
}
