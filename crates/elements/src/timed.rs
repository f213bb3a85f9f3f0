//! What a run does to its network, and when.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// Something that happens at a moment.
#[derive(Clone, Debug)]
pub struct Timed {
    /// When, since the measurement began.
    pub at: Duration,
    /// What.
    pub event: Arc<dyn Event>,
    /// Number of the fault that it begins or ends, from 0.
    pub fault: usize,
    /// True: the fault is over.
    pub ends: bool,
    /// The fault as a file has it, for this time alone.
    pub toml: Arc<str>,
}

// Derived, it would move the event.
impl PartialEq for Timed {
    fn eq(&self, other: &Timed) -> bool {
        self.at == other.at && *self.event == *other.event
    }
}

/// Something that a run does to its network.
pub trait Event: fmt::Debug + Send + Sync {
    /// The `kind` of the file, by which the lab knows it, too.
    fn kind(&self) -> &'static str;

    /// What happens, in words: `a/guest1 moves to b`.
    fn words(&self) -> String;

    /// The host or switch that it happens at.
    fn node(&self) -> &str;

    /// The end of a cable, node and device, whose carrier it takes away or, if true, brings back; none: it does something else.
    fn carrier(&self) -> Option<(&str, &str, bool)> {
        None
    }

    /// True if the team of [`Event::node`] has to run in a process of its own for it.
    fn needs_process(&self) -> bool {
        false
    }

    /// The data for the code that carries it out.
    fn details(&self) -> Value;
}

impl PartialEq for dyn Event {
    fn eq(&self, other: &Self) -> bool {
        (self.kind(), self.details()) == (other.kind(), other.details())
    }
}

impl Eq for dyn Event {}
