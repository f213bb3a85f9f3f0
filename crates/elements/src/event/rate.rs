//! `rate`: a cable gets another rate, as when its ends negotiate anew.

use nicteam_chaos::Chance;
use serde_json::json;

use super::cables::{Shown, named, words};
use super::changed::Changed;
use super::ends::{direction, sender};
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need};
use crate::record::{Record, Span};
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

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    required(record, (NAME, "add, for example, `rate = \"10mbit\"`"), (NAME, kind), told.problems);
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let from = sender(record, ends).map_err(|problem| told.problems.push(problem)).ok()?;
    let rate_bps = record.get::<u64>(NAME)?.value;
    let senders = ends.into_iter().filter(|end| from.as_ref().is_none_or(|from| *from == end.node));
    let senders: Vec<_> = senders.map(|end| (&end.node, &end.device)).collect();
    let (shown, between, from) = (Shown::of(ends, told.topology), words(ends), direction(from.as_ref()));
    let changed = |rate_bps| Changed {
        kind: NAME,
        node: shown.node.clone(),
        words: format!("the cable between {between} carries {}{from}", show_rate(rate_bps)),
        details: json!({ "senders": senders, "rate_bps": rate_bps, "shown": shown }),
    };
    Some(changed(rate_bps).until(changed(cable.rate_bps(told.topology)?)))
}
