//! How much later than we reckon frames arrive, by path.
//!
//! A wire carries what we gave it; but how fast, and what else waits before it, we
//! do not see. Where a link is a little slower than it says, a queue stands that we take for
//! gone, and once one is longer than its neighbours' it stays so: every frame by that
//! path is late. So a probe says when we reckon it to arrive, and its echo when it
//! did, by the peer's clock ([`nicteam_wire::Times`]). What both differ by has the
//! difference of two clocks in it, which all paths to a peer have in common: that one path
//! is later than another is left.
//!
//! Of [`PROBES`] probes the least late counts, for a processor that is late makes no queue. Half
//! of what a path then has over the quickest one is put on the wire that it has for
//! itself: its receiver's, or where that has several paths, its sender's. Where others may do
//! the same about the same queue ([`super::Peer::sharers`]), each takes its part. Mirrored in `bpf/lateness.h`.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::Mac;

use crate::MemberId;

/// Probes of which the least late counts.
const PROBES: u32 = 4;
/// For so long what was found of a path is compared with.
const LASTS: Duration = Duration::from_millis(200);
/// The most that is put on a wire at once.
const MOST: Duration = Duration::from_millis(4);
/// Of what a path has over the quickest, one part in so many is put on its wire; times the sharers.
const PART: u64 = 2;

/// Ends of a path.
type Ends = (MemberId, Mac);

/// What is known of all paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Lateness {
    paths: BTreeMap<Ends, Found>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Probes since the last finding, and the least late of them, nanoseconds.
    probes: u32,
    least: i64,
    /// The last finding, and when it was made.
    found: Option<(i64, u64)>,
}

impl Lateness {
    /// A probe of a path came back: so late it was, beside its clocks' difference. When
    /// that is a finding: how much longer than we reckon the path's wire is taken, nanoseconds.
    pub(super) fn take(&mut self, path: Ends, rivals: &[Ends], sharers: u32, late: i64, now: u64) -> Option<u64> {
        let own = self.paths.entry(path).or_default();
        own.least = if own.probes == 0 { late } else { own.least.min(late) };
        own.probes += 1;
        if own.probes < PROBES {
            return None;
        }
        let own_late = own.least;
        (own.probes, own.found) = (0, Some((own_late, now)));
        let lasts = LASTS.as_nanos() as u64;
        let found = rivals.iter().filter_map(|rival| self.paths.get(rival)?.found);
        let quickest = found.filter(|(_, at)| now < at + lasts).map(|(late, _)| late).min()?;
        let excess = own_late.wrapping_sub(quickest).max(0) as u64 / PART / u64::from(sharers.max(1));
        Some(excess.min(MOST.as_nanos() as u64))
    }

    /// Forgets what does not count any more, if it became much.
    pub(super) fn tidy(&mut self, most: usize, now: u64) {
        if self.paths.len() > most {
            let lasts = LASTS.as_nanos() as u64;
            self.paths.retain(|_, path| path.found.is_some_and(|(_, at)| now < at + lasts));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn path(place: u8) -> Ends {
        (MemberId::new(place.into()).unwrap(), Mac([2, 0, 0, 0, 0, place]))
    }

    /// What each of four rounds of probes is answered, of paths that are late by so many microseconds.
    fn round(lateness: &mut Lateness, late_us: &[[i64; 4]], sharers: u32, now: u64) -> Vec<Option<u64>> {
        let all: Vec<Ends> = (0..late_us.len() as u8).map(path).collect();
        let mut last = vec![None; all.len()];
        for probe in 0..4 {
            for ((place, own), late_us) in all.iter().enumerate().zip(late_us) {
                // Two clocks, an hour apart.
                let late = late_us[probe] * 1000 - 3_600_000_000_000;
                let put = lateness.take(*own, &all, sharers, late, now);
                assert_eq!(put.is_some(), probe == 3);
                last[place] = put.map(|ns| ns / 1000);
            }
        }
        last
    }

    #[test]
    fn half_of_what_the_least_late_probe_has_over_the_quickest_path() {
        let mut lateness = Lateness::default();
        let late = [[30, 10, 50, 90], [900, 410, 500, 800], [10, 10, 3000, 10]];
        assert_eq!(round(&mut lateness, &late, 1, MS), [Some(0), Some(200), Some(0)]);
        assert_eq!(round(&mut lateness, &late, 4, 2 * MS), [Some(0), Some(50), Some(0)], "four share what is there");
        assert_eq!(round(&mut lateness, &[[50_000; 4], [0; 4]], 1, 3 * MS)[0], Some(4000), "at most");
    }

    #[test]
    fn what_was_found_long_ago_is_not_compared_with() {
        let mut lateness = Lateness::default();
        round(&mut lateness, &[[0; 4], [500; 4]], 1, MS);
        assert_eq!(round(&mut lateness, &[[800; 4]], 1, 250 * MS), [Some(0)]);
        lateness.tidy(1, 250 * MS);
        assert_eq!(lateness.paths.len(), 1);
    }
}
