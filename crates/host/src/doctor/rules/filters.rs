//! Filters of other programs that may keep frames from a team.

use nicteam_dataplane::MEMBER_PREF;
use nicteam_formats::quoted;

use super::super::facts::HostFacts;
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding, members};

pub(super) struct Filters;

const NAME: &str = "filters";

impl Rule for Filters {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        // With packet sockets a team receives ahead of all filters.
        let on_bpf = members(facts).filter(|(_, bundle)| bundle.is_on_bpf);
        on_bpf
            .flat_map(|(device, bundle)| {
                let name = device.link.name.as_str();
                let ahead = device.filters.iter().filter(|filter| filter.priority < MEMBER_PREF);
                ahead.map(move |filter| {
                    let text = format!(
                        "a {} filter of another program (pref {}) sees what it receives before {} does: frames that it \
                         ends with `ok` do not reach the team",
                        filter.kind, filter.priority, bundle.name
                    );
                    let cure = format!(
                        "tc filter show dev {} ingress    # `continue` (TC_ACT_UNSPEC) lets the team have them",
                        quoted(name)
                    );
                    finding(NAME, name, Weight::Note, text, cure)
                })
            })
            .collect()
    }
}
