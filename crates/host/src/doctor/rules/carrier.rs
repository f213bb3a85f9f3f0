//! Members that cannot carry anything, or one way at a time.

use nicteam_formats::quoted;

use super::super::facts::{HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding, members};

pub(super) struct Carrier;

const NAME: &str = "carrier";

impl Rule for Carrier {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        // A team of ours says that itself.
        let others = members(facts).filter(|(_, bundle)| bundle.owner != Owner::Team);
        let of_member = others.filter_map(|(device, bundle)| {
            let (name, team) = (&device.link.name, &bundle.name);
            let (text, cure) = match (device.link.up, device.link.carrier) {
                (false, _) => (
                    format!("it is a member of {team} and set down: the team does without it"),
                    format!("ip link set {} up", quoted(name)),
                ),
                (true, false) => (
                    format!("it is a member of {team} and has no carrier: the team does without it"),
                    "look at the cable, the transceiver, and whether the switch's port is shut down".to_owned(),
                ),
                (true, true) => return None,
            };
            Some(finding(NAME, name, Weight::Disappoints, text, cure))
        });
        of_member.collect()
    }
}
