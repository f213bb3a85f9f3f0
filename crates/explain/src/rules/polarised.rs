//! Flows that a hash alike has already chosen, so that the next hash uses a part of its links (polarisation).

use std::collections::BTreeSet;

use nicteam_options::HashPolicy;
use nicteam_options::mode::Sends;
use nicteam_plan::hash::hash;
use nicteam_statistics::{odds, part_by_chance};
use nicteam_wire::Frame;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::hashing::{distinct, places};
use crate::predicted;
use crate::units::{list, plural};
use crate::view::{Direction, Placed, View, grouped, is_constant, members};

pub(super) struct Polarised;

impl Rule for Polarised {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        if view.active().len() < 3 {
            // Of two links a part is one, and that has rules of its own.
            return Vec::new();
        }
        received(view).into_iter().chain(sent(view)).collect()
    }
}

/// What the other end's hash does with what it sends here.
fn received(view: &View<'_>) -> Option<Finding> {
    let links = view.active().len();
    let flows = view.flows(Direction::In);
    let used = members(&flows);
    // A hash of addresses alone has a rule of its own.
    let by_addresses = is_constant(&grouped(&flows, |flow| (flow.key.local.ip(), flow.key.remote.ip())));
    if !view.receives_by_all() || used.len() < 2 || used.len() >= links || by_addresses {
        return None;
    }
    let chance = part_by_chance(links, used.len(), flows.len());
    let sure = Sure::by_chance(chance)?.max(Sure::Likely);
    let names: Vec<&str> = used.iter().copied().collect();
    let sentence = format!(
        "The other end sends {} by {} alone, {} of {links} links: a hash like its own has already chosen these flows \
         (polarisation).",
        plural(flows.len(), "flow"),
        list(&names),
        used.len()
    );
    let mut finding = finding(view, Direction::In, Side::Switch, sentence);
    finding.sure = sure;
    let apart = "flows of one pair of hosts came by several links: the hash tells ports apart";
    finding.evidence.push(apart.to_owned());
    finding.evidence.push(format!("a hash that sees all flows uses so few links by chance in {}", odds(chance)));
    if view.bundle().lacp.is_none() {
        finding.evidence.push("without LACP another cause looks alike: the other ports are in no group".to_owned());
        finding.sure = Sure::Possible;
    }
    let text = "two switches one behind the other must not hash alike: give one of them another seed, or other fields";
    finding.changes.push(Change::at(Place::Switch, text));
    finding.gain = predicted::gain(view, Direction::In, HashPolicy::Layer34, &flows);
    Some(finding)
}

/// What this host's own hash does with what it sends: that is computed.
fn sent(view: &View<'_>) -> Option<Finding> {
    let links = view.active().len();
    let flows = view.flows(Direction::Out);
    let policy: HashPolicy = view.bundle().hash_policy.as_ref()?.parse().ok()?;
    let used = members(&flows);
    let hashes = view.traits.is_some_and(|of| of.sends == Sends::ByHash);
    if !hashes || used.len() < 2 || used.len() >= links {
        return None;
    }
    let own = places(policy, &flows, links);
    let chance = part_by_chance(links, used.len(), keys(policy, &flows));
    if distinct(&own) >= links {
        return None;
    }
    let sure = Sure::by_chance(chance)?;
    let better = better(policy, &flows, links)?;
    let forwards = flows.iter().any(|flow| !view.facts.addresses.contains(&flow.key.local.ip()));
    let why = match forwards {
        true => "a hash like this host's has already chosen the flows that come to it (polarisation)",
        false => "their addresses or ports have a pattern that the hash keeps",
    };
    let name = policy.name();
    let sentence =
        format!("This host sends {} by {} of {links} links: {why}.", plural(flows.len(), "flow"), used.len());
    let mut finding = finding(view, Direction::Out, Side::Host, sentence);
    finding.sure = sure;
    finding.evidence.push(format!("{name}, computed for each of them, gives {} places of {links}", distinct(&own)));
    finding.evidence.push(format!("flows without a pattern do that in {}", odds(chance)));
    finding.changes.push(super::own_hash::change(view.bundle(), better));
    finding.gain = predicted::gain(view, Direction::Out, better, &flows);
    Some(finding)
}

fn finding(view: &View<'_>, direction: Direction, side: Side, sentence: String) -> Finding {
    let is_limit = view.top(direction).is_some_and(|(top, _)| view.is_full(top, direction));
    Finding::new("polarised", if is_limit { Weight::Limit } else { Weight::Fault }, side, sentence)
}

/// How many values the policy's hash has of these flows.
fn keys(policy: HashPolicy, flows: &[Placed<'_>]) -> usize {
    let value = |flow: &Placed<'_>| Some(hash(policy, &Frame::parse_untagged(flow.head).ok()?));
    flows.iter().filter_map(value).collect::<BTreeSet<_>>().len()
}

/// The policy that uses most links for these flows, if one uses more.
fn better(than: HashPolicy, flows: &[Placed<'_>], links: usize) -> Option<HashPolicy> {
    let used = |policy: HashPolicy| distinct(&places(policy, flows, links));
    let others = [HashPolicy::Layer34, HashPolicy::Layer23, HashPolicy::Layer2];
    let best = others.into_iter().rev().max_by_key(|policy| used(*policy))?;
    (used(best) > used(than)).then_some(best)
}
