//! Offloads: work that a device could do, and frames that it joins where nobody wants them joined.

use nicteam_team::mode::Sends;

use super::super::facts::{Device, HostFacts};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct Offloads;

const NAME: &str = "offloads";

/// A feature by the kernel's name, what `ethtool -K` calls it, and what is lost without it.
const WANTED: [(&str, &str, &str); 4] = [
    ("rx-gro", "gro", "received frames go up the stack one by one: at 10 Gbit/s and more a processor is full of them"),
    ("tx-tcp-segmentation", "tso", "the processor cuts what it sends into frames"),
    ("tx-generic-segmentation", "gso", "every frame that is sent takes the whole way through the stack"),
    ("tx-scatter-gather", "sg", "what is sent is copied, and nothing is sent as a GSO frame"),
];
/// From this speed on it matters, Mbit/s.
const FAST_MBPS: u32 = 2_500;

impl Rule for Offloads {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        facts.devices.iter().flat_map(|device| of_device(facts, device)).collect()
    }
}

fn of_device(facts: &HostFacts, device: &Device) -> Vec<Finding> {
    let name = device.link.name.as_str();
    let bundle = facts.bundle_of(device);
    let in_turn = bundle
        .and_then(|bundle| bundle.traits())
        .is_some_and(|(traits, _)| matches!(traits.sends, Sends::InTurn | Sends::Striped));
    let is_fast = device.speed_mbps.is_some_and(|speed| speed >= FAST_MBPS);
    let weight = if bundle.is_some() && is_fast { Weight::Disappoints } else { Weight::Note };
    let mut findings = Vec::new();
    for (feature, word, loss) in WANTED {
        // Between devices without hardware frames go as they were joined.
        if word == "gro" && !device.link.kind.is_empty() {
            continue;
        }
        let Some(state) = device.features.get(feature).filter(|state| !state.on) else { continue };
        if state.can_change {
            findings.push(finding(
                NAME,
                name,
                weight,
                format!("{word} is off: {loss}"),
                format!("ethtool -K {name} {word} on"),
            ));
        } else if is_fast {
            let text = format!("{word} is off, and the driver does not have it: {loss}");
            findings.push(finding(NAME, name, Weight::Note, text, String::new()));
        }
    }
    let lro = device.features.get("rx-lro").is_some_and(|state| state.on);
    let forwards = facts.sysctl("ipv4/ip_forward") == Some("1") || bundle.is_some_and(|bundle| bundle.is_bridged);
    if lro && forwards {
        let text = "lro is on, and this host forwards: the device joins frames that are not for it, and they cannot be sent on".to_owned();
        findings.push(finding(NAME, name, Weight::Disappoints, text, format!("ethtool -K {name} lro off gro on")));
    } else if lro && in_turn {
        let text = "lro is on: the device joins frames before the team has them in order".to_owned();
        findings.push(finding(NAME, name, Weight::Note, text, format!("ethtool -K {name} lro off gro on")));
    }
    findings
}
