//! `cable`: one end of a cable is pulled, and plugged in again.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::cables::{Shown, named, words};
use super::ends::chosen_end;
use super::kind::{Happens, Kind, PLAIN, Told};
use crate::record::{Record, Span};
use crate::timed::Event;

pub(super) const KIND: Kind =
    Kind { name: NAME, also: &["link", "number", "end", "for", "every"], chance: Chance::Cable, resolve, ..PLAIN };

const NAME: &str = "cable";

/// A cable is pulled, or plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CablePulled {
    /// The node at that end.
    pub node: String,
    /// Its device.
    pub device: String,
    /// True: it is plugged in again.
    pub plugged: bool,
    /// Where it is shown.
    pub shown: Shown,
    /// Both ends, in words.
    pub ends: String,
}

impl Event for CablePulled {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn carrier(&self) -> Option<(&str, &str, bool)> {
        Some((&self.node, &self.device, self.plugged))
    }

    fn words(&self) -> String {
        let CablePulled { node, plugged, ends, .. } = self;
        let what = if *plugged { "plugged in again" } else { "pulled" };
        format!("the cable between {ends} is {what} at {node}")
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn details(&self) -> Value {
        let CablePulled { node, device, plugged, shown, .. } = self;
        json!({ "node": node, "device": device, "plugged": plugged, "shown": shown })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let end = chosen_end(record, ends, told)?;
    let pulled = CablePulled {
        node: end.node.clone(),
        device: end.device.clone(),
        plugged: false,
        shown: Shown::of(ends, told.topology),
        ends: words(ends),
    };
    let plugged = CablePulled { plugged: true, ..pulled.clone() };
    Some(Happens { event: Arc::new(pulled), undone: Some(Arc::new(plugged)) })
}
