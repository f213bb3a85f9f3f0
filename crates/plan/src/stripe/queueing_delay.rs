//! The queueing-delay estimate: how much later than computed frames arrive, by path.
//!
//! The sender knows what it gave to a wire. It does not see how fast the wire really is, and what else waits before it.
//! Where a link is a little slower than its rate says, a queue stands that the sender takes for empty. Once such a
//! queue is longer than its neighbours', it stays longer, and every frame by that path is late. So a probe carries the
//! time at which its wires should be free, and its echo carries the time at which the probe arrived, by the peer's
//! clock ([`nicteam_wire::Times`]). The difference of both contains the difference of two clocks. All paths to a peer
//! have that in common, so what remains is how much later one path is than another.
//!
//! Of [`PROBES`] probes the least late one counts, because a processor that is late makes no queue. Half of a path's
//! excess over the quickest path is added to the transmit backlog of the end that the path has for itself: its
//! receiver, or where that has several paths, its sender. An excess that all paths of one end share, as where one of
//! three members reaches two of four, is a queue of that end, and is added to that end's backlog. Added to the other
//! ends it would only move the frames from one of these paths to the other. Where other teams may correct the same
//! queue ([`super::Peer::sharers`]), each adds its part.
//!
//! No tag authenticates the times, so impossible times are ignored: those of a probe that was due more than a second
//! ago, or is due later than any backlog can end, and those of a probe that is earlier or later than the quickest path
//! by more than a second. So a forged echo can do no more than a queue can: it adds [`MOST`] at once. Mirrored in the
//! file of the same name in `bpf`; a change here is a change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

/// Probes of which the least late counts.
const PROBES: u32 = nicteam_machine::constants::LATE_PROBES;
/// For so long what was found of a path is compared with.
const LASTS: Duration = Duration::from_nanos(nicteam_machine::constants::LATE_LASTS_NS);
/// The most that is put on a wire at once.
const MOST: Duration = Duration::from_nanos(nicteam_machine::constants::LATE_MOST_NS);
/// Of what a path has over the quickest, one part in so many is put on a wire; times the sharers.
const PART: u64 = nicteam_machine::constants::LATE_PART;
/// If a probe differs from the quickest path by more, its times are ignored: no queue is so long.
const PLAUSIBLE: Duration = Duration::from_nanos(nicteam_machine::constants::LATE_PLAUSIBLE_NS.unsigned_abs());

/// Ends of a path.
type Ends = (MemberId, Mac);

/// What is known of all paths.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueingDelay {
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

/// What a path has over the quickest one, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// By itself: of the end that it has alone.
    pub(super) own: u64,
    /// As all paths of the end that it shares.
    pub(super) shared: u64,
}

impl Late {
    /// How much longer than we reckon wires are taken: that of the end it has alone, and that of the shared one.
    pub(super) fn excess(self, sharers: u32) -> (u64, u64) {
        let part = |late: u64| (late / PART / u64::from(sharers.max(1))).min(MOST.as_nanos() as u64);
        (part(self.own), part(self.shared))
    }
}

impl QueueingDelay {
    /// A probe of a path came back: so late it was, beside its clocks' difference. `rivals` are all paths to the
    /// peer, `siblings` those among them that share an end with this one and it itself, if there are any.
    pub(super) fn take(&mut self, path: Ends, rivals: &[Ends], siblings: &[Ends], late: i64, now: u64) -> Option<Late> {
        if self.least(rivals, now).is_some_and(|least| late.abs_diff(least) > PLAUSIBLE.as_nanos() as u64) {
            return None;
        }
        let own = self.paths.entry(path).or_default();
        own.least = if own.probes == 0 { late } else { own.least.min(late) };
        own.probes += 1;
        if own.probes < PROBES {
            return None;
        }
        let own_late = own.least;
        (own.probes, own.found) = (0, Some((own_late, now)));
        let quickest = self.least(rivals, now)?;
        let excess = own_late.wrapping_sub(quickest).max(0) as u64;
        let common = self.least(siblings, now).map_or(0, |least| least.wrapping_sub(quickest).max(0) as u64);
        Some(Late { own: excess.saturating_sub(common), shared: common })
    }

    /// The least of what was lately found of these paths.
    fn least(&self, paths: &[Ends], now: u64) -> Option<i64> {
        let lasts = LASTS.as_nanos() as u64;
        let found = paths.iter().filter_map(|path| self.paths.get(path)?.found);
        found.filter(|(_, at)| now < at + lasts).map(|(late, _)| late).min()
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

    /// What each of four rounds of probes is answered, of paths that are late by so many
    /// microseconds; with a place, that path and the next share an end. Microseconds.
    fn round(
        queueing_delay: &mut QueueingDelay,
        late_us: &[[i64; 4]],
        together: Option<usize>,
        sharers: u32,
        now: u64,
    ) -> Vec<Option<(u64, u64)>> {
        let all: Vec<Ends> = (0..late_us.len() as u8).map(path).collect();
        let mut last = vec![None; all.len()];
        for probe in 0..4 {
            for ((place, own), late_us) in all.iter().enumerate().zip(late_us) {
                // Two clocks, an hour apart.
                let late = late_us[probe] * 1000 - 3_600_000_000_000;
                let pair = together.map(|first| first..first + 2).filter(|pair| pair.contains(&place));
                let siblings = pair.map_or(&[][..], |pair| &all[pair]);
                let found = queueing_delay.take(*own, &all, siblings, late, now);
                assert_eq!(found.is_some(), probe == 3);
                let found = found.map(|late| late.excess(sharers));
                last[place] = found.map(|(own, shared)| (own / 1000, shared / 1000));
            }
        }
        last
    }

    #[test]
    fn half_of_what_the_least_late_probe_has_over_the_quickest_path() {
        let mut queueing_delay = QueueingDelay::default();
        let late = [[30, 10, 50, 90], [900, 410, 500, 800], [10, 10, 3000, 10]];
        let found = |each: [u64; 3]| each.map(|own| Some((own, 0))).to_vec();
        assert_eq!(round(&mut queueing_delay, &late, None, 1, MS), found([0, 200, 0]));
        assert_eq!(round(&mut queueing_delay, &late, None, 4, 2 * MS), found([0, 50, 0]), "four share what is there");
        let much = round(&mut queueing_delay, &[[50_000; 4], [0; 4]], None, 1, 3 * MS);
        assert_eq!(much, [Some((4000, 0)), Some((0, 0))], "at most");
    }

    #[test]
    fn what_all_paths_of_an_end_have_is_that_ends() {
        let mut queueing_delay = QueueingDelay::default();
        let late = [[0; 4], [600; 4], [800; 4]];
        round(&mut queueing_delay, &late, Some(1), 1, MS);
        assert_eq!(
            round(&mut queueing_delay, &late, Some(1), 1, 2 * MS),
            [Some((0, 0)), Some((0, 300)), Some((100, 300))],
            "and what one has beyond is its own"
        );
        let late = [[0; 4], [0; 4], [800; 4]];
        assert_eq!(round(&mut queueing_delay, &late, Some(1), 1, 3 * MS)[2], Some((400, 0)), "only one of two is late");
    }

    #[test]
    fn what_was_found_long_ago_is_not_compared_with() {
        let mut queueing_delay = QueueingDelay::default();
        round(&mut queueing_delay, &[[0; 4], [500; 4]], None, 1, MS);
        assert_eq!(round(&mut queueing_delay, &[[800; 4]], None, 1, 250 * MS), [Some((0, 0))]);
        queueing_delay.tidy(1, 250 * MS);
        assert_eq!(queueing_delay.paths.len(), 1);
    }
}
