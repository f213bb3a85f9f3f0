//! How the ports at the members' other ends differ, as far as LLDP tells.

use super::super::facts::{Bundle, Device, HostFacts};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct SwitchPort;

const NAME: &str = "switch-port";

impl Rule for SwitchPort {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        facts.bundles.iter().flat_map(|bundle| of_bundle(facts, bundle)).collect()
    }
}

fn of_bundle(facts: &HostFacts, bundle: &Bundle) -> Vec<Finding> {
    let members: Vec<&Device> = facts.members(bundle).collect();
    let mut findings = Vec::new();
    if let Some(told) = differ(&members, |device| device.heard.lldp.as_ref()?.port_vlan.map(|vlan| vlan.to_string())) {
        let text = format!(
            "frames without a tag are in different VLANs at the switch ({told}): hosts are reached by one member and not by another"
        );
        let cure = "give the switch's ports the same VLANs (`switchport access vlan`, `switchport trunk native vlan`)";
        findings.push(finding(NAME, &bundle.name, Weight::Disappoints, text, cure.to_owned()));
    }
    let frame = |device: &Device| device.heard.lldp.as_ref()?.max_frame_bytes.map(|bytes| bytes.to_string());
    if let Some(told) = differ(&members, frame) {
        let text = format!(
            "the switch's ports take frames of different sizes ({told}): large packets pass by one member and not by another"
        );
        findings.push(finding(
            NAME,
            &bundle.name,
            Weight::Disappoints,
            text,
            "give the switch's ports the same MTU".to_owned(),
        ));
    }
    let chassis: Vec<&str> =
        members.iter().filter_map(|device| Some(device.heard.lldp.as_ref()?.chassis.as_str())).collect();
    let is_active_backup = bundle.traits().is_some_and(|(traits, _)| !traits.needs_group && traits.has_active);
    if let [first, rest @ ..] = chassis.as_slice()
        && is_active_backup
        && chassis.len() == bundle.members.len()
        && !rest.is_empty()
        && rest.iter().all(|of| of == first)
    {
        let text = "all its members are at one switch: when that one fails, all links do".to_owned();
        let cure = "put a member at another switch; this mode needs nothing of them".to_owned();
        findings.push(finding(NAME, &bundle.name, Weight::Note, text, cure));
    }
    findings
}

/// `eth1 10, eth2 20` where what is known of the members differs.
fn differ(members: &[&Device], of: impl Fn(&Device) -> Option<String>) -> Option<String> {
    let known: Vec<(&str, String)> =
        members.iter().filter_map(|device| Some((device.link.name.as_str(), of(device)?))).collect();
    let (_, first) = known.first()?;
    let differs = known.iter().any(|(_, value)| value != first);
    differs.then(|| known.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", "))
}
