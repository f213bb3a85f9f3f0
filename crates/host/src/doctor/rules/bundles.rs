//! Bundles themselves: without a process, without a monitor, without a partner, half way up or down.

use nicteam_formats::quoted;

use super::super::facts::{Bundle, HostFacts, Owner};
use super::super::finding::{Finding, Weight};
use super::super::rule::{Rule, finding};

pub(super) struct Bundles;

const NAME: &str = "bundles";

impl Rule for Bundles {
    fn look(&self, facts: &HostFacts) -> Vec<Finding> {
        facts.bundles.iter().flat_map(of_bundle).chain(facts.half_way.iter().map(|team| half_way(team))).collect()
    }
}

fn half_way(team: &str) -> Finding {
    let text = "`nicteam up` or `down` did not come to its end, or somebody removed its device: what stood on its members is not where it was";
    let cure = format!("nicteam down {team}    # restores it; `nicteam up` goes on");
    finding(NAME, team, Weight::Disappoints, text.to_owned(), cure)
}

fn of_bundle(bundle: &Bundle) -> Vec<Finding> {
    let name = bundle.name.as_str();
    let found = |text: String, cure: String| finding(NAME, name, Weight::Disappoints, text, cure);
    let mut findings = Vec::new();
    if bundle.owner == Owner::TeamAlone {
        let text =
            "no process that can be asked runs it: nobody notices a cable that is pulled, and nobody answers LACP";
        findings.push(found(
            text.to_owned(),
            format!("nicteam team restart {name}    # or, of a service: systemctl start nicteam@{name}"),
        ));
        return findings;
    }
    findings.extend(bundle.problems.iter().map(|(text, hint)| found(text.clone(), hint.clone())));
    if bundle.members.is_empty() && bundle.owner == Owner::Kernel {
        findings.push(found("it has no member".to_owned(), String::new()));
    }
    let is_zero = |option: &str| bundle.option(option).is_some_and(|value| value == "0");
    if bundle.owner == Owner::Kernel && is_zero("miimon") && is_zero("arp_interval") {
        let text =
            "it monitors nothing (`miimon=0`, `arp_interval=0`): a dead link goes on taking its share of the frames";
        findings.push(found(text.to_owned(), format!("ip link set {} type bond miimon 100", quoted(name))));
    }
    let no_partner = bundle.option("ad_partner_mac").is_some_and(|mac| mac == "00:00:00:00:00:00");
    if bundle.owner == Owner::Kernel && no_partner && bundle.members.len() > 1 {
        let text = "nobody answers its LACP: it uses one of its members, however many there are";
        let cure = "make the switch's ports a group with LACP (`channel-group N mode active`)";
        findings.push(found(text.to_owned(), cure.to_owned()));
    }
    findings
}
