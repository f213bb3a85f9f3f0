//! The host or switch that an event happens to, by its name in the file.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{Happens, Told};
use super::required::required;
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

/// The key that names a host.
pub(super) const HOST: Key = Key {
    name: "host",
    kind: Kind::One(Thing::Host),
    need: Need::Otherwise("required by kinds that happen to a host"),
    doc: "The host that the fault happens to.",
};

/// A fault of a host or switch as a whole, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFault {
    kind: NodeKind,
    /// The host or switch.
    pub node: String,
    /// The devices of its ends of cables.
    pub devices: Vec<String>,
    /// The device of a host's team.
    pub team: Option<String>,
    /// True: the fault is over.
    pub over: bool,
}

/// What kinds of faults of a node differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeKind {
    pub name: &'static str,
    /// What holds while the fault lasts, and afterwards; `{}` is the node.
    pub words: [&'static str; 2],
    /// A signal, or a load, needs a process that runs the host's team and nothing else.
    pub needs_process: bool,
}

impl NodeKind {
    /// The fault of the switch that an event names; what is wrong goes to the problems.
    pub(super) fn of_switch(self, record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<NodeFault> {
        let topology = told.topology;
        let known: Vec<&str> = topology.switches.iter().map(|switch| switch.name.as_str()).collect();
        let node = node(record, Thing::Switch, (self.name, kind), &known, told.problems)?;
        let devices = devices(&node, topology);
        Some(NodeFault { kind: self, node, devices, team: None, over: false })
    }

    /// The fault of the host that an event names, which has a team of engine `nicteam`; what is wrong goes to the problems.
    pub(super) fn of_host(self, record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<NodeFault> {
        let topology = told.topology;
        let known: Vec<&str> = topology.hosts.iter().map(|host| host.name.as_str()).collect();
        let node = node(record, Thing::Host, (self.name, kind), &known, told.problems)?;
        let Some(team) = topology.teams.iter().find(|team| team.node == node && team.engine == "nicteam") else {
            let problem = Problem::at(kind, format!("host `{node}` has no team of engine `nicteam`"));
            told.problems.push(problem.hint("name a host with such a team"));
            return None;
        };
        let devices = devices(&node, topology);
        Some(NodeFault { kind: self, node, devices, team: Some(team.device.clone()), over: false })
    }
}

impl NodeFault {
    /// The event that begins it, and the one that ends it.
    pub(super) fn happens(self) -> Happens {
        let over = NodeFault { over: true, ..self.clone() };
        Happens { event: Arc::new(self), undone: Some(Arc::new(over)) }
    }

    /// The same, of a kind that has to end.
    pub(super) fn happens_for(self, record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
        let hint = "say how long it is down: `for = \"1s\"`";
        required(record, ("for", hint), (self.kind.name, kind), told.problems).then(|| self.happens())
    }
}

impl Event for NodeFault {
    fn kind(&self) -> &'static str {
        self.kind.name
    }

    fn words(&self) -> String {
        self.kind.words[usize::from(self.over)].replace("{}", &self.node)
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn needs_process(&self) -> bool {
        self.kind.needs_process
    }

    fn details(&self) -> Value {
        let NodeFault { node, devices, team, over, .. } = self;
        json!({ "node": node, "devices": devices, "team": team, "over": over })
    }
}

/// The host or switch that an event of a kind names; what is wrong goes to the problems.
fn node(
    record: &Record,
    thing: Thing,
    kind: (&str, &Span),
    known: &[&str],
    problems: &mut Vec<Problem>,
) -> Option<String> {
    let key = thing.word();
    required(record, (key, &format!("add, for example, `{key} = \"{}\"`", known.first()?)), kind, problems);
    let name = record.get::<&[At<String>]>(key)?.value.first()?;
    if known.contains(&name.value.as_str()) {
        return Some(name.value.clone());
    }
    let hint = match nearest(&name.value, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", list(known.iter().copied())),
    };
    problems.push(Problem::at(&name.span, format!("no {key} `{}`", name.value)).hint(hint));
    None
}

/// The devices of a node's ends of cables.
fn devices(node: &str, topology: &Topology) -> Vec<String> {
    let ends = topology.cables.iter().flat_map(|cable| [&cable.a, &cable.b]);
    ends.filter(|end| end.node == node).map(|end| end.device.clone()).collect()
}
