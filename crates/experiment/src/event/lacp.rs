//! `lacp`: a switch sends no more LACPDUs, and forwards as before.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cables::Relayed;
use super::kind::{Happens, Kind, Told};
use super::nodes::{ports, switch};
use crate::record::{Record, Span};
use crate::timed::Event;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["switch", "for", "every"],
    bridged: |_| Vec::new(),
    relayed: Relayed::of_switch,
    resolve,
};

const NAME: &str = "lacp";

/// A switch sends no more LACPDUs, or sends them again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LacpSilent {
    /// The switch.
    pub switch: String,
    /// The devices of its ports.
    pub ports: Vec<String>,
    /// True: it sends them again.
    pub speaks: bool,
}

impl Event for LacpSilent {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let what = if self.speaks { "sends LACPDUs again" } else { "sends no more LACPDUs, and forwards as before" };
        format!("switch {} {what}", self.switch)
    }

    fn node(&self) -> &str {
        &self.switch
    }

    fn details(&self) -> Value {
        let LacpSilent { switch, ports, speaks } = self;
        json!({ "switch": switch, "ports": ports, "speaks": speaks })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let switch = switch(record, (NAME, kind), told.topology, told.problems)?;
    if !told.topology.teams.iter().any(|team| team.node == switch && team.config.mode.traits().aggregates(&team.config))
    {
        let problem = Problem::at(kind, format!("no group of switch `{switch}` speaks LACP"));
        told.problems.push(problem.hint("give the switch `spread`, and hosts at it a team that speaks LACP"));
        return None;
    }
    let ports = ports(&switch, told.topology);
    let begins = LacpSilent { switch, ports, speaks: false };
    let over = LacpSilent { speaks: true, ..begins.clone() };
    Some(Happens { event: Arc::new(begins), undone: Some(Arc::new(over)) })
}
