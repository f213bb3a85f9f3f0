//! What a kind of event says of itself.

use std::sync::Arc;
use std::time::Duration;

use super::cables::CableName;
use crate::keys::{self, Key, Need};
use crate::record::{At, Record, Span};
use crate::resolved::Topology;
use crate::timed::Event;
use nicteam_diagnostics::Problem;

/// How long a fault lasts.
pub(super) const FOR: Key = Key {
    name: "for",
    kind: keys::Kind::Time(Duration::from_millis(1)..=Duration::from_secs(86_400)),
    need: Need::Otherwise("until the run ends"),
    doc: "`cable`, `silence`, `target`: time until the lab repairs it.",
};

/// A kind of event in the file.
pub(crate) struct Kind {
    /// As the file has it.
    pub name: &'static str,
    /// The keys that it adds to those that all events have.
    pub keys: &'static [Key],
    /// Keys of other kinds that it takes as well.
    pub also: &'static [&'static str],
    /// The hosts that have to have a bridge for it, as far as it names some.
    pub bridged: fn(&Record) -> Vec<At<String>>,
    /// The cable that needs the link emulator for it, if it names one.
    pub relayed: fn(&Record) -> Option<CableName>,
    /// Resolves an event of this kind, with the place of its kind in the file; none if something is wrong.
    pub resolve: fn(&Record, &Span, &mut Told<'_, '_>) -> Option<Happens>,
}

/// An event, resolved.
pub(crate) struct Happens {
    pub event: Arc<dyn Event>,
    /// What puts it right again, for one that lasts a while (`for`).
    pub undone: Option<Arc<dyn Event>>,
}

/// What is known of a run when its events are resolved.
pub(crate) struct Told<'a, 'p> {
    pub topology: &'a Topology,
    pub duration: Duration,
    pub problems: &'p mut Vec<Problem>,
}
