//! `mtu`: one end of a cable gets another MTU, as a port that was configured anew.

use nicteam_chaos::Chance;
use serde_json::json;

use super::cables::{CableName, Shown, named, words};
use super::changed::Changed;
use super::ends::chosen_end;
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need};
use crate::record::{Record, Span};

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[Key {
        name: "mtu",
        kind: keys::Kind::Integer(68..=65_535),
        need: Need::Otherwise("required by `mtu`"),
        doc: "`mtu`: the largest IP packet, bytes, that the end sends and takes in meanwhile. It drops larger ones, and \
            nobody is told. Frames that join packets would pass, so the ends of the cable send none in the whole run.",
    }],
    also: &["link", "number", "end", "for", "every"],
    chance: Chance::Mtu,
    resolve,
    ..PLAIN
};

const NAME: &str = "mtu";

/// The cables whose ends send no frames that join packets, so that these events can drop single ones.
pub(super) fn without_offloads(events: &[Record]) -> Vec<CableName> {
    let own = |event: &&Record| event.get::<&str>("kind").is_some_and(|kind| kind.value == NAME);
    events.iter().filter(own).filter_map(CableName::of).collect()
}

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    required(record, (NAME, "add, for example, `mtu = 1000`"), (NAME, kind), told.problems);
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let end = chosen_end(record, ends, told)?;
    let mtu = u32::try_from(record.get::<u64>(NAME)?.value).ok()?;
    let built = cable.mtu_at(told.topology, end)?;
    let (shown, between, node) = (Shown::of(ends, told.topology), words(ends), &end.node);
    let changed = |mtu| Changed {
        kind: NAME,
        node: node.clone(),
        words: format!("the cable between {between} has an MTU of {mtu} at {node}"),
        details: json!({ "node": node, "device": end.device, "mtu": mtu, "shown": shown }),
    };
    Some(changed(mtu).until(changed(built)))
}
