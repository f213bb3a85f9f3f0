//! Speed and duplex that were not agreed.

use super::super::facts::{Device, HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct Negotiation;

const NAME: &str = "negotiation";

impl Rule for Negotiation {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        facts.devices.iter().flat_map(|device| of_device(facts, device)).collect()
    }
}

fn of_device(facts: &HostFacts, device: &Device) -> Vec<Finding> {
    let name = device.link.name.as_str();
    let bundle = facts.bundle_of(device);
    let is_member = bundle.is_some();
    // A team of ours says that of its members itself.
    let is_said = bundle.is_some_and(|bundle| bundle.owner == Owner::Team);
    let weight = if is_member { Weight::Disappoints } else { Weight::Note };
    let mut findings = Vec::new();
    if device.link.carrier && device.full_duplex == Some(false) && !is_said {
        let group = if is_member { ", and 802.3ad takes no such port into a group" } else { "" };
        let text = format!("half duplex: it sends or receives, and collides under load{group}");
        let cure = format!(
            "ethtool -s {name} autoneg on    # at the switch's port, too: one end that is fixed makes the other half duplex"
        );
        findings.push(finding(NAME, name, Weight::Disappoints, text, cure));
    }
    // From 1000BASE-T on the standard demands it; optics and direct cables of 10 Gbit/s and more do without.
    let is_copper_speed = device.speed_mbps.is_some_and(|speed| speed <= 1000);
    if device.link.carrier && device.negotiates == Some(false) && is_copper_speed {
        let speed = device.speed_mbps.unwrap_or_default();
        let text = format!(
            "speed and duplex are fixed ({speed} Mbit/s): a switch's port that negotiates then takes half duplex at 10 and 100 Mbit/s, and may have no link at 1000"
        );
        findings.push(finding(NAME, name, weight, text, format!("ethtool -s {name} autoneg on")));
    }
    findings
}
