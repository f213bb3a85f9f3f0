//! `mtu`: one end of a cable gets another MTU, as a port that was configured anew.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::cables::{CableName, Shown, named, words};
use super::ends::chosen_end;
use super::kind::{Happens, Kind, PLAIN, Told};
use super::required::required;
use crate::keys::{self, Key, Need};
use crate::record::{Record, Span};
use crate::timed::Event;

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

/// One end of a cable gets another MTU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MtuChanged {
    /// The node at that end.
    pub node: String,
    /// Its device.
    pub device: String,
    /// The largest IP packet, bytes.
    pub mtu: u32,
    /// Where it is shown.
    pub shown: Shown,
    /// Both ends, in words.
    pub ends: String,
}

impl Event for MtuChanged {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        let MtuChanged { node, mtu, ends, .. } = self;
        format!("the cable between {ends} has an MTU of {mtu} at {node}")
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn details(&self) -> Value {
        let MtuChanged { node, device, mtu, shown, .. } = self;
        json!({ "node": node, "device": device, "mtu": mtu, "shown": shown })
    }
}

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
    let changed = MtuChanged {
        node: end.node.clone(),
        device: end.device.clone(),
        mtu,
        shown: Shown::of(ends, told.topology),
        ends: words(ends),
    };
    let undone = MtuChanged { mtu: built, ..changed.clone() };
    Some(Happens { event: Arc::new(changed), undone: Some(Arc::new(undone)) })
}
