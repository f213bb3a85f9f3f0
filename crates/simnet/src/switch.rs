//! A switch.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nicteam_team::Time;
use nicteam_wire::{Frame, Mac};

use crate::{Bytes, Node};

/// An Ethernet switch: it forwards a frame to the port where the destination's
/// address is, and to all others where it does not know it. It holds nothing back.
#[derive(Clone, Debug)]
pub struct Switch {
    ports: usize,
    learns: bool,
    learned: BTreeMap<Mac, usize>,
    assigned: BTreeMap<Mac, BTreeSet<usize>>,
    leaving: VecDeque<(usize, Bytes)>,
}

impl Switch {
    /// A switch with so many ports. It learns where addresses are from what is sent.
    pub fn new(ports: usize) -> Switch {
        Switch { learns: true, ..Switch::fixed(ports) }
    }

    /// A switch that knows the addresses that it is told alone, so nobody can take another's by sending from it.
    pub fn fixed(ports: usize) -> Switch {
        let (learned, assigned, leaving) = Default::default();
        Switch { ports, learns: false, learned, assigned, leaving }
    }

    /// One more port; its number.
    pub fn add_port(&mut self) -> usize {
        self.ports += 1;
        self.ports - 1
    }

    /// An address is at this port, too.
    pub fn assign(&mut self, address: Mac, port: usize) {
        self.assigned.entry(address).or_default().insert(port);
    }

    /// Where an address was last sent from.
    pub fn learned(&self, address: Mac) -> Option<usize> {
        self.learned.get(&address).copied()
    }

    fn forward(&mut self, from: usize, to: usize, frame: &Bytes) {
        if to != from {
            self.leaving.push_back((to, frame.clone()));
        }
    }
}

impl Node for Switch {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, _now: Time) {
        let Ok(view) = Frame::parse(frame) else { return };
        let dst = view.dst();
        if self.learns && !view.src().is_multicast() {
            self.learned.insert(view.src(), port);
        }
        if let Some(ports) = self.assigned.get(&dst).cloned() {
            ports.into_iter().for_each(|to| self.forward(port, to, frame));
        } else if let Some(to) = self.learned(dst) {
            self.forward(port, to, frame);
        } else {
            (0..self.ports).for_each(|to| self.forward(port, to, frame));
        }
    }

    fn handle_carrier(&mut self, port: usize, carrier: bool, _now: Time) {
        if !carrier {
            self.learned.retain(|_, at| *at != port);
        }
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.leaving.pop_front()
    }
}
