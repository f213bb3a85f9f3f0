//! Links that both ends of a connection use together, some of them full and others not.

use nicteam_record::Finding;
use serde::{Deserialize, Serialize};

use super::Rule;
use crate::hop::{Choice, Hop, HopLink};
use crate::limits::Limit;
use crate::units::{link_rate, list, percent, ratio};
use crate::words;

/// From this part on, frames that a link lost are mentioned.
const LOSS_NOTABLE: f64 = 0.001;

/// Full and not full links of hosts that stripe, or of multipath TCP.
pub(super) struct Uneven;

#[derive(Serialize, Deserialize)]
struct Details {
    /// The busiest link and the least used one, as parts of what each can carry.
    busiest: One,
    least: One,
    /// Part of the segments that was sent again.
    resent: f64,
}

/// What is known of one link.
#[derive(Serialize, Deserialize)]
struct One {
    /// Its device at the host whose links these are.
    device: String,
    /// Rate of its wire, bit/s.
    rate_bps: u64,
    /// Part of what it can carry that it carried.
    load: f64,
    /// Part of its frames that were lost between its ends, and that the sending end dropped.
    lost: f64,
    dropped: f64,
    /// Delay that it was declared to have, milliseconds.
    delay_ms: f64,
}

impl Rule for Uneven {
    fn cause(&self) -> &'static str {
        "uneven"
    }

    fn find(&self, limit: &Limit<'_, '_>) -> Option<Finding> {
        let by = limit.filled_by.chosen_by().filter(|by| by.is_joint())?;
        let hop = limit.hops.iter().find(|hop| hop.some_full() && !hop.all_full())?;
        let by_load = |one: &&HopLink<'_>, other: &&HopLink<'_>| one.load().total_cmp(&other.load());
        let (busiest, least) = (hop.links.iter().max_by(by_load)?, hop.links.iter().min_by(by_load)?);
        let details = Details { busiest: One::of(hop, busiest), least: One::of(hop, least), resent: limit.resent() };
        let finding = Finding {
            side: hop.side,
            node: Some(hop.host().to_owned()),
            policy: Some(by.words().to_owned()),
            hops: vec![hop.as_found()],
            ..limit.finding(self.cause())
        };
        Some(finding.with_details(&details))
    }

    fn sentence(&self, finding: &Finding) -> Option<String> {
        let Details { busiest, least, .. } = finding.details()?;
        let (side, node, links) = (words::side(finding), words::node(finding), finding.hops.first()?.links.len());
        let how = match finding.policy.as_deref() {
            Some(by) if by == Choice::Subflows.words() => "multipath TCP gives each segment to a subflow that has room",
            Some(by) if by == Choice::Paths.words() => "each request goes by the path that the path policy chooses",
            _ => "each frame takes the link on which it arrives first (mode stripe)",
        };
        let known = [
            (least.lost >= LOSS_NOTABLE).then(|| format!("lost {} of its frames", percent(least.lost))),
            (least.dropped >= LOSS_NOTABLE).then(|| format!("dropped {} of its frames", percent(least.dropped))),
            (least.delay_ms > 0.0).then(|| format!("delays frames by {} ms", least.delay_ms)),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        let known = if known.is_empty() { String::new() } else { format!(", which {}", list(&known)) };
        // Where rates are alike, which link was the busiest says nothing.
        let [busiest, name] = match busiest.rate_bps == least.rate_bps {
            true => [String::new(), least.device],
            false => [format!(", {},", busiest.named()), least.named()],
        };
        Some(format!(
            "{side}: {how}: the busiest of {node}'s {links}{busiest} was full, the least used, {name}{known}, at {}.",
            ratio(least.load),
        ))
    }
}

impl One {
    fn of(hop: &Hop<'_>, link: &HopLink<'_>) -> One {
        let device = if hop.host() == hop.node { link.device } else { link.far_device }.to_owned();
        let HopLink { rate_bps, lost, dropped, delay_ms, .. } = *link;
        One { device, rate_bps, load: link.load(), lost, dropped, delay_ms }
    }

    /// `eth0 (200 Mbit/s)`.
    fn named(&self) -> String {
        format!("{} ({})", self.device, link_rate(self.rate_bps))
    }
}
