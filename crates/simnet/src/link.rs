//! A cable between two ports, and what it does to frames.

use std::time::Duration;

use crate::{Port, Random};

/// A link between two ports: each direction is a way of its own.
#[derive(Clone, Debug)]
pub struct Link {
    /// Both ends see it.
    pub carrier: bool,
    pub(crate) ends: [Port; 2],
    /// Out of the first end, and out of the second.
    ways: [Way; 2],
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// How long a frame is on its way.
    pub delay: Duration,
    /// Up to so much longer, by chance: frames overtake each other.
    pub jitter: Duration,
    /// Frames that are lost, of a hundred.
    pub loss_percent: u64,
    /// Frames that arrive twice, of a hundred.
    pub duplicate_percent: u64,
    /// Nothing passes, and nobody sees it.
    pub blocked: bool,
}

impl Link {
    /// Both directions alike.
    pub(crate) fn new(ends: [Port; 2], way: Way) -> Link {
        Link { carrier: true, ends, ways: [way; 2] }
    }

    /// The port at the other end.
    pub fn far(&self, port: Port) -> Port {
        if self.ends[0] == port { self.ends[1] } else { self.ends[0] }
    }

    /// The way out of a port.
    pub fn way(&self, from: Port) -> &Way {
        &self.ways[usize::from(self.ends[0] != from)]
    }

    /// The same, to be changed.
    pub fn way_mut(&mut self, from: Port) -> &mut Way {
        &mut self.ways[usize::from(self.ends[0] != from)]
    }

    /// Both ways.
    pub fn ways_mut(&mut self) -> &mut [Way; 2] {
        &mut self.ways
    }

    /// True if frames that leave this port pass, but for chance.
    pub fn carries(&self, from: Port) -> bool {
        self.carrier && !self.way(from).blocked
    }
}

impl Way {
    /// When the copies of a frame arrive, counted from when it leaves. Each frame takes the same random numbers
    /// whatever the settings, so what one setting does to a run does not depend on the others.
    pub(crate) fn arrivals(self, random: &mut Random) -> impl Iterator<Item = Duration> {
        let duplicated = random.percent(self.duplicate_percent);
        (0..1 + u32::from(duplicated)).filter_map(move |_| {
            let (lost, late) = (random.percent(self.loss_percent), random.up_to(self.jitter));
            (!lost).then_some(self.delay + late)
        })
    }
}
