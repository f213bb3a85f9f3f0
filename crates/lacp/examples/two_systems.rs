//! Two systems with two cables between them, under virtual time: they agree, lose a cable, and agree again.
//!
//! ```sh
//! cargo run -p nicteam-lacp --example two_systems
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_lacp::{Lacp, LacpConfig, LacpEffect, PortParams};
use nicteam_machine::{Duplex, MemberId, MemberLink, Time};
use nicteam_wire::Mac;

/// How long a frame is under way.
const DELAY: Duration = Duration::from_micros(10);
/// Cables: a frame that leaves one end arrives at the other.
const CABLES: usize = 2;

fn main() {
    run().iter().for_each(|line| println!("{line}"));
}

/// What the systems said, a line each.
pub fn run() -> Vec<String> {
    let mut world = World::new();
    for cable in 0..CABLES {
        world.set_carrier(cable, true);
    }
    world.run_until(Time::from_millis(5_000));
    world.report();
    world.set_carrier(0, false);
    world.run_until(Time::from_millis(10_000));
    world.report();
    world.lines
}

/// Two systems, and the frames between them.
struct World {
    systems: [Lacp; 2],
    /// Frames under way: when each arrives, its number (so that none overtakes another), to whom, by which cable.
    frames: BTreeSet<(Time, u64, usize, usize, Vec<u8>)>,
    carrier: [bool; CABLES],
    sent: u64,
    now: Time,
    lines: Vec<String>,
}

impl World {
    fn new() -> World {
        let system = |number: u8| {
            let mut lacp = Lacp::new(LacpConfig::new(Mac([2, 0, 0, 0, 0, number])), Time::ZERO);
            for cable in 0..CABLES {
                let mac = Mac([2, 0, 0, 0, number, cable as u8]);
                let params = PortParams { mac, port_number: cable as u16 + 1, priority: 255, link: link(false) };
                lacp.add_port(member(cable), params, Time::ZERO);
                // Nobody listens yet.
                while lacp.poll_effect().is_some() {}
            }
            lacp
        };
        World {
            systems: [system(1), system(2)],
            frames: BTreeSet::new(),
            carrier: [false; CABLES],
            sent: 0,
            now: Time::ZERO,
            lines: Vec::new(),
        }
    }

    /// Both ends of a cable see the carrier come or go.
    fn set_carrier(&mut self, cable: usize, carrier: bool) {
        self.carrier[cable] = carrier;
        for system in 0..2 {
            self.systems[system].handle_link(member(cable), link(carrier), self.now);
            self.drain(system);
        }
    }

    /// Goes from deadline to deadline and from frame to frame.
    fn run_until(&mut self, end: Time) {
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            for system in 0..2 {
                if self.systems[system].poll_timeout().is_some_and(|(at, _)| at <= self.now) {
                    self.systems[system].handle_timeout(self.now);
                    self.drain(system);
                }
            }
            while let Some((at, ..)) = self.frames.first().filter(|(at, ..)| *at <= self.now) {
                debug_assert!(*at <= self.now);
                let Some((_, _, to, cable, frame)) = self.frames.pop_first() else { break };
                if self.carrier[cable] {
                    self.systems[to].handle_frame(member(cable), &frame, self.now);
                    self.drain(to);
                }
            }
        }
        self.now = end;
    }

    /// When something happens next.
    fn next(&self) -> Option<Time> {
        let deadlines = self.systems.iter().filter_map(|lacp| lacp.poll_timeout().map(|(at, _)| at));
        deadlines.chain(self.frames.first().map(|(at, ..)| *at)).min()
    }

    /// Does what a system wants: one change, one complete drain.
    fn drain(&mut self, system: usize) {
        while let Some(effect) = self.systems[system].poll_effect() {
            match effect {
                LacpEffect::Transmit { member, frame } => {
                    self.sent += 1;
                    self.frames.insert((self.now + DELAY, self.sent, 1 - system, member.index(), frame));
                }
                LacpEffect::Event(event) => self.lines.push(format!("{} system {system}: {event}", self.now)),
                // A dataplane that forwards by these ports would ask `senders` and `receivers` now.
                LacpEffect::Changed => {}
            }
        }
    }

    fn report(&mut self) {
        for (system, lacp) in self.systems.iter().enumerate() {
            self.lines.push(format!("{} system {system} sends by {:?}", self.now, lacp.senders()));
        }
    }
}

fn member(place: usize) -> MemberId {
    MemberId::new(place).expect("few cables")
}

fn link(carrier: bool) -> MemberLink {
    MemberLink { carrier, speed_mbps: Some(1000), duplex: Some(Duplex::Full) }
}
