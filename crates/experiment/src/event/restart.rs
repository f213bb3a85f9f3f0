//! `restart`: a switch is restarted: its ports go down, and its tables are empty afterwards.

use std::sync::Arc;

use serde_json::{Value, json};

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
    relayed: |_| None,
    resolve,
};

const NAME: &str = "restart";

/// A switch goes down, or is up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchRestarted {
    /// The switch.
    pub switch: String,
    /// The devices of its ports.
    pub ports: Vec<String>,
    /// True: it is up again, with empty tables.
    pub is_up: bool,
}

impl Event for SwitchRestarted {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let what = if self.is_up { "is up again, with empty tables" } else { "is restarted: its ports go down" };
        format!("switch {} {what}", self.switch)
    }

    fn node(&self) -> &str {
        &self.switch
    }

    fn details(&self) -> Value {
        let SwitchRestarted { switch, ports, is_up } = self;
        json!({ "switch": switch, "ports": ports, "is_up": is_up })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let switch = switch(record, (NAME, kind), told.topology, told.problems)?;
    if !record.has("for") {
        let problem = Problem::at(kind, format!("`for` is missing of an event of kind `{NAME}`"));
        told.problems.push(problem.hint("say how long the switch is down: `for = \"1s\"`"));
        return None;
    }
    let ports = ports(&switch, told.topology);
    let begins = SwitchRestarted { switch, ports, is_up: false };
    let over = SwitchRestarted { is_up: true, ..begins.clone() };
    Some(Happens { event: Arc::new(begins), undone: Some(Arc::new(over)) })
}
