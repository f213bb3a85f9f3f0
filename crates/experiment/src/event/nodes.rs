//! The switch that an event happens to, by its name in the file.

use crate::keys::{Key, Kind, Need, Thing};
use crate::record::{At, Record, Span};
use crate::resolved::Topology;
use nicteam_diagnostics::{Problem, list, nearest};

/// The key that names a switch.
pub(super) const SWITCH: Key = Key {
    name: "switch",
    kind: Kind::One(Thing::Switch),
    need: Need::Otherwise("required by kinds that happen to a switch"),
    doc: "The switch that the fault happens to.",
};

/// The switch that an event of a kind names; what is wrong goes to the problems.
pub(super) fn switch(
    record: &Record,
    kind: (&str, &Span),
    topology: &Topology,
    problems: &mut Vec<Problem>,
) -> Option<String> {
    let (kind, span) = kind;
    if !record.has("switch") {
        let problem = Problem::at(span, format!("`switch` is missing of an event of kind `{kind}`"));
        problems.push(problem.hint("add, for example, `switch = \"sw\"`"));
    }
    let name = record.get::<&[At<String>]>("switch")?.value.first()?;
    let known = || topology.switches.iter().map(|switch| switch.name.as_str());
    if known().any(|switch| switch == name.value) {
        return Some(name.value.clone());
    }
    let hint = match nearest(&name.value, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if topology.switches.is_empty() => "the run has no switch".to_owned(),
        None => format!("the switches are {}", list(known())),
    };
    problems.push(Problem::at(&name.span, format!("no switch `{}`", name.value)).hint(hint));
    None
}

/// The devices of a node's ends of cables.
pub(super) fn ports(node: &str, topology: &Topology) -> Vec<String> {
    let ends = topology.cables.iter().flat_map(|cable| [&cable.a, &cable.b]);
    ends.filter(|end| end.node == node).map(|end| end.device.clone()).collect()
}
