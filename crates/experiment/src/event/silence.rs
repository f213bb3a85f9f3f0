//! `silence`: a cable drops every frame, and both ends keep their carrier.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cables::{CableName, named, shown_at, team_of, words};
use super::kind::{Happens, Kind, Told};
use crate::record::{Record, Span};
use crate::timed::Event;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["link", "number", "for"],
    bridged: |_| Vec::new(),
    relayed: CableName::of,
    resolve,
};

const NAME: &str = "silence";

/// A cable falls silent, or carries again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The node of one end.
    pub node: String,
    /// Its device.
    pub device: String,
    /// The team that this is a member of.
    pub team: Option<String>,
    /// True: it carries again.
    pub carries: bool,
    /// Both ends, in words.
    pub ends: String,
}

impl Event for Silence {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let what = if self.carries { "carries again" } else { "drops every frame, and keeps its carrier" };
        format!("the cable between {} {what}", self.ends)
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn details(&self) -> Value {
        let Silence { node, device, team, carries, .. } = self;
        json!({ "node": node, "device": device, "team": team, "carries": carries })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let shown = shown_at(ends, told.topology);
    let silent = Silence {
        node: shown.node.clone(),
        device: shown.device.clone(),
        team: team_of(shown, told.topology),
        carries: false,
        ends: words(ends),
    };
    let carries = Silence { carries: true, ..silent.clone() };
    Some(Happens { event: Arc::new(silent), undone: Some(Arc::new(carries)) })
}
