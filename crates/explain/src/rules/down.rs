//! Members without a link.

use nicteam_bundles::Member;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Weight};
use crate::view::View;

pub(super) struct Down;

impl Rule for Down {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        view.bundle().members.iter().filter_map(|member| find(view, member)).collect()
    }
}

fn find(view: &View<'_>, member: &Member) -> Option<Finding> {
    let name = &member.name;
    let fault = |side, sentence: String| Finding::new("down", Weight::Fault, side, sentence).of(name);
    // A device of another network namespace says nothing.
    member.index?;
    if !member.admin_up {
        let change = Change::here(format!("set {name} up"), vec![format!("ip link set {name} up")]);
        return Some(fault(Side::Host, format!("Member {name} is set down, so nothing passes by it.")).change(change));
    }
    if !member.carrier {
        let change = Change::at(Place::Link, "look at the cable, the transceiver and the port at the other end");
        let sentence = format!("Member {name} has no carrier, so nothing passes by it.");
        return Some(fault(Side::Link, sentence).by("the driver says so".to_owned()).change(change));
    }
    // LACP has rules of its own.
    if member.up || member.lacp.is_some() {
        return None;
    }
    let sentence = format!("Member {name} has carrier, and {} does not use it.", view.bundle().kind.title());
    let evidence = "a monitor of links (ARP, or a delay after the carrier came) says that its path does not work";
    let change = Change::at(Place::Link, "look at the path behind it: what the monitor asks for does not answer");
    Some(fault(Side::Link, sentence).by(evidence.to_owned()).change(change))
}
