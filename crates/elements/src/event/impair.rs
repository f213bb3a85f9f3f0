//! `impair`: a cable does to frames what a section of the file declares, for a while.

use nicteam_chaos::Chance;
use nicteam_impair::Impairments;
use serde_json::json;

use super::cables::{Relayed, Shown, named, words};
use super::changed::Changed;
use super::ends::{direction, sender};
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::impairments::{check_room, unknown};
use crate::keys::{self, Key, Need, Thing};
use crate::record::{At, Record, Span};

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
    let (shown, between, name) = (Shown::of(ends, told.topology), words(ends), name.value);
    let event = |words, impairments: Option<Impairments>| Changed {
        kind: NAME,
        node: shown.node.clone(),
        words,
        details: json!({ "shown": shown, "from": from, "impairments": impairments }),
    };
    let impaired = format!("the cable between {between} is impaired by `{name}`{}", direction(from.as_ref()));
    // Without impairments it does again what it was built to do.
    let undone = event(format!("the cable between {between} is as it was before `{name}`"), None);
    Some(event(impaired, Some(way.impairments)).until(undone))
}
