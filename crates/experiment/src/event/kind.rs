//! What a kind of event says of itself.

use std::sync::Arc;
use std::time::Duration;

use crate::diagnostics::Problem;
use crate::keys::Key;
use crate::record::{At, Record, Span};
use crate::resolved::Topology;
use crate::timed::Event;

/// A kind of event in the file.
pub(crate) struct Kind {
    /// As the file has it.
    pub name: &'static str,
    /// The keys that it adds to those that all events have.
    pub keys: &'static [Key],
    /// The hosts that have to have a bridge for it, as far as it names some.
    pub bridged: fn(&Record) -> Vec<At<String>>,
    /// What an event of this kind is, told where its kind stands; none if something is wrong.
    pub resolve: fn(&Record, &Span, &mut Told<'_, '_>) -> Option<Arc<dyn Event>>,
}

/// What is known of a run when its events are resolved.
pub(crate) struct Told<'a, 'p> {
    pub topology: &'a Topology,
    pub duration: Duration,
    pub problems: &'p mut Vec<Problem>,
}
