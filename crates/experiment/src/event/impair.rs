//! `impair`: a cable does to frames what a section of the file declares, for a while.

use std::sync::Arc;

use nicteam_chaos::Chance;
use nicteam_impair::Impairments;
use serde_json::{Value, json};

use super::cables::{Relayed, Shown, named, words};
use super::ends::{direction, sender};
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::impairments::{check_room, unknown};
use crate::keys::{self, Key, Need, Thing};
use crate::record::{At, Record, Span};
use crate::timed::Event;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[Key {
        name: "impair",
        kind: keys::Kind::One(Thing::Impairment),
        need: Need::Otherwise("required by `impair`"),
        doc: "`impair`: the section `[impairments.NAME]` that holds meanwhile, in place of that of the link. Its `seed` \
            does not count.",
    }],
    also: &["link", "number", "from", "for", "every"],
    relayed: Relayed::one,
    chance: Chance::Impairment,
    resolve,
    ..PLAIN
};

const NAME: &str = "impair";

/// A cable delays, loses, doubles or reorders frames, or does again what it was built to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkImpaired {
    /// The end by which the cable is known, and where the event is shown.
    pub shown: Shown,
    /// The node whose frames alone are concerned; none: those of both ends.
    pub from: Option<String>,
    /// Section of the file.
    pub name: String,
    /// What is done to frames; none: what the link was built with.
    pub impairments: Option<Impairments>,
    /// Both ends, in words.
    pub ends: String,
}

impl Event for LinkImpaired {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let LinkImpaired { name, ends, .. } = self;
        let from = direction(self.from.as_ref());
        match self.impairments {
            Some(_) => format!("the cable between {ends} is impaired by `{name}`{from}"),
            None => format!("the cable between {ends} is as it was before `{name}`"),
        }
    }

    fn node(&self) -> &str {
        &self.shown.node
    }

    fn details(&self) -> Value {
        let LinkImpaired { shown, from, impairments, .. } = self;
        json!({ "shown": shown, "from": from, "impairments": impairments })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    required(record, (NAME, "name a section `[impairments.NAME]`: `impair = \"lossy\"`"), (NAME, kind), told.problems);
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let from = sender(record, ends).map_err(|problem| told.problems.push(problem)).ok()?;
    let name = record.get::<&[At<String>]>(NAME)?.value.first()?.clone();
    let Some(way) = told.impairments.get(&name.value) else {
        told.problems.push(unknown(&name, told.impairments.keys().map(String::as_str)));
        return None;
    };
    let rate_bps = cable.rate_bps(told.topology)?;
    told.problems.extend(check_room(&name, way, rate_bps));
    let impaired = LinkImpaired {
        shown: Shown::of(ends, told.topology),
        from,
        name: name.value,
        impairments: Some(way.impairments),
        ends: words(ends),
    };
    let undone = LinkImpaired { impairments: None, ..impaired.clone() };
    Some(Happens { event: Arc::new(impaired), undone: Some(Arc::new(undone)) })
}
