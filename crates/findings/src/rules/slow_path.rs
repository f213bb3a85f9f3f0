//! Round robin over paths of which one is slower, or longer, than the others.

use nicteam_record::{Finding, StoragePath};
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::limits::Limit;
use crate::storage::{self, ROUND_ROBIN, milliseconds};
use crate::units::{link_rate, list};
use crate::view;
use crate::words;

/// Paths that got as many requests each, though one took longer for them.
pub(super) struct SlowPath;

/// Paths got as many requests each if none's count is further from the mean than this part.
const ALIKE: f64 = 0.1;
/// A path is slow if its requests take so many times as long as the others'.
const SLOW: f64 = 1.5;

#[derive(Serialize, Deserialize)]
struct Details {
    paths: usize,
    /// The slowest path's device on the initiator, rate of its wire and declared delay.
    device: String,
    rate_bps: u64,
    delay_ms: f64,
    /// Mean time of a request by it, and by the fastest other one, microseconds.
    latency_us: f64,
    others_us: f64,
    /// Whether the links' rates differ.
    rates_differ: bool,
}

impl Rule for SlowPath {
    fn cause(&self) -> &'static str {
        "slow-path"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let disk = limit.disk().filter(|disk| disk.policy == ROUND_ROBIN)?;
        let paths: Vec<&StoragePath> = disk.paths.iter().filter(|path| storage::is_alive(path)).collect();
        let mean = paths.iter().map(|path| path.ios as f64).sum::<f64>() / paths.len().max(1) as f64;
        let alike = |path: &&StoragePath| (path.ios as f64 - mean).abs() <= ALIKE * mean;
        let latency = |path: &StoragePath| path.latency_us.unwrap_or(0.0);
        let slowest = paths.iter().max_by(|one, other| latency(one).total_cmp(&latency(other)))?;
        let others = paths.iter().filter(|path| path.path != slowest.path);
        let others_us = others.map(|path| latency(path)).fold(f64::INFINITY, f64::min);
        if mean <= 0.0 || !paths.iter().all(alike) || !others_us.is_finite() || latency(slowest) < SLOW * others_us {
            return None;
        }
        let topology = &limit.picture.run.topology;
        let link = |path: &StoragePath| view::link_at(topology, topology.links_of(&disk.host), &path.device);
        let rate = |path: &StoragePath| link(path).map_or(0, |(link, _)| link.rate_bps);
        let delay = |path: &StoragePath| {
            let declared = link(path).and_then(|(link, far)| view::declared(link, far));
            declared.map_or(0.0, |impairments| impairments.delay_ms)
        };
        let details = Details {
            paths: paths.len(),
            device: slowest.device.clone(),
            rate_bps: rate(slowest),
            delay_ms: delay(slowest),
            latency_us: latency(slowest),
            others_us,
            rates_differ: paths.iter().any(|path| rate(path) > rate(slowest)),
        };
        let hop = limit.hop_of(disk)?;
        let finding = limit.finding_by_paths(self.cause(), disk, hop);
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { paths, device, rate_bps, delay_ms, latency_us, others_us, rates_differ } = finding.details()?;
        let (side, node, hop) = (words::side(finding), words::node(finding), finding.hops.first()?);
        let known = [
            rates_differ.then(|| link_rate(rate_bps)),
            (delay_ms > 0.0).then(|| format!("{delay_ms} ms longer by declaration")),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        let known = if known.is_empty() { String::new() } else { format!(" ({})", list(&known)) };
        Some(format!(
            "{side}: round robin of {node} sends as many requests by each of {paths} paths. By {device}{known} a request takes {}, by \
             another {}, so all wait for it: the links were {} full. Cure: a policy that measures the paths (best, service-time).",
            milliseconds(latency_us),
            milliseconds(others_us),
            storage::loads(hop.links.iter().map(|link| link.load)),
        ))
    }
}
