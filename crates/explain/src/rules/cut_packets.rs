//! A path that does not pass packets of the MTU.

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::view::View;

pub(super) struct CutPackets;

impl Rule for CutPackets {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        asked(view).into_iter().chain(reported(view)).chain(stuck(view)).collect()
    }
}

/// The path that was asked for.
fn asked(view: &View<'_>) -> Option<Finding> {
    let path = view.facts.path.filter(|path| !path.is_good)?;
    let sentence = format!("The path to {} does not pass what it is to pass.", path.to);
    let mut finding = Finding::new("mtu", Weight::Fault, Side::Switch, sentence);
    finding.evidence.clone_from(&path.findings);
    finding.changes = path.cures.iter().map(|cure| Change::at(Place::Switch, cure.clone())).collect();
    Some(finding)
}

/// Routers say so: the host has learned it, and sends smaller packets.
fn reported(view: &View<'_>) -> Option<Finding> {
    let (to, mtu) = view.facts.headers?.too_large.iter().next()?;
    let sentence = format!(
        "A router on the path to {to} passes packets of {mtu} bytes at most. TCP sends such ones from then on."
    );
    let finding = Finding::new("mtu", Weight::Notice, Side::Switch, sentence);
    Some(finding.by("it reported that a packet was too large (ICMP: fragmentation needed)".to_owned()))
}

/// Connections that send full segments again and again, and nothing arrives.
fn stuck(view: &View<'_>) -> Option<Finding> {
    let mtu = view.bundle().mtu?;
    // An Ethernet header is not counted, and TCP's options are up to 40 bytes.
    let sends_full = |mss: u32| mss + 100 >= mtu;
    let stuck: Vec<_> = view
        .facts
        .connections
        .iter()
        .filter(|of| view.facts.addresses.contains(&of.key.local.ip()))
        .filter(|of| of.retransmits >= 2 && of.sent_bytes == 0 && sends_full(of.mss) && of.received_bytes < 1000)
        .collect();
    let first = stuck.first()?;
    let sentence = format!(
        "Full segments to {} are not acknowledged, and are sent again: packets of {} bytes may not pass the path.",
        first.key.remote, first.path_mtu
    );
    let evidence = format!("{} segments were sent again, none was acknowledged", first.retransmits);
    let to = first.key.remote.ip();
    let change = Change::here("find out which packets pass", vec![format!("nicteam doctor path {to}")]);
    let finding = Finding::new("mtu", Weight::Fault, Side::Switch, sentence).by(evidence).change(change);
    Some(Finding { sure: Sure::Possible, ..finding })
}
