//! A host of the virtual lab: a team, its dataplane, and what is planted in it.

use std::collections::VecDeque;

use nicteam_simnet::{Bytes, Host, Node, OneOf, Switch};
use nicteam_team::{Action, MemberId, Team, Time, Verdict};
use nicteam_wire::{Frame, ethertype};

use crate::defects::{Defect, Planted};
use crate::lab::own_mac;

/// The length of a probe, and where its flow and its number stand.
pub(crate) const PROBE: usize = 60;
const FLOW: usize = 35;
const NUMBER: usize = 42;

/// A probe that arrived: when, of which flow, with which number.
pub(crate) type Heard = (Time, u8, u32);

/// A host.
#[derive(Clone)]
pub(crate) struct Machine {
    pub host: Host,
    /// The process carries the frames, as with packet sockets; else the kernel does, as with eBPF.
    by_process: bool,
    is_stopped: bool,
    /// Members have the team's address, and frames of some their own.
    pub has_own_in_frames: bool,
    /// Probes since they were last taken.
    pub heard: Vec<Heard>,
    planted: Option<Planted>,
    leaving: VecDeque<(usize, Bytes)>,
}

impl Machine {
    pub(crate) fn new(host: Host, by_process: bool, defect: Option<Defect>) -> Machine {
        let (planted, heard, leaving) = (defect.map(Planted::new), Vec::new(), VecDeque::new());
        Machine { host, by_process, is_stopped: false, has_own_in_frames: false, heard, planted, leaving }
    }

    /// The stack sends a probe.
    pub(crate) fn transmit(&mut self, frame: &[u8], now: Time) {
        if self.is_stopped && self.by_process {
            return;
        }
        let action = self.host.transmit(frame, now);
        // The dataplane notes that the peer has traffic, so that its paths are probed often.
        if let Action::Stripe { dst, .. } = action {
            self.host.notes.sent(dst);
        }
        if let (Some(planted), Action::Send(members)) = (&self.planted, &action) {
            let carries = |id: &&MemberId| !members.iter().any(|sends| sends == **id);
            let other = self.host.members.keys().find(carries).filter(|_| planted.sends_twice());
            self.leaving.extend(other.map(|id| (id.index(), Bytes::from(frame))));
        }
    }

    /// The process is stopped.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
        self.host.stall();
    }

    /// The process continues.
    pub(crate) fn resume(&mut self, now: Time) {
        self.is_stopped = false;
        self.planted.iter_mut().for_each(|planted| planted.stops += 1);
        self.host.resume(now);
    }

    /// A process with this team takes the place of the one that is stopped.
    pub(crate) fn restart(&mut self, team: Team, now: Time) {
        self.is_stopped = false;
        self.host.restart(team, now).unwrap();
        self.tell_macs(now);
        self.host.resume(now);
        let last = self.host.members.keys().last().copied().filter(|_| self.host.members.len() > 1);
        if let Some(last) = last.filter(|_| self.planted.as_ref().is_some_and(Planted::forgets_a_member)) {
            self.host.leave(last, now).unwrap();
        }
    }

    /// Tells the team its members' own addresses, where their devices do not have them.
    pub(crate) fn tell_macs(&mut self, now: Time) {
        let ids: Vec<MemberId> = self.host.members.keys().copied().filter(|_| self.has_own_in_frames).collect();
        for id in ids {
            let own = own_mac(self.host.mac, id.index());
            self.host.change(now, |team| team.handle_member_mac(id, own));
        }
    }

    /// Takes a probe if the plan gives it to the stack.
    fn hear(&mut self, port: usize, frame: &Frame<'_>, bytes: &[u8], now: Time) {
        let Some(id) = MemberId::new(port).filter(|_| bytes.len() == PROBE) else { return };
        let Some(member) = self.host.members.get(&id) else { return };
        let takes = member.mac.is_none_or(|mac| frame.dst() == mac);
        if takes && matches!(self.host.plan.receive(id, frame), Verdict::ToTeam | Verdict::ToTeamAs { .. }) {
            self.host.notes.heard(id, frame.src());
            let number = u32::from_be_bytes(bytes[NUMBER..NUMBER + 4].try_into().unwrap());
            self.heard.push((now, bytes[FLOW], number));
        }
    }

    fn after(&mut self, now: Time) {
        if let Some(planted) = &mut self.planted {
            planted.after(&mut self.host, now);
        }
    }
}

impl Node for Machine {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        if self.is_stopped && self.by_process {
            return;
        }
        let frame = self.planted.as_mut().map_or(frame.clone(), |planted| planted.received(port, frame));
        let Ok(view) = Frame::parse(&frame) else { return };
        if view.ethertype() == ethertype::IPV4 {
            self.hear(port, &view, &frame, now);
        }
        self.host.handle_frame(port, &frame, now);
        self.after(now);
    }

    fn handle_carrier(&mut self, port: usize, carrier: bool, now: Time) {
        if self.planted.as_mut().is_none_or(|planted| planted.sees_carrier(port, carrier)) {
            self.host.handle_carrier(port, carrier, now);
            self.after(now);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some(planted) = &self.planted {
            for (port, frame) in planted.heard_again() {
                self.host.handle_frame(port, &frame, now);
            }
        }
        self.host.handle_timeout(now);
        self.after(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.host.poll_timeout().filter(|_| self.planted.as_ref().is_none_or(Planted::has_timers))
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        if let Some(leaves) = self.leaving.pop_front() {
            return Some(leaves);
        }
        let leaves = self.host.poll_transmit()?;
        let Some(planted) = &mut self.planted else { return Some(leaves) };
        let is_probe = Frame::parse(&leaves.1).is_ok_and(|frame| frame.ethertype() == ethertype::IPV4);
        if !is_probe || !planted.reorders() {
            return Some(leaves);
        }
        match planted.held.take() {
            Some(held) => self.leaving.push_back(held),
            None => {
                planted.held = Some(leaves);
                return self.poll_transmit();
            }
        }
        Some(leaves)
    }
}

/// What stands in the virtual lab.
#[derive(Clone)]
pub(crate) enum Station {
    Machine(Box<Machine>),
    Switch(Switch),
}

impl OneOf for Station {
    fn one(&self) -> &dyn Node {
        match self {
            Station::Machine(machine) => &**machine,
            Station::Switch(switch) => switch,
        }
    }

    fn one_mut(&mut self) -> &mut dyn Node {
        match self {
            Station::Machine(machine) => &mut **machine,
            Station::Switch(switch) => switch,
        }
    }
}

impl Station {
    pub(crate) fn machine(&mut self) -> &mut Machine {
        let Station::Machine(machine) = self else { panic!("no host") };
        machine
    }
}

/// A frame of this flow and number from one address to another: IPv4, UDP.
pub(crate) fn probe(from: usize, macs: [nicteam_wire::Mac; 2], flow: u8, number: u32) -> [u8; PROBE] {
    let to = 1 - from;
    let mut frame: Vec<u8> = [&macs[to].0[..], &macs[from].0, &[0x08, 0x00]].concat();
    frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1 + from as u8, 10, 0, 0, 1 + to as u8]);
    frame.extend([0x9c, flow, 0x9c, 0x40, 0, 26, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(PROBE, 0);
    frame.try_into().unwrap()
}
