//! Managers of the network that have a device beside us.

use super::super::facts::{HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::Rule;
use crate::managers::Severity;

pub(super) struct Managers;

const NAME: &str = "managers";

impl Rule for Managers {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        let mut findings = Vec::new();
        for device in &facts.devices {
            let bundle = facts.bundle_of(device);
            let is_ours = bundle.is_some_and(|bundle| bundle.owner != Owner::Kernel);
            // The manager of a kernel's bond is to have the members of that bond.
            if bundle.is_some() && !is_ours {
                continue;
            }
            for claim in &device.claims {
                let (weight, text) = match (is_ours, claim.severity) {
                    (true, Severity::Refuse) => {
                        (Weight::Disappoints, format!("{} has it, too: {}", claim.manager, claim.why))
                    }
                    (true, Severity::Warn) => {
                        (Weight::Note, format!("{} may have it, too: {}", claim.manager, claim.why))
                    }
                    (false, _) => (
                        Weight::Note,
                        format!(
                            "{} has it; before it becomes a member of a team that has to end: {}",
                            claim.manager, claim.why
                        ),
                    ),
                };
                let (about, cure) = (device.link.name.clone(), claim.cure.clone());
                findings.push(Finding { rule: NAME, about, text, cure, place: claim.place.clone(), weight });
            }
        }
        findings
    }
}
