//! `restart`: a switch is restarted: its ports go down, and its tables are empty afterwards.

use nicteam_chaos::Chance;

use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};

pub(super) const KIND: Kind =
    Kind { name: OF_NODE.name, also: &["switch", "for", "every"], chance: Chance::Switch, resolve, ..PLAIN };

const OF_NODE: NodeKind = NodeKind {
    name: "restart",
    words: ["switch {} is restarted: its ports go down", "switch {} is up again, with empty tables"],
    needs_process: false,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    OF_NODE.of_switch(record, kind, told)?.happens_for(record, kind, told)
}
