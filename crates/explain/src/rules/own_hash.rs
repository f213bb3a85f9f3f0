//! This host's own hash does not tell its flows apart, so that it sends them all by one link.

use std::collections::BTreeSet;

use nicteam_bundles::{Bundle, Kind};
use nicteam_options::HashPolicy;
use nicteam_options::mode::Sends;
use nicteam_statistics::{all_by_chance, odds};
use nicteam_wire::Frame;

use super::Rule;
use crate::finding::{Change, Finding, Side, Sure, Weight};
use crate::hashing::{distinct, places, prediction};
use crate::predicted;
use crate::units::{percent, plural};
use crate::view::{Direction, Placed, View, grouped, members};

pub(super) struct OwnHash;

/// Fewer flows say nothing.
const LEAST_FLOWS: usize = 3;

impl Rule for OwnHash {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let sends = view.traits.map(|of| of.sends);
        let chooses = matches!(sends, Some(Sends::ByHash | Sends::BySource | Sends::ByFlow));
        let links = view.active().len();
        let flows = view.flows(Direction::Out);
        if !chooses || links < 2 || flows.len() < LEAST_FLOWS || members(&flows).len() > 1 {
            return Vec::new();
        }
        let found = if sends == Some(Sends::BySource) {
            by_source(view, &flows)
        } else {
            by_policy(view, &flows, links).or_else(|| by_chance(view, &flows, links))
        };
        found.into_iter().collect()
    }
}

/// The policy puts all of them in one place: that is computed.
fn by_policy(view: &View<'_>, flows: &[Placed<'_>], links: usize) -> Option<Finding> {
    let policy: HashPolicy = view.bundle().hash_policy.as_ref()?.parse().ok()?;
    if distinct(&places(policy, flows, links)) != 1 {
        return None;
    }
    let (macs, ips) = (grouped(flows, |flow| flow.mac).len(), grouped(flows, |flow| flow.key.remote.ip()).len());
    let better = better(policy, flows, links)?;
    let name = policy.name();
    let why = match (macs, ips) {
        (1, 1) => "all of them go to one host".to_owned(),
        (1, _) => "all of them go to one MAC address, as a gateway has it".to_owned(),
        _ => format!("the addresses of {} have one hash", plural(macs, "neighbour")),
    };
    let mut finding = finding(view, flows, format!("hash {name} gives them one link, for {why}"));
    finding.evidence.push(format!("{name}, computed for each of them, gives one place of {links}"));
    finding.changes.push(change(view.bundle(), better));
    finding.gain =
        predicted::gain(view, Direction::Out, better, flows).or_else(|| Some(prediction(view, better, flows, links)));
    Some(finding)
}

/// The policy is not known, or not ours: chance says.
fn by_chance(view: &View<'_>, flows: &[Placed<'_>], links: usize) -> Option<Finding> {
    let known: Option<HashPolicy> = view.bundle().hash_policy.as_ref().and_then(|name| name.parse().ok());
    let chance = all_by_chance(links, flows.len() - 1);
    let sure = Sure::by_chance(chance)?;
    // A known policy that would spread them does not explain it.
    if known.is_some() {
        return None;
    }
    let mut finding = finding(view, flows, "its hash does not tell them apart".to_owned());
    finding.sure = sure.max(Sure::Likely);
    finding.evidence.push(format!("a hash that tells ports apart does that by chance in {}", odds(chance)));
    finding.changes.push(change(view.bundle(), HashPolicy::Layer34));
    Some(finding)
}

/// Open vSwitch's balance-slb.
fn by_source(view: &View<'_>, flows: &[Placed<'_>]) -> Option<Finding> {
    let source = |flow: &Placed<'_>| Frame::parse(flow.head).ok().map(|frame| frame.src());
    let sources: BTreeSet<_> = flows.iter().filter_map(source).collect();
    if sources.len() != 1 {
        return None;
    }
    let why = "its mode chooses by the source MAC address and the VLAN, and all have one".to_owned();
    let mut finding = finding(view, flows, why);
    let bundle = view.bundle();
    let commands = match bundle.kind {
        Kind::OpenVSwitch => vec![format!("ovs-vsctl set port {} lacp=active bond_mode=balance-tcp", bundle.name)],
        _ => Vec::new(),
    };
    finding
        .changes
        .push(Change::here("a mode that chooses by addresses and ports; it needs LACP at the switch", commands));
    Some(finding)
}

fn finding(view: &View<'_>, flows: &[Placed<'_>], why: String) -> Finding {
    let top = view.top(Direction::Out);
    let is_limit = top.is_some_and(|(top, _)| view.is_full(top, Direction::Out));
    let weight = if is_limit { Weight::Limit } else { Weight::Fault };
    let member = flows.first().map_or("one link", |flow| flow.member);
    let sentence = format!("This host sends {} by {member} alone: {why}.", plural(flows.len(), "flow"));
    let finding = Finding::new("hash", weight, Side::Host, sentence);
    match top {
        Some((top, share)) => finding.by(format!("{} sent {} of the bytes", top.name, percent(share))),
        None => finding,
    }
}

/// The first policy that spreads these flows, of those that tell more apart.
fn better(than: HashPolicy, flows: &[Placed<'_>], links: usize) -> Option<HashPolicy> {
    let candidates = [HashPolicy::Layer34, HashPolicy::Layer23];
    candidates.into_iter().find(|policy| *policy != than && distinct(&places(*policy, flows, links)) > 1)
}

pub(super) fn change(bundle: &Bundle, policy: HashPolicy) -> Change {
    let (name, device) = (policy.name(), bundle.device.as_deref().unwrap_or(&bundle.name));
    let commands = match bundle.kind {
        Kind::Nicteam => vec![format!("nicteam team set {} xmit_hash_policy={name}", bundle.name)],
        Kind::Kernel => vec![format!("ip link set {device} type bond xmit_hash_policy {name}")],
        Kind::Teamd => vec!["\"tx_hash\": [\"l3\", \"l4\"]    (runner section of teamd's configuration)".to_owned()],
        Kind::OpenVSwitch => vec![format!("ovs-vsctl set port {} bond_mode=balance-tcp", bundle.name)],
    };
    Change::here(format!("choose by {name}"), commands)
}
