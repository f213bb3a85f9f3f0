//! Events in the order in which they happen.

use std::collections::BTreeMap;

use nicteam_team::Time;

/// Events to come. Those of one moment happen in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct Schedule<E> {
    events: BTreeMap<(Time, u64), E>,
    scheduled: u64,
}

impl<E> Default for Schedule<E> {
    fn default() -> Schedule<E> {
        Schedule { events: BTreeMap::new(), scheduled: 0 }
    }
}

impl<E> Schedule<E> {
    /// Schedules an event.
    pub fn push(&mut self, at: Time, event: E) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// When the next event happens.
    pub fn next_time(&self) -> Option<Time> {
        self.events.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next event, and when it happens.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.events.pop_first().map(|((at, _), event)| (at, event))
    }

    /// All events to come, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &E)> {
        self.events.iter().map(|((at, _), event)| (*at, event))
    }

    /// How many events were scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}
