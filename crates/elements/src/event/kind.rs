//! What a kind of event says of itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nicteam_chaos::Chance;

use super::cables::Relayed;
use crate::keys::Key;
use crate::record::{At, Record, Span};
use crate::resolved::{Topology, Way};
use crate::timed::Event;
use nicteam_diagnostics::Problem;

/// A kind of event in the file.
pub struct Kind {
    /// As the file has it.
    pub name: &'static str,
    /// The keys that it adds to those that all events have.
    pub keys: &'static [Key],
    /// Keys of [`SHARED`](super::shared::SHARED) that it takes as well.
    pub also: &'static [&'static str],
    /// The hosts that have to have a bridge for it, as far as it names some.
    pub bridged: fn(&Record) -> Vec<At<String>>,
    /// The cables that need the link emulator for it, if it names some.
    pub relayed: fn(&Record) -> Option<Relayed>,
    /// What random faults of this kind happen to.
    pub chance: Chance,
    /// Resolves an event of this kind, with the place of its kind in the file; none if something is wrong.
    pub resolve: fn(&Record, &Span, &mut Told<'_, '_>) -> Option<Happens>,
}

/// A kind that adds no keys, and needs neither bridges nor link emulators.
pub(super) const PLAIN: Kind = Kind {
    name: "",
    keys: &[],
    also: &[],
    bridged: |_| Vec::new(),
    relayed: |_| None,
    chance: Chance::Never,
    resolve: |_, _, _| None,
};

/// An event, resolved.
pub struct Happens {
    /// What happens.
    pub event: Arc<dyn Event>,
    /// What puts it right again, for one that lasts a while (`for`).
    pub undone: Option<Arc<dyn Event>>,
}

/// What is known of a run when its events are resolved.
pub struct Told<'a, 'p> {
    /// What is built.
    pub topology: &'a Topology,
    /// The impairments of the file, by name.
    pub impairments: &'a BTreeMap<String, Way>,
    /// How long it is measured.
    pub duration: Duration,
    /// What is wrong is added.
    pub problems: &'p mut Vec<Problem>,
}
