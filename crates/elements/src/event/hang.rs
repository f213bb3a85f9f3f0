//! `hang`: a switch forwards nothing and sends nothing, and its ports stay up.

use nicteam_chaos::Chance;

use super::cables::Relayed;
use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};

pub(super) const KIND: Kind = Kind {
    name: OF_NODE.name,
    also: &["switch", "for", "every"],
    relayed: Relayed::of_switch,
    chance: Chance::Switch,
    resolve,
    ..PLAIN
};

const OF_NODE: NodeKind = NodeKind {
    name: "hang",
    words: ["switch {} hangs: it forwards nothing, and its ports stay up", "switch {} forwards again"],
    needs_process: false,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    Some(OF_NODE.of_switch(record, kind, told)?.happens())
}
