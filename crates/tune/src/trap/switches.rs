//! More than one switch on the way.

use std::collections::BTreeSet;

use nicteam_experiment::limit;

use super::kind::Trap;
use crate::finding::{Cure, Finding};
use crate::seen::Seen;

/// More than one switch on the way.
#[derive(Debug)]
pub(super) struct Switches;

impl Trap for Switches {
    fn name(&self) -> &'static str {
        "switches"
    }

    fn title(&self) -> &'static str {
        "Switches on the way"
    }

    fn looked(&self, seen: &Seen<'_>) -> String {
        let on_the_way = on_the_way(seen);
        let names: Vec<&str> = on_the_way.iter().copied().collect();
        match names.as_slice() {
            [] => "no switch".to_owned(),
            [one] => format!("one switch: {one}"),
            several => format!("{} switches: {}", several.len(), several.join(", ")),
        }
    }

    fn check(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let names: Vec<&str> = on_the_way(seen).into_iter().collect();
        if names.len() < 2 {
            return Vec::new();
        }
        let between = limit(seen.run).reason == "the links between the switches";
        let narrow = if between { ", and the links between them carry less than those of the hosts" } else { "" };
        vec![Finding {
            trap: self.name(),
            place: names.join(", "),
            wrong: format!(
                "There are {} switches on the way: each stores a frame whole before it sends it on{narrow}.",
                names.len()
            ),
            cures: vec![Cure::new(
                "cabling",
                "plug both hosts' storage ports into one switch, or one switch a path, with nothing else in these VLANs",
            )],
            edits: Vec::new(),
            must: false,
        }]
    }
}

/// The switches that cables of the way lead to.
fn on_the_way<'a>(seen: &Seen<'a>) -> BTreeSet<&'a str> {
    let ends = seen.cables().into_iter().flat_map(|(_, cable)| [cable.a.node.as_str(), cable.b.node.as_str()]);
    ends.filter(|name| seen.run.topology.switches.iter().any(|switch| switch.name == *name)).collect()
}
