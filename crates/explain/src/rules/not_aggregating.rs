//! Members that LACP leaves out while others aggregate.

use nicteam_bundles::{Bundle, Lacp, Member, Port, state};

use super::Rule;
use crate::finding::{Change, Finding, Place, Side, Sure, Weight};
use crate::units::list;
use crate::view::{Direction, View};

pub(super) struct NotAggregating;

impl Rule for NotAggregating {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let bundle = view.bundle();
        let Some(lacp) = bundle.lacp.as_ref().filter(|lacp| lacp.negotiated != Some(false)) else { return Vec::new() };
        let is_left_out = |member: &&Member| member.carrier && member.lacp.as_ref().is_some_and(|port| !port.attached);
        let left_out = bundle.members.iter().filter(is_left_out);
        left_out.filter_map(|member| Some(find(view, lacp, member, member.lacp.as_ref()?))).collect()
    }
}

fn find(view: &View<'_>, lacp: &Lacp, member: &Member, port: &Port) -> Finding {
    let (why, evidence, change) = reason(view.bundle(), lacp, member, port);
    let others = view.active();
    let is_limit = !others.is_empty()
        && [Direction::In, Direction::Out].iter().any(|way| others.iter().all(|of| view.is_full(of, *way)));
    let weight = if is_limit { Weight::Limit } else { Weight::Fault };
    let names: Vec<&str> = others.iter().map(|of| of.name.as_str()).collect();
    let carried = match names.as_slice() {
        [] => "nothing is carried".to_owned(),
        [one] => format!("{one} carries everything"),
        names => format!("{} carry everything", list(names)),
    };
    let name = &member.name;
    let sentence = format!("Member {name} does not aggregate: {why}. So {carried}.");
    let mut finding = Finding::new("not-aggregating", weight, Side::Switch, sentence).of(name).change(change);
    finding.evidence = evidence;
    if port.partner.is_none() {
        finding.sure = Sure::Likely;
    }
    finding.gain = Some(format!("{} links instead of {}", others.len() + 1, others.len()));
    finding
}

/// Why, by what that is known, and what to do.
fn reason(bundle: &Bundle, lacp: &Lacp, member: &Member, port: &Port) -> (String, Vec<String>, Change) {
    let name = &member.name;
    let into = format!("put the port that {name} leads to into the group of the others, with LACP");
    let said = port.why_not.as_ref().map(|why| format!("{} says: {}", bundle.kind.title(), why.text));
    let mut evidence: Vec<String> = said.into_iter().collect();
    let (why, change) = match &port.partner {
        None => ("it is in another aggregator than the others".to_owned(), Change::at(Place::Switch, into)),
        Some(partner) if partner.is_unknown() || partner.has(state::DEFAULTED) => {
            evidence.push(format!("no LACPDU came by {name}, or none any more"));
            ("the port at its other end does not speak LACP".to_owned(), Change::at(Place::Switch, into))
        }
        Some(partner) if lacp.partner.as_ref().is_some_and(|of| *of != partner.system) => {
            let others = lacp.partner.as_deref().unwrap_or_default();
            evidence.push(format!("by LACP its partner is {}, and {others} is the others'", partner.system));
            let text = format!("connect {name} to the switch of the others, or make both switches one system (MLAG)");
            ("it leads to another system than the others".to_owned(), Change::at(Place::Link, text))
        }
        Some(partner) if !partner.has(state::AGGREGATION) => {
            evidence.push("its partner says that it does not aggregate (an individual link)".to_owned());
            ("the other end lets it be an individual link".to_owned(), Change::at(Place::Switch, into))
        }
        Some(partner) if lacp.partner_key.is_some_and(|key| key != partner.key) => {
            let key = lacp.partner_key.unwrap_or_default();
            evidence.push(format!("its partner's key is {}, and {key} is the others'", partner.key));
            let why = "the other end has its port in another group, or at another speed, than the others";
            (why.to_owned(), Change::at(Place::Switch, into))
        }
        Some(_) if differs(lacp, port) => {
            evidence.push("its key at this end differs from the others': speed or duplex differ".to_owned());
            let text = format!("give {name} the speed and the duplex of the others");
            ("its speed or duplex differs from the others'".to_owned(), Change::at(Place::Link, text))
        }
        Some(partner) => {
            if !partner.has(state::SYNCHRONIZATION) {
                evidence.push("its partner is not in synchronization".to_owned());
            }
            let text = format!("look at the switch why it does not take {name} into the group");
            ("the other end does not take it into the group".to_owned(), Change::at(Place::Switch, text))
        }
    };
    (why, evidence, change)
}

fn differs(lacp: &Lacp, port: &Port) -> bool {
    let own = port.actor.as_ref().map(|actor| actor.key);
    lacp.actor_key.is_some_and(|key| own.is_some_and(|own| own != key))
}
