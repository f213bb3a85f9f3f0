//! Opens and closes the listening sockets, hands on what they hear, and follows floods.

use std::time::Duration;

use nicteam_dataplane::Kind as Dataplane;
use nicteam_sys::listen::{Kind, Listener, Protocols, Tap};
use nicteam_sys::{random, sched};
use nicteam_team::{Listen, MemberId, Traffic};

use super::Shell;
use super::listeners::{Heard, Listeners, Open, limits, words};
use crate::Happened;
use crate::first_error::FirstError;
use crate::flood::WINDOW;

/// The most frames taken from a socket before the rest of the team has its turn.
const AT_ONCE: usize = 64;
/// So long the probes that leave carry the same mark. It has to be longer than a probe is waited for.
const MARK: Duration = Duration::from_secs(10);

impl Shell {
    /// Opens and closes sockets, so that the members hear what the team wants.
    /// One that cannot be opened is tried again when the team wants something else.
    pub(super) fn adjust_listeners(&mut self) {
        let wanted = self.team.listens();
        if wanted != self.listeners.wanted {
            self.listeners.wanted = wanted;
            self.listeners.open.clear();
            self.listeners.heard.clear();
            // Another discovery may begin, which knows none.
            self.listeners.marks.clear();
        }
        let is_member =
            |id: MemberId, index: u32| self.members.iter().any(|m| (m.port.id, m.port.index) == (id, index));
        self.listeners.open.retain(|open| is_member(open.member, open.index));
        let Listeners { open, heard, .. } = &mut self.listeners;
        let is_open = |id: MemberId| open.iter().any(|open| open.member == id);
        heard.retain(|&(member, _), _| is_open(member));
        if wanted == Listen::default() {
            return;
        }
        let ports = self.members.iter().map(|member| (member.port.id, member.port.index));
        let new: Vec<(MemberId, u32)> = ports.filter(|port| !is_open(port.0)).collect();
        self.mark_probes();
        if !new.is_empty() {
            self.listen_on(&new);
        }
    }

    /// Opens the sockets of new members.
    fn listen_on(&mut self, new: &[(MemberId, u32)]) {
        let Listen { slow, hellos, arp, neighbours, pagp } = self.listeners.wanted;
        let kinds = Protocols { slow, hellos, arp, neighbours, pagp }.kinds();
        // Echoes are not to wait, or be lost, behind others. eBPF lets them pass to where no other frame is seen. And PAgP,
        // so that no other frame pays for its being listened to.
        let (echo, pagp) = match self.kind() {
            Dataplane::Bpf => (Tap::Hellos, Tap::Llc),
            Dataplane::Packet => (Tap::Ahead, Tap::Ahead),
        };
        let apart = |kind: Kind| kinds.iter().copied().filter(move |of| *of == kind).collect::<Vec<_>>();
        let others = kinds.iter().copied().filter(|kind| ![Kind::Echo, Kind::Pagp].contains(kind)).collect();
        let sockets = [(others, Tap::Ahead), (apart(Kind::Echo), echo), (apart(Kind::Pagp), pagp)];
        let (now, count) = (self.clock.now(), self.members.len());
        let mut first = FirstError::default();
        for &(member, index) in new {
            for (kinds, tap) in sockets.iter().filter(|(kinds, _)| !kinds.is_empty()) {
                let listener = Listener::open(index, *tap, &self.listeners.rules(member, kinds));
                let listener = listener.map_err(|error| first.note(Err(error))).ok();
                self.listeners.open.push(Open { member, index, kinds: kinds.clone(), listener });
            }
            for &kind in &kinds {
                self.listeners.heard.insert((member, kind), Heard::new(kind, count, now));
            }
        }
        for ((_, kind), heard) in &mut self.listeners.heard {
            let [known, others] = limits(*kind, count);
            heard.known.set_limit(known);
            heard.others.set_limit(others);
        }
        self.tell(first.result());
    }

    /// Gives the probes another mark from time to time, so that echoes that somebody heard
    /// and sends again are not even read.
    fn mark_probes(&mut self) {
        let now = self.clock.now();
        let is_due = self.listeners.marks.is_empty() || now.since(self.listeners.marked) >= MARK;
        if !self.listeners.wanted.hellos || !is_due {
            return;
        }
        let mark = match random::number() {
            // The upper half; a mark is any number.
            Ok(number) => (number >> 32) as u32,
            Err(error) => return self.tell(Err(error)),
        };
        let last = self.listeners.marks.last().copied();
        self.listeners.marks = last.into_iter().chain([mark]).collect();
        self.listeners.marked = now;
        // First the echo has to be heard, then the probe may leave.
        let set = self.listeners.set_rules(None);
        self.tell(set);
        self.team.mark_probes(mark);
    }

    /// Hands on what the members have heard.
    pub(super) fn hear(&mut self) {
        let mut listeners = std::mem::take(&mut self.listeners);
        let mut any = false;
        let readable = std::mem::take(&mut listeners.readable);
        let open = listeners.open.iter().filter_map(|open| Some((open.member, open.listener.as_ref()?)));
        for (member, listener) in open.zip(readable).filter_map(|(open, readable)| readable.then_some(open)) {
            for _ in 0..AT_ONCE {
                match listener.receive(&mut listeners.frame) {
                    Ok(true) => {
                        any = true;
                        let now = self.clock.now();
                        let heard =
                            Kind::of(&listeners.frame).and_then(|kind| listeners.heard.get_mut(&(member, kind)));
                        if heard.is_some_and(|heard| heard.admit(&listeners.frame, now)) {
                            self.team.handle_frame(member, &listeners.frame, now);
                            self.drain();
                        }
                    }
                    Ok(false) => break,
                    Err(error) => {
                        self.tell(Err(error));
                        break;
                    }
                }
            }
        }
        self.listeners = listeners;
        if any || self.listeners.look_at.is_some_and(|at| at <= self.clock.now()) {
            self.follow_floods();
        }
    }

    /// Lets the kernel drop what is too much, and gives way to others while there is such.
    fn follow_floods(&mut self) {
        let now = self.clock.now();
        let adapted: Vec<(MemberId, Kind)> =
            self.listeners.heard.iter_mut().filter_map(|(key, heard)| heard.adapt(now).then_some(*key)).collect();
        for (member, kind) in adapted {
            self.count_lost(member, kind);
            let set = self.listeners.set_rules(Some(member));
            self.tell(set);
        }
        let mut changed = Vec::new();
        for (&(member, kind), heard) in &mut self.listeners.heard {
            let flooded = heard.is_flooded(now);
            if std::mem::replace(&mut heard.flooded, flooded) != flooded {
                heard.sources.forget_new();
                changed.push((member, kind, flooded));
            }
        }
        for (member, kind, begins) in changed {
            self.note(Happened::Flood { member: self.name_of(member), kind: words(kind).to_owned(), begins });
        }
        let flooded = self.listeners.heard.values().any(|heard| heard.flooded);
        self.listeners.look_at = flooded.then(|| now + WINDOW);
        if std::mem::replace(&mut self.listeners.flooded, flooded) != flooded && self.listeners.runs_first {
            let set = if flooded { sched::run_as_others() } else { sched::run_first() };
            self.tell(set);
        }
    }

    /// Counts what the socket of a kind had no room for.
    fn count_lost(&mut self, member: MemberId, kind: Kind) {
        let socket = self.listeners.open.iter().find(|open| open.member == member && open.kinds.contains(&kind));
        let lost = socket.and_then(|open| open.listener.as_ref()).map_or(Ok(0), Listener::take_lost);
        match lost {
            Ok(lost) => {
                if let Some(heard) = self.listeners.heard.get_mut(&(member, kind)) {
                    heard.others.add_dropped(lost);
                }
            }
            Err(error) => self.tell(Err(error)),
        }
    }

    /// Tells the team what each member carried, standby members included.
    pub(super) fn read_traffic(&mut self) {
        let counters = match self.dataplane.counters() {
            Ok(counters) => counters,
            Err(error) => {
                self.tell(Err(error));
                Vec::new()
            }
        };
        let traffic: Vec<(MemberId, Traffic)> = counters
            .into_iter()
            .map(|(id, of)| (id, Traffic { tx_frames: of.tx_frames, rx_frames: of.rx_frames + of.rx_drops }))
            .collect();
        self.team.handle_traffic(&traffic, self.clock.now());
        self.drain();
    }
}
