//! The other end chooses the link by addresses alone, so that all that comes to this host comes by one.

use std::collections::BTreeMap;

use nicteam_bundles::traffic::FlowKey;
use nicteam_options::HashPolicy;
use nicteam_statistics::{all_by_chance, odds};
use nicteam_wire::Mac;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::predicted;
use crate::units::{percent, plural, rate};
use crate::view::{Direction, Placed, View, grouped, is_constant, members};

pub(super) struct FarHash;

/// From this share on, the received traffic is as good as all on one link.
const AS_GOOD_AS_ALL: f64 = 0.8;
/// Fewer flows say nothing.
const LEAST_FLOWS: usize = 4;
/// Fewer packets say nothing, where only they are counted.
const LEAST_PACKETS: u64 = 200;

/// What the other end tells apart.
enum Key {
    Macs,
    Addresses,
    Unknown,
}

impl Rule for FarHash {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let links = view.active().len();
        if links < 2 || !view.receives_by_all() || view.is_idle(Direction::In) {
            return Vec::new();
        }
        let flows = view.flows(Direction::In);
        let found =
            if view.facts.headers.is_some() { by_headers(view, &flows, links) } else { by_counters(view, links) };
        found.into_iter().collect()
    }
}

fn by_headers(view: &View<'_>, flows: &[Placed<'_>], links: usize) -> Option<Finding> {
    if flows.len() < LEAST_FLOWS {
        return None;
    }
    let by_mac: BTreeMap<Option<Mac>, Vec<&Placed<'_>>> = grouped(flows, |flow| flow.mac);
    let by_ip = grouped(flows, |flow| (flow.key.local.ip(), flow.key.remote.ip()));
    let (key, groups) = match () {
        () if is_constant(&by_mac) && by_ip.len() > by_mac.len() => (Key::Macs, by_mac.len()),
        () if is_constant(&by_mac) => (Key::Addresses, by_mac.len()),
        () if is_constant(&by_ip) => (Key::Addresses, by_ip.len()),
        () => return None,
    };
    // The first flow of each group may be anywhere.
    let chance = all_by_chance(links, flows.len() - groups);
    let sure = Sure::by_chance(chance)?;
    let (top, share) = view.top(Direction::In)?;
    if share < AS_GOOD_AS_ALL {
        return None;
    }
    let used = members(flows);
    let mut evidence = vec![format!(
        "{} of {} {}, and {} carried {} of what was received",
        plural(flows.len(), "flow"),
        plural(groups, if matches!(key, Key::Macs) { "MAC address" } else { "pair of addresses" }),
        if used.len() == 1 { "came by one link" } else { "came by one link each" },
        top.name,
        percent(share),
    )];
    evidence.push(format!("a hash that tells ports apart does that by chance in {}", odds(chance)));
    evidence.extend(sent(view));
    Some(finding(view, flows, &key, sure, evidence))
}

/// What this host does with the same flows.
fn sent(view: &View<'_>) -> Option<String> {
    let flows = view.flows(Direction::Out);
    let used = members(&flows).len();
    (used > 1).then(|| format!("this host sends {} by {used} links", plural(flows.len(), "flow")))
}

/// Where headers may not be read: the counters, and the connections that there are.
fn by_counters(view: &View<'_>, links: usize) -> Option<Finding> {
    let keys: Vec<FlowKey> = view.busy_connections().map(|of| of.key).collect();
    let packets = view.packets_of_all(Direction::In);
    let (top, share) = view.top(Direction::In)?;
    let of_packets = view.packets(&top.name, Direction::In) as f64 / packets.max(1) as f64;
    if keys.len() < LEAST_FLOWS || packets < LEAST_PACKETS || of_packets < 0.97 {
        return None;
    }
    let chance = all_by_chance(links, keys.len() - 1);
    Sure::by_chance(chance)?;
    let evidence = vec![
        format!("{} received {} of the packets and {} of the bytes", top.name, percent(of_packets), percent(share)),
        format!("{} were busy; a hash that tells ports apart does that in {}", plural(keys.len(), "TCP connection"), odds(chance)),
        "which flow came by which link was not seen (CAP_NET_RAW): one connection that outweighs all others looks alike".to_owned(),
    ];
    Some(finding(view, &[], &Key::Unknown, Sure::Likely, evidence))
}

fn finding(view: &View<'_>, flows: &[Placed<'_>], key: &Key, sure: Sure, evidence: Vec<String>) -> Finding {
    let links = view.active();
    let is_direct = view.is_direct(flows) && !flows.is_empty();
    let who = if is_direct { "The host at the other end" } else { "The switch" };
    let by = match key {
        Key::Macs => "MAC addresses alone",
        Key::Addresses | Key::Unknown => "addresses (MAC, or MAC and IP), not by ports",
    };
    let top = view.top(Direction::In);
    let by_one = top
        .map_or_else(String::new, |(top, _)| format!(", and nearly all that this host receives comes by {}", top.name));
    let is_limit = top.is_some_and(|(top, _)| view.is_full(top, Direction::In));
    let weight = if is_limit { Weight::Limit } else { Weight::Fault };
    let sentence = format!("{who} chooses the link by {by}{by_one}.");
    let mut finding = Finding::new("hash", weight, Side::Switch, sentence);
    finding.evidence = evidence;
    finding.sure = sure;
    if view.bundle().lacp.is_none() && view.traits.is_some_and(|of| of.needs_group) {
        finding.evidence.push(
            "without LACP another cause looks alike: the switch's ports are in no group, and it learned this host's address at one"
                .to_owned(),
        );
        finding.sure = finding.sure.max(Sure::Likely);
    }
    let place = if is_direct { Place::OtherHost } else { Place::Switch };
    let text = match is_direct {
        true => "let its bond hash ports: xmit_hash_policy layer3+4".to_owned(),
        false => "let the switch hash IP addresses and ports".to_owned(),
    };
    let hash = (!is_direct).then(|| HashPolicy::Layer34.name().to_owned());
    finding.changes.push(Change { hash, ..Change::at(place, text) });
    let received = view.total_bps(Direction::In);
    let speed: f64 = links.iter().filter_map(|of| of.speed_mbps).map(|mbps| f64::from(mbps) * 1e6).sum();
    let by_ports = (!flows.is_empty()).then(|| predicted::gain(view, Direction::In, HashPolicy::SrcDstPort, flows));
    finding.gain = by_ports.flatten().or_else(|| {
        Some(match flows.len() {
            0 => format!("up to {} instead of one link's", rate(speed)),
            count => format!(
                "{} would use {} links (in all but {}): up to {} where {} comes now",
                plural(count, "flow"),
                links.len(),
                odds(all_by_chance(links.len(), count - 1)),
                rate(speed),
                rate(received)
            ),
        })
    });
    finding
}
