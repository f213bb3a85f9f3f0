//! Where a prediction is an upper bound: it knows what the links carry, and TCP does not always take it.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_elements::resolved::{Run, Topology, Workload};
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
    let mut held = (0..translated.flows.len()).filter(is_held_by_links).peekable();
    held.peek()?;
    if let Some(by_task) = run.workloads.iter().find_map(|workload| of_workload(&run.topology, workload)) {
        return Some(by_task.to_owned());
    }
    let out_of_order = held.find_map(|flow| {
        let in_turn =
            || takes_turns(translated, prediction, flow).then(|| "its frames take several links in turn".into());
        unlike_delays(&run.topology, network, prediction, flow).or_else(in_turn)
    });
    out_of_order.map(|why: String| format!("{why}, and TCP slows down where they arrive out of order"))
}

/// What a workload's own TCP leaves.
fn of_workload(topology: &Topology, workload: &Workload) -> Option<&'static str> {
    let task = &workload.task;
    let has_subflows = task.takes_every_path() && task.disk_use().is_none();
    let unlike = || workload.assigned().any(|(client, _, _)| has_unlike_links(topology, client));
    match () {
        () if !task.carries_payload() => None,
        () if task.congestion() == Some("bbr") => Some("bbr paces itself below the rate of a link at times"),
        () if has_subflows && unlike() => {
            Some("a connection of multipath TCP waits for what it sent by the slower links")
        }
        () => None,
    }
}

/// Whether the full link that holds a flow is one of several that take its frames in turn: those that wait overtake each other.
fn takes_turns(translated: &Translated, prediction: &Prediction, flow: usize) -> bool {
    let holds = |hop: Hop| match hop {
        Hop::Cable { cable, from, share } => share < ALL && prediction.held[flow] == Held::Cable { cable, from },
        Hop::Team { .. } => false,
    };
    let stripes = |hop| matches!(hop, Hop::Team { .. });
    translated.flows[flow].by_link.is_none() && !prediction.hops(flow).any(stripes) && prediction.hops(flow).any(holds)
}

/// What is said of a flow by a team that stripes and whose links have unlike delays.
fn unlike_delays(topology: &Topology, network: &Network, prediction: &Prediction, flow: usize) -> Option<String> {
    let of_team = |hop| match hop {
        Hop::Team { team, .. } => Some(apart(topology, &network.teams[team].members)),
        Hop::Cable { .. } => None,
    };
    let apart = prediction.hops(flow).filter_map(of_team).max().filter(|apart| *apart > ALIKE)?;
    Some(format!("the delays of its links differ by {:.1} ms", apart.as_secs_f64() * 1e3))
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
