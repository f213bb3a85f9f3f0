//! Whether the switch treats the members as one group, beside what the mode needs.

use std::time::Duration;

use nicteam_team::mode::Traits;
use nicteam_wire::{LldpAggregation, Mac};

use super::super::facts::{Bundle, Device, HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding, list};

pub(super) struct SwitchGroup;

const NAME: &str = "switch-group";
/// A partner at the slow rate is heard in this time (IEEE 802.1AX, Slow_Periodic_Time), and a little.
const SLOW_PERIOD: Duration = Duration::from_secs(31);

impl Rule for SwitchGroup {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let mut findings: Vec<Finding> = facts.bundles.iter().flat_map(|bundle| of_bundle(facts, bundle)).collect();
        findings.extend(facts.devices.iter().filter(|device| facts.bundle_of(device).is_none()).filter_map(alone));
        findings
    }
}

/// A device that is in no bundle, at a port that is in a group.
fn alone(device: &Device) -> Option<Finding> {
    let lldp = device.heard.lldp.as_ref();
    let is_grouped = lldp.and_then(|lldp| lldp.aggregation).is_some_and(|of| of.aggregated);
    let what = match (is_grouped, &device.heard.lacp) {
        (true, _) => "is in an aggregation",
        (false, Some(_)) => "speaks LACP",
        (false, None) => return None,
    };
    let text = format!(
        "the switch's port {}{what}, and nothing here answers: it may hold the port back, or send frames for this host by another",
        port(device)
    );
    let cure = "bundle the devices in mode 802.3ad, or take the port out of the switch's group".to_owned();
    Some(finding(NAME, &device.link.name, Weight::Note, text, cure))
}

fn of_bundle(facts: &HostFacts, bundle: &Bundle) -> Vec<Finding> {
    let Some((traits, config)) = bundle.traits() else { return Vec::new() };
    let members: Vec<&Device> = facts.members(bundle).collect();
    let mut findings = Vec::new();
    if traits.aggregates(&config) {
        findings.extend(silent(facts, bundle, &members));
        findings.extend(systems(bundle, &members));
    } else {
        findings.extend(members.iter().filter_map(|device| unanswered(bundle, device)));
    }
    findings.extend(members.iter().filter_map(|device| group(traits, traits.needs_group(&config), device)));
    findings
}

/// A switch that does not speak LACP though the mode does.
fn silent(facts: &HostFacts, bundle: &Bundle, members: &[&Device]) -> Option<Finding> {
    let silent = members.iter().filter(|device| device.link.carrier && device.heard.lacp.is_none());
    let silent: Vec<&str> = silent.map(|device| device.link.name.as_str()).collect();
    // Our own teams say why a port does not aggregate.
    if facts.listened < SLOW_PERIOD || silent.is_empty() || bundle.owner == Owner::Team {
        return None;
    }
    let text = format!(
        "in {} s no LACPDU came by {}: without a partner the links are not one",
        facts.listened.as_secs(),
        list(&silent)
    );
    let cure = "make the switch's ports a group with LACP (`channel-group N mode active`)".to_owned();
    Some(finding(NAME, &bundle.name, Weight::Disappoints, text, cure))
}

/// Members at different systems.
fn systems(bundle: &Bundle, members: &[&Device]) -> Option<Finding> {
    let heard = members.iter().filter_map(|device| Some((device.link.name.as_str(), device.heard.lacp?.actor)));
    let heard: Vec<(&str, (Mac, u16))> = heard.map(|(name, actor)| (name, (actor.system, actor.key))).collect();
    let (_, first) = heard.first()?;
    let others: Vec<&str> = heard.iter().filter(|(_, of)| of != first).map(|(name, _)| *name).collect();
    if others.is_empty() {
        return None;
    }
    let told: Vec<String> = heard.iter().map(|(name, (system, key))| format!("{name} {system} key {key}")).collect();
    let text =
        format!("its members are at different groups of the switch ({}): one of them carries all", told.join(", "));
    let cure = "put the ports into one group of one switch, or let both switches speak as one (MLAG, vPC, stacking)"
        .to_owned();
    Some(finding(NAME, &bundle.name, Weight::Disappoints, text, cure))
}

/// A port that speaks LACP to a mode that does not.
fn unanswered(bundle: &Bundle, device: &Device) -> Option<Finding> {
    device.heard.lacp?;
    let text = format!(
        "the switch's port {}speaks LACP, and mode {} of {} does not answer: it may hold the port back",
        port(device),
        bundle.mode,
        bundle.name
    );
    let cure = "mode 802.3ad here, or a group without LACP at the switch (`channel-group N mode on`), or none, as the mode needs".to_owned();
    Some(finding(NAME, &device.link.name, Weight::Disappoints, text, cure))
}

/// What LLDP says of the group, beside what the mode needs.
fn group(traits: &Traits, needs_group: bool, device: &Device) -> Option<Finding> {
    let lldp = device.heard.lldp.as_ref()?;
    let LldpAggregation { aggregated, port: number, .. } = lldp.aggregation?;
    let (text, cure) = match (needs_group, aggregated) {
        (true, false) => (
            format!(
                "the switch's port {}is in no aggregation, and mode {} needs one: the switch sees one address at several ports and sends by the last",
                port(device),
                traits.name
            ),
            "make the switch's ports a group; or a mode that needs none: balance-alb, stripe, active-backup".to_owned(),
        ),
        (false, true) => (
            format!(
                "the switch's port {}is in an aggregation (number {number}), and mode {} needs none: frames for one member come by another",
                port(device),
                traits.name
            ),
            "take the ports out of the switch's group, or use mode 802.3ad".to_owned(),
        ),
        _ => return None,
    };
    Some(finding(NAME, &device.link.name, Weight::Disappoints, text, cure))
}

/// `Gi0/7 of sw1 `, or nothing where LLDP tells nothing.
fn port(device: &Device) -> String {
    device.heard.lldp.as_ref().map_or_else(String::new, |lldp| {
        format!("{} of {} ", lldp.port, lldp.system_name.as_ref().unwrap_or(&lldp.chassis))
    })
}
