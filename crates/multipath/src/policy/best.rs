//! `best`: all that the paths can carry, and each request as soon as may be.
//!
//! First every path is filled: as long as one has less outstanding than it delivers within its latency, and one
//! command more to see whether it could deliver more, a request goes to such a one, the quickest of them. So a path
//! that is longer carries its share, though requests take longer by it. What comes beyond that would only queue. It
//! goes where it is done first: the finish is predicted from a path's delivery rate, its latency and what it has
//! outstanding in the request's direction. So no request waits behind a slow path's queue, and a path that stops
//! answering looks worse every moment.
//!
//! A request is held back when its path has as much outstanding as it may have: another path, free though it is, would
//! take longer. The bound starts low and grows with the answers, so that a burst is not spread over paths of which
//! nothing is known.
//!
//! A path that looks slow gets a request now and then, or it could not be seen that it is fast again.

use std::time::Duration;

use super::entry::{Choose, Entry, Load, Policy, least, pending, usable};
use crate::PathId;
use crate::measure::assumed_rate;
use crate::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "best",
    plugin: "best",
    summary: "the path by which the request is done first, by measured rate and latency",
    policy: Policy::Best,
    is: |policy| policy == Policy::Best,
    build: |_| Box::new(Best { last: PathId(0) }),
};

/// Commands that a path may have outstanding before anything was answered.
const FIRST: u64 = 4;
/// The most commands that it may have outstanding. Targets queue 128 of a session.
const MOST: u64 = 128;
/// A path without work is tried after so long a time,
const PROBE_INTERVAL: Duration = Duration::from_millis(100);
/// and no more often than that one part in so many of the time goes to it,
const PROBE_PART: u32 = 32;
/// but at least after so long.
const PROBE_INTERVAL_MOST: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
struct Best {
    last: PathId,
}

impl Choose for Best {
    fn choose(&mut self, load: Load, paths: &[Path], now: Duration) -> Option<PathId> {
        let assumed = assumed_rate(paths.iter().map(Path::measure), load.kind);
        let finish = |path: &Path| path.measure().finish(load.kind, load.bytes, assumed, now);
        let idle = |path: &Path| {
            let wait = finish(path).saturating_mul(PROBE_PART).clamp(PROBE_INTERVAL, PROBE_INTERVAL_MOST);
            path.outstanding() == 0 && now.saturating_sub(path.measure().used()) >= wait
        };
        let probed = usable(paths).find(|(_, path)| idle(path)).map(|(id, _)| id);
        let bound = |path: &Path| (FIRST + path.answers()).min(MOST);
        let is_full = |path: &Path| path.outstanding() as u64 >= bound(path);
        let unloaded = |path: &Path| {
            let has_room = !is_full(path) && path.measure().has_room(load.kind, load.bytes, assumed, now);
            if has_room { path.measure().unloaded(load.kind, load.bytes, assumed) } else { Duration::MAX }
        };
        let filled = || least(paths, self.last, unloaded).filter(|id| unloaded(&paths[id.0]) < Duration::MAX);
        let chosen = probed.or_else(filled).or_else(|| least(paths, self.last, finish))?;
        if is_full(paths.get(chosen.0)?) {
            return None;
        }
        self.last = chosen;
        Some(chosen)
    }

    fn copy(&self) -> Box<dyn Choose> {
        Box::new(self.clone())
    }

    fn device_config(&self, paths: &[Path]) -> String {
        let rates = usable(paths).map(|(_, path)| {
            let rate = path.measure().rate(crate::Kind::Read).or_else(|| path.measure().rate(crate::Kind::Write));
            format!("{:.1}", rate.unwrap_or_default() / 1e6)
        });
        let rates: Vec<String> = rates.collect();
        format!("policy=best,MBps={}; lastPathIndex={}: {}", rates.join("/"), self.last.0, pending(paths))
    }
}
