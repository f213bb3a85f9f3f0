//! What a run does to its network while it is measured: one file a kind, and one line in [`KINDS`].

mod kind;
mod migrate;

use std::sync::Arc;

use crate::diagnostics::Problem;
use crate::keys::{Key, Kind as Takes, Need};
use crate::record::{At, Record};
use crate::timed::{Event, Timed};

pub(crate) use kind::{Kind, Told};
pub use migrate::{Announce, Migrate};

/// All kinds.
const KINDS: [Kind; 1] = [migrate::KIND];

/// Their names.
pub(crate) const NAMES: [&str; KINDS.len()] = [KINDS[0].name];

/// The keys that each adds.
pub(crate) const KEYS: [&[Key]; KINDS.len()] = [KINDS[0].keys];

/// The kind's own key.
pub(crate) const KIND: Key = Key {
    name: "kind",
    kind: Takes::Choice(&NAMES),
    need: Need::Required,
    doc: "`migrate`: a guest moves to another host.",
};

/// The hosts that have to have a bridge for these events.
pub(crate) fn bridged(events: &[Record]) -> Vec<At<String>> {
    let of = |event: &Record| KINDS.iter().flat_map(|kind| (kind.bridged)(event)).collect::<Vec<_>>();
    events.iter().flat_map(of).collect()
}

/// Resolves the events of a run, in order of time; what is wrong goes to the problems.
pub(crate) fn resolve(events: &[Record], told: &mut Told<'_, '_>) -> Vec<Timed> {
    let mut resolved = Vec::new();
    for record in events {
        let (Some(at), Some(name)) = (record.get("at"), record.get::<&str>("kind")) else { continue };
        if at.value >= told.duration {
            let hint = "events happen while the run is measured: put it before its end, or raise `duration`";
            told.problems.push(Problem::at(&at.span, "this event comes after the run's end").hint(hint));
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name.value) else { continue };
        let event: Option<Arc<dyn Event>> = (kind.resolve)(record, &name.span, told);
        resolved.extend(event.map(|event| Timed { at: at.value, event }));
    }
    resolved.sort_by_key(|timed| timed.at);
    resolved
}
