//! The switch that an event happens to, by its name in the file.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Happens, Told};
use super::shared::required;
use crate::keys::{Key, Kind, Need, Thing};
use crate::record::{At, Record, Span};
use crate::resolved::Topology;
use crate::timed::Event;
use nicteam_diagnostics::{Problem, list, nearest};

/// The key that names a switch.
pub(super) const SWITCH: Key = Key {
    name: "switch",
    kind: Kind::One(Thing::Switch),
    need: Need::Otherwise("required by kinds that happen to a switch"),
    doc: "The switch that the fault happens to.",
};

/// A fault of a switch as a whole, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchFault {
    kind: &'static str,
    /// What the switch does while the fault lasts, and afterwards.
    words: [&'static str; 2],
    /// The switch.
    pub switch: String,
    /// The devices of its ports.
    pub ports: Vec<String>,
    /// True: the fault is over.
    pub over: bool,
}

impl SwitchFault {
    /// A fault of the switch that an event of this kind names; what is wrong goes to the problems.
    pub(super) fn resolve(
        kind: (&'static str, &Span),
        words: [&'static str; 2],
        record: &Record,
        told: &mut Told<'_, '_>,
    ) -> Option<SwitchFault> {
        let switch = switch(record, kind, told.topology, told.problems)?;
        let ports = ports(&switch, told.topology);
        Some(SwitchFault { kind: kind.0, words, switch, ports, over: false })
    }

    /// The event that begins it, and the one that ends it.
    pub(super) fn happens(self) -> Happens {
        let over = SwitchFault { over: true, ..self.clone() };
        Happens { event: Arc::new(self), undone: Some(Arc::new(over)) }
    }
}

impl Event for SwitchFault {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn words(&self) -> String {
        format!("switch {} {}", self.switch, self.words[usize::from(self.over)])
    }

    fn node(&self) -> &str {
        &self.switch
    }

    fn details(&self) -> Value {
        let SwitchFault { switch, ports, over, .. } = self;
        json!({ "switch": switch, "ports": ports, "over": over })
    }
}

/// The switch that an event of a kind names; what is wrong goes to the problems.
fn switch(record: &Record, kind: (&str, &Span), topology: &Topology, problems: &mut Vec<Problem>) -> Option<String> {
    required(record, ("switch", "add, for example, `switch = \"sw\"`"), kind, problems);
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
fn ports(node: &str, topology: &Topology) -> Vec<String> {
    let ends = topology.cables.iter().flat_map(|cable| [&cable.a, &cable.b]);
    ends.filter(|end| end.node == node).map(|end| end.device.clone()).collect()
}
