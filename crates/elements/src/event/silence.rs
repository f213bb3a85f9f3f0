//! `silence`: a cable drops every frame, and both ends keep their carrier.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::cables::{Relayed, Shown, named, words};
use super::ends::{direction, sender};
use super::kind::{Happens, Kind, PLAIN, Told};
use crate::record::{Record, Span};
use crate::timed::Event;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    also: &["link", "number", "from", "for", "every"],
    relayed: Relayed::one,
    chance: Chance::Direction,
    resolve,
    ..PLAIN
};

const NAME: &str = "silence";

/// A cable falls silent, or carries again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The end by which the cable is known, and where the event is shown.
    pub shown: Shown,
    /// The node whose frames alone are dropped; none: those of both ends.
    pub from: Option<String>,
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
        let (ends, from) = (&self.ends, direction(self.from.as_ref()));
        match self.carries {
            true => format!("the cable between {ends} carries again"),
            false => format!("the cable between {ends} drops every frame{from}, and keeps its carrier"),
        }
    }

    fn node(&self) -> &str {
        &self.shown.node
    }

    fn details(&self) -> Value {
        let Silence { shown, from, carries, .. } = self;
        json!({ "shown": shown, "from": from, "carries": carries })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let from = sender(record, ends).map_err(|problem| told.problems.push(problem)).ok()?;
    let silent = Silence { shown: Shown::of(ends, told.topology), from, carries: false, ends: words(ends) };
    let carries = Silence { carries: true, ..silent.clone() };
    Some(Happens { event: Arc::new(silent), undone: Some(Arc::new(carries)) })
}
