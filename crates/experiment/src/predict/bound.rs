//! Where a prediction is an upper bound: it knows what the links carry, and TCP does not always take it.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_elements::resolved::{Run, Topology};
use nicteam_predict::{Held, Hop, Kind, Network, Prediction};

use super::translate::Translated;

/// Below this part of a connection's frames, a link is one of several that take turns.
const ALL: f64 = 0.999;
/// Links whose delays differ by no more are used by stripe as if they were alike (`experiments/unequal-delays.toml`).
const ALIKE: Duration = Duration::from_millis(1);

/// Why less may be delivered than the links carry; none: TCP takes it all.
pub(super) fn at_most(
    run: &Run,
    translated: &Translated,
    network: &Network,
    prediction: &Prediction,
) -> Option<String> {
    let is_held_by_links = |flow: &usize| {
        let is_tcp = translated.flows[*flow].kind == Kind::Tcp && translated.ends[*flow].counts;
        is_tcp && matches!(prediction.held[*flow], Held::Cable { .. } | Held::Team { .. })
    };
    let held: Vec<usize> = (0..translated.flows.len()).filter(is_held_by_links).collect();
    if held.is_empty() {
        return None;
    }
    let mut carrying = run.workloads.iter().filter(|workload| workload.task.carries_payload());
    let by_task = carrying.find_map(|workload| {
        let task = &workload.task;
        if task.congestion() == Some("bbr") {
            return Some("bbr paces itself below the rate of a link at times".to_owned());
        }
        let has_subflows = task.takes_every_path() && task.disk_use().is_none();
        let unlike = || workload.assigned().any(|(client, _, _)| has_unlike_links(&run.topology, client));
        let waits = "a connection of multipath TCP waits for what it sent by the slower links";
        (has_subflows && unlike()).then(|| waits.to_owned())
    });
    by_task.or_else(|| {
        held.into_iter().find_map(|flow| {
            let hops: Vec<Hop> = prediction.hops(flow).collect();
            let teams = || {
                hops.iter().filter_map(|hop| match hop {
                    Hop::Team { team, .. } => Some(&network.teams[*team]),
                    Hop::Cable { .. } => None,
                })
            };
            // Frames wait, and overtake each other, where the links that take turns are full.
            let takes_turns = |hop: &Hop| match *hop {
                Hop::Cable { cable, from, share } => {
                    share < ALL && prediction.held[flow] == Held::Cable { cable, from }
                }
                Hop::Team { .. } => false,
            };
            let in_turn = translated.flows[flow].by_link.is_none() && teams().next().is_none();
            let why = if in_turn && hops.iter().any(takes_turns) {
                "its frames take several links in turn".to_owned()
            } else {
                let apart = teams().map(|team| apart(&run.topology, &team.members)).max()?;
                (apart > ALIKE)
                    .then(|| format!("the delays of its links differ by {:.1} ms", apart.as_secs_f64() * 1e3))?
            };
            Some(format!("{why}, and TCP slows down where they arrive out of order"))
        })
    })
}

/// By how much the delays of these cables differ.
fn apart(topology: &Topology, cables: &[usize]) -> Duration {
    let delays = cables.iter().map(|cable| {
        let ways = topology.cables[*cable].impaired.as_ref().map(|impaired| [&impaired.a_to_b, &impaired.b_to_a]);
        ways.into_iter().flatten().map(|way| way.impairments.delay).max().unwrap_or_default()
    });
    let delays: BTreeSet<Duration> = delays.collect();
    delays.last().zip(delays.first()).map(|(most, least)| *most - *least).unwrap_or_default()
}

/// Whether the links of a host have several rates.
fn has_unlike_links(topology: &Topology, host: &str) -> bool {
    let own = topology.cables.iter().filter(|cable| [&cable.a, &cable.b].iter().any(|end| end.node == host));
    own.map(|cable| cable.rate_bps).collect::<BTreeSet<u64>>().len() > 1
}
