//! Members that lose frames, or their link.

use nicteam_bundles::traffic::FlowKey;
use nicteam_bundles::{Counters, Member};

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::units::percent;
use crate::view::{Direction, View};

pub(super) struct Lossy;

/// Fewer damaged frames may be chance.
const LEAST_ERRORS: u64 = 3;
/// Fewer dropped frames, and a smaller share of all, are no loss worth a word.
const LEAST_DROPS: u64 = 10;
const SHARE: f64 = 0.001;
/// The same of received ones: the kernel counts frames of protocols that nobody listens to among them.
const LEAST_RX_DROPS: u64 = 100;
const RX_SHARE: f64 = 0.01;
/// The share of segments that a lossy link has sent again, and how much more than the others.
const RESENT: f64 = 0.005;
const TIMES_THE_OTHERS: f64 = 5.0;
const LEAST_RESENT: u64 = 10;

impl Rule for Lossy {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let members = || view.bundle().members.iter();
        let counted = members().flat_map(|member| counted(view, member));
        let failed = members().filter_map(|member| failed(view, member));
        let found: Vec<Finding> = counted.chain(failed).collect();
        let has_one = |name: &str| found.iter().any(|of| of.member.as_deref() == Some(name));
        let resent = resent(view).filter(|of| of.member.as_ref().is_some_and(|name| !has_one(name)));
        found.iter().cloned().chain(resent).collect()
    }
}

/// What the device counts.
fn counted(view: &View<'_>, member: &Member) -> Vec<Finding> {
    let counted: Counters = view.facts.rates.of(&member.name).counted;
    let name = &member.name;
    let share = |lost: u64, passed: u64| lost as f64 / lost.saturating_add(passed).max(1) as f64;
    let mut findings = Vec::new();
    let damaged = counted.rx_errors.max(counted.rx_missed);
    let ways = [
        ("received damaged frames by", damaged, counted.rx_packets, LEAST_ERRORS, 0.0),
        ("dropped received frames of", counted.rx_drops, counted.rx_packets, LEAST_RX_DROPS, RX_SHARE),
        ("could not send frames by", counted.tx_errors, counted.tx_packets, LEAST_ERRORS, 0.0),
        ("dropped frames that were to be sent by", counted.tx_drops, counted.tx_packets, LEAST_DROPS, SHARE),
    ];
    for (what, lost, passed, least, least_share) in ways {
        if lost < least || share(lost, passed) < least_share {
            continue;
        }
        // A full queue drops: that is no fault of the link.
        let is_full = view.is_full(member, Direction::Out) && what.contains("to be sent");
        if is_full {
            continue;
        }
        let sentence = format!(
            "This host {what} {name}: {lost} in {:.1} s, {} of them.",
            view.facts.rates.seconds,
            percent(share(lost, passed))
        );
        let (side, place) =
            if what.contains("damaged") { (Side::Link, Place::Link) } else { (Side::Host, Place::Here) };
        let text = match side {
            Side::Link => format!("look at the cable, the transceivers and both ports of {name}"),
            _ => "look at the driver's own counters, its ring and its queues".to_owned(),
        };
        let commands = vec![format!("ethtool -S {name}")];
        let change = Change { commands, ..Change::at(place, text) };
        let mut finding = Finding::new("lossy", Weight::Fault, side, sentence).of(name);
        if what.contains("damaged") && member.full_duplex == Some(true) && member.speed_mbps.is_some_and(|of| of <= 100)
        {
            let text = format!(
                "let both ends of {name} negotiate: a port at half duplex at the other end damages frames, too"
            );
            finding = finding.change(Change::at(Place::Link, text));
        }
        findings.push(finding.by("the device's counters rose by that".to_owned()).change(change));
    }
    findings
}

/// The link went down while it was looked at, or before.
fn failed(view: &View<'_>, member: &Member) -> Option<Finding> {
    let name = &member.name;
    let now = member.link_failures.filter(|count| *count > 0)?;
    let before = view.facts.earlier.and_then(|bundle| bundle.member(name)).and_then(|of| of.link_failures);
    let new = before.map_or(0, |before| now.saturating_sub(before));
    // One that is down has a finding of its own.
    if !member.carrier && new == 0 {
        return None;
    }
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let change = Change::at(Place::Link, format!("look at the cable, the transceivers and both ports of {name}"));
    let (weight, sentence) = match new {
        0 => (Weight::Notice, format!("The link of {name} has failed {} since it joined; it holds now.", times(now))),
        new => (Weight::Fault, format!("The link of {name} failed {} while it was looked at.", times(new))),
    };
    Some(Finding::new("flapping", weight, Side::Link, sentence).of(name).change(change))
}

/// Connections of one member send much more again than those of the others.
fn resent(view: &View<'_>) -> Option<Finding> {
    let flows = view.flows(Direction::Out);
    let member_of = |key: FlowKey| flows.iter().find(|flow| flow.key == key).map(|flow| flow.member);
    // Segments and those sent again, by member.
    let active: Vec<&Member> = view.active();
    let counts: Vec<(&Member, u64, u64)> = active
        .into_iter()
        .map(|member| {
            let own = view.busy_connections().filter(|of| member_of(of.key) == Some(member.name.as_str()));
            let (sent, again) = own.fold((0_u64, 0_u64), |(sent, again), of| {
                (sent.saturating_add(of.segments), again.saturating_add(of.retransmits))
            });
            (member, sent, again)
        })
        .collect();
    let share = |sent: u64, again: u64| again as f64 / sent.max(1) as f64;
    let (member, sent, again) =
        counts.iter().max_by(|one, other| share(one.1, one.2).total_cmp(&share(other.1, other.2)))?;
    let others = counts.iter().filter(|of| of.0.name != member.name);
    let (other_sent, other_again) =
        others.fold((0_u64, 0_u64), |(sent, again), of| (sent.saturating_add(of.1), again.saturating_add(of.2)));
    let is_lossy = share(*sent, *again) >= RESENT
        && *again >= LEAST_RESENT
        && other_sent > 0
        && share(*sent, *again) >= TIMES_THE_OTHERS * share(other_sent, other_again);
    if !is_lossy || view.is_full(member, Direction::Out) {
        return None;
    }
    let name = &member.name;
    let sentence = format!("Frames that this host sends by {name} seem to be lost on the way.");
    let evidence = format!(
        "TCP sent {} of the segments of its connections again, and {} of those by the other members",
        percent(share(*sent, *again)),
        percent(share(other_sent, other_again))
    );
    let text = format!("look at the cable of {name}, and at the counters of the port at its other end");
    let finding = Finding::new("lossy", Weight::Fault, Side::Link, sentence).of(name);
    Some(Finding { sure: Sure::Likely, ..finding.by(evidence).change(Change::at(Place::Link, text)) })
}
