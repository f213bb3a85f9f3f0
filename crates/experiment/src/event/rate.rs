//! `rate`: a cable gets another rate, as when its ends negotiate anew.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::cables::{Shown, named, words};
use super::ends::{direction, sender};
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need};
use crate::record::{Record, Span};
use crate::timed::Event;
use crate::units::show_rate;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[Key {
        name: "rate",
        kind: keys::Kind::Rate,
        need: Need::Otherwise("required by `rate`"),
        doc: "`rate`: the rate of the cable meanwhile, in each direction.",
    }],
    also: &["link", "number", "from", "for", "every"],
    chance: Chance::Rate,
    resolve,
    ..PLAIN
};

const NAME: &str = "rate";

/// A cable gets another rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateChanged {
    /// The ends that send at it: node and device.
    pub senders: Vec<(String, String)>,
    /// The rate, bit/s.
    pub rate_bps: u64,
    /// Where it is shown.
    pub shown: Shown,
    /// The node whose frames alone are concerned; none: those of both ends.
    pub from: Option<String>,
    /// Both ends, in words.
    pub ends: String,
}

impl Event for RateChanged {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let (rate, from) = (show_rate(self.rate_bps), direction(self.from.as_ref()));
        format!("the cable between {} carries {rate}{from}", self.ends)
    }

    fn node(&self) -> &str {
        &self.shown.node
    }

    fn details(&self) -> Value {
        let RateChanged { senders, rate_bps, shown, .. } = self;
        json!({ "senders": senders, "rate_bps": rate_bps, "shown": shown })
    }
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    required(record, (NAME, "add, for example, `rate = \"10mbit\"`"), (NAME, kind), told.problems);
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let from = sender(record, ends).map_err(|problem| told.problems.push(problem)).ok()?;
    let rate_bps = record.get::<u64>(NAME)?.value;
    let senders = ends.into_iter().filter(|end| from.as_ref().is_none_or(|from| *from == end.node));
    let changed = RateChanged {
        senders: senders.map(|end| (end.node.clone(), end.device.clone())).collect(),
        rate_bps,
        shown: Shown::of(ends, told.topology),
        from,
        ends: words(ends),
    };
    let undone = RateChanged { rate_bps: cable.rate_bps(told.topology)?, ..changed.clone() };
    Some(Happens { event: Arc::new(changed), undone: Some(Arc::new(undone)) })
}
