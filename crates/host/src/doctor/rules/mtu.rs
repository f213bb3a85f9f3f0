//! Members, and the switch, that do not take packets as large as the bundle's.

use nicteam_formats::quoted;

use super::super::facts::HostFacts;
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding, members};

pub(super) struct Mtu;

const NAME: &str = "mtu";
/// Ethernet header and check sequence.
const AROUND_UNTAGGED: u32 = 14 + 4;

impl Rule for Mtu {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (device, bundle) in members(facts) {
            let (name, own, all) = (&device.link.name, device.link.mtu, bundle.mtu);
            if own < all {
                let text = format!(
                    "its MTU is {own}, that of {} {all}: larger packets that leave by it are dropped",
                    bundle.name
                );
                let cure = format!(
                    "ip link set {} mtu {own}    # or, if cable and switch take it: ip link set {} mtu {all}",
                    quoted(&bundle.name),
                    quoted(name)
                );
                findings.push(finding(NAME, name, Weight::Disappoints, text, cure));
            }
        }
        for device in &facts.devices {
            let told = device.heard.lldp.as_ref().and_then(|lldp| lldp.max_frame_bytes).map(u32::from);
            // Some say the size of the packet, and 0 stands for nothing.
            let Some(told) = told.filter(|bytes| *bytes >= 1500) else { continue };
            let (name, own) = (&device.link.name, device.link.mtu);
            if told < own + AROUND_UNTAGGED && told != own {
                let text = format!(
                    "its MTU is {own}, and the switch's port takes frames of at most {told} bytes: larger ones are lost without a word"
                );
                let cure = format!(
                    "raise the MTU of the switch's port, or: ip link set {} mtu {}",
                    quoted(name),
                    told.saturating_sub(AROUND_UNTAGGED)
                );
                findings.push(finding(NAME, name, Weight::Disappoints, text, cure));
            }
        }
        findings
    }
}
