//! Places and queues for received frames.

use super::super::facts::{Device, HostFacts};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct Queues;

const NAME: &str = "queues";
/// From this speed on one processor does not suffice, Mbit/s.
const FAST_MBPS: u32 = 10_000;

impl Rule for Queues {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        // A veth end has neither ring nor interrupts.
        let hardware = facts.devices.iter().filter(|device| device.link.kind.is_empty());
        hardware.flat_map(|device| of_device(facts, device)).collect()
    }
}

fn of_device(facts: &HostFacts, device: &Device) -> Vec<Finding> {
    let name = device.link.name.as_str();
    let mut findings = Vec::new();
    if device.rx_missed > 0 {
        let cure = match device.rx_ring {
            Some(ring) if ring.is < ring.most => format!("ethtool -G {name} rx {}    # now {}", ring.most, ring.is),
            _ => "more processors for its interrupts, or less to do for them".to_owned(),
        };
        let text = format!(
            "{} received frames found no place in its queue since it is there: TCP takes them for congestion",
            device.rx_missed
        );
        findings.push(finding(NAME, name, Weight::Disappoints, text, cure));
    }
    if let Some(queues) = device.rx_queues
        && device.speed_mbps.is_some_and(|speed| speed >= FAST_MBPS)
    {
        let useful = u32::try_from(facts.kernel.processors).unwrap_or(u32::MAX).min(queues.most);
        if queues.is == 1 && useful > 1 {
            let text =
                format!("all it receives goes through one queue, so one of {} processors", facts.kernel.processors);
            findings.push(finding(NAME, name, Weight::Note, text, format!("ethtool -L {name} combined {useful}")));
        }
    }
    findings
}
