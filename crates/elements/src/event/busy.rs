//! `busy`: a busy program takes the processor on which the process of a host's team runs.

use nicteam_chaos::Chance;

use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};

pub(super) const KIND: Kind =
    Kind { name: OF_NODE.name, also: &["host", "for", "every"], chance: Chance::Host, resolve, ..PLAIN };

const OF_NODE: NodeKind = NodeKind {
    name: "busy",
    words: ["a busy program takes the processor of the team of {}", "the busy program beside the team of {} has ended"],
    needs_process: true,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    Some(OF_NODE.of_host(record, kind, told)?.happens())
}
