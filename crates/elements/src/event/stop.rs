//! `stop`: the process of a host's team is stopped (SIGSTOP), and continues (SIGCONT).

use nicteam_chaos::Chance;

use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};

pub(super) const KIND: Kind =
    Kind { name: OF_NODE.name, also: &["host", "for", "every"], chance: Chance::Host, resolve, ..PLAIN };

const OF_NODE: NodeKind = NodeKind {
    name: "stop",
    words: ["the process of the team of {} is stopped", "the process of the team of {} continues"],
    needs_process: true,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    Some(OF_NODE.of_host(record, kind, told)?.happens())
}
