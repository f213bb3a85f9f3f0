//! One connection that outweighs all others, and uses one link.

use nicteam_bundles::Kind;
use nicteam_bundles::traffic::{Connection, FlowKey, TCP};

use super::Rule;
use crate::finding::{Change, Finding, Side, Sure, Weight};
use crate::predicted;
use crate::units::{percent, rate};
use crate::view::{Direction, View};

pub(super) struct OneFlow;

/// From this share of the bytes on it is one flow.
const MOST: f64 = 0.8;
/// Below this part of a link nobody asks.
const LEAST_LOAD: f64 = 0.02;
/// Or below this rate, where a speed is unknown.
const LEAST_BPS: f64 = 1e6;

impl Rule for OneFlow {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        if view.active().len() < 2 || !view.spreads() || view.splits_connections() {
            return Vec::new();
        }
        let both = [Direction::Out, Direction::In];
        both.into_iter().find_map(|direction| find(view, direction)).into_iter().collect()
    }
}

fn find(view: &View<'_>, direction: Direction) -> Option<Finding> {
    let (top, of_all) = view.top(direction)?;
    let is_busy =
        view.load(top, direction).map_or(view.bps(&top.name, direction) > LEAST_BPS, |load| load > LEAST_LOAD);
    let (key, share, by) = heaviest(view, direction)?;
    if !is_busy || of_all < MOST || share < MOST {
        return None;
    }
    let weight = if view.is_full(top, direction) { Weight::Limit } else { Weight::Notice };
    let (verb, from, to) = match direction {
        Direction::In => ("receives", key.remote, key.local),
        Direction::Out => ("sends", key.local, key.remote),
    };
    let protocol = if key.protocol == TCP { "TCP connection" } else { "flow of datagrams" };
    let sentence = format!(
        "One {protocol} is {} of what this host {verb} ({from} to {to}), and a flow uses one link: {}.",
        percent(share),
        top.name
    );
    let evidence = format!("{} carries {} of {}", top.name, percent(of_all), rate(view.total_bps(direction)));
    let mut finding = Finding::new("one-flow", weight, Side::Host, sentence).of(&top.name).by(by).by(evidence);
    finding.sure = if key.protocol == TCP { Sure::Certain } else { Sure::Likely };
    let text = "use several connections; no hash spreads one, and none spreads it at the switch either";
    finding.changes.push(Change::here(text, Vec::new()));
    if view.bundle().kind == Kind::Nicteam {
        let text =
            "between two hosts with nicteam: a team in mode stripe, where one connection has all links (docs/guide)";
        finding.changes.push(Change::here(text, Vec::new()));
        let change = predicted::Change::stripe(view);
        let flows = view.flows(direction);
        finding.gain = change.and_then(|change| predicted::of_change(view, direction, &flows, &change));
    }
    Some(finding)
}

/// The flow with most bytes, its share, and by what that is known.
fn heaviest(view: &View<'_>, direction: Direction) -> Option<(FlowKey, f64, String)> {
    let bytes = |of: &Connection| if direction == Direction::In { of.received_bytes } else { of.sent_bytes };
    let payload: u64 = view.busy_connections().map(bytes).sum();
    let connection = view.busy_connections().max_by_key(|of| bytes(of));
    let carried = view.total_bps(direction) * view.facts.rates.seconds / 8.0;
    // Of the bytes on the links payload is at least nine tenths, where packets are of full size.
    if let Some(of) = connection.filter(|_| payload as f64 > carried * 0.7) {
        let by = format!(
            "TCP counts {} of its payload in that time",
            rate(bytes(of) as f64 * 8.0 / view.facts.rates.seconds)
        );
        return Some((of.key, bytes(of) as f64 / payload as f64, by));
    }
    let flows = view.flows(direction);
    let seen: u64 = flows.iter().map(|flow| flow.bytes).sum();
    let flow = flows.iter().max_by_key(|flow| flow.bytes).filter(|_| seen > 0)?;
    let by = "by the headers of the frames that were looked at".to_owned();
    Some((flow.key, flow.bytes as f64 / seen as f64, by))
}
