//! Another host that has an address of this one.

use nicteam_bundles::traffic::Claim;

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::view::View;

pub(super) struct DuplicateAddress;

impl Rule for DuplicateAddress {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let claims = view.facts.headers.into_iter().flat_map(|headers| &headers.claims);
        claims.filter(|claim| view.facts.addresses.contains(&claim.address)).map(find).collect()
    }
}

fn find(claim: &Claim) -> Finding {
    let Claim { address, mac, by_arp, member } = claim;
    let sentence = format!(
        "Another host has the address {address}, too: {mac}. Neighbours send frames for this host to the one of both that \
         answers them first."
    );
    let (evidence, sure) = match by_arp {
        true => (format!("{mac} said by ARP that it has {address}; {member} received that"), Sure::Certain),
        false => (format!("{mac} sends packets from {address}; {member} received one"), Sure::Likely),
    };
    let text = format!("find {mac} (at the switch: its table of MAC addresses) and give it another address");
    let finding = Finding::new("duplicate-address", Weight::Fault, Side::OtherHost, sentence);
    Finding { sure, ..finding.by(evidence).change(Change::at(Place::OtherHost, text)) }
}
