//! What discovery sends: announcements, and the probes that are due.

use std::time::Duration;

use nicteam_machine::{MemberId, Time, split_mix};
use nicteam_wire::{Hello, HelloKind, HelloMember, Mac};

use super::discovery::{Discovery, LOOK};
use super::pace::{Paces, RETRY, Wanted};

impl Discovery {
    /// Announces the team by every member that can send.
    pub(super) fn announce(&mut self, now: Time) {
        let members = self.own.iter().map(|own| HelloMember {
            place: own.id.index() as u8,
            usable: own.usable,
            rate_mbps: own.rate_mbps,
            mac: own.mac,
        });
        let members: Vec<HelloMember> = members.collect();
        let next = self.announcing.announced(self.neighbours.len(), now);
        let next_ms = u32::try_from(next.as_millis()).unwrap_or(u32::MAX);
        let rivals = self.rivals();
        for own in self.senders() {
            let hello = self.hello(HelloKind::Announce, own.id, if self.has_key() { self.lost_tokens } else { 0 });
            self.say(own.id, Hello::GROUP, Hello { next_ms, rivals, members: members.clone(), ..hello });
        }
    }

    /// How many teams we have traffic with.
    pub(super) fn rivals(&self) -> u8 {
        u8::try_from(self.neighbours.rivals()).unwrap_or(u8::MAX).min(Hello::MAX_RIVALS)
    }

    /// Gives up the paths that are dead, and sends the probes that are due.
    pub(super) fn probe(&mut self, now: Time) {
        let before = self.paces;
        for system in self.neighbours.due(now) {
            let dead = self.neighbours.with(system, now, |of| {
                let interval = before.quick(of.wanted(now));
                of.judge(interval, now + RETRY).then_some(of.is_in_use(now))
            });
            let Some(is_in_use) = dead.flatten() else { continue };
            match is_in_use {
                true => self.change_at_once(now),
                false => self.change(now),
            }
            self.follow(system, now);
        }
        self.share(now);
        self.paces = Paces::of(self.neighbours.load(), self.interval);
        let mut pressing = self.neighbours.take_pressing();
        if self.paces.trial < before.trial / 2 {
            // There were many, and those that are left need not wait as long.
            pressing = self.neighbours.trials();
        }
        self.send_probes(now);
        self.hasten(self.neighbours.busy(), now);
        self.hasten(pressing, now);
        let busy = (self.neighbours.rivals() > 0).then_some(self.paces.busy);
        let trial = self.neighbours.tries_any().then_some(self.paces.trial);
        let next = [busy, trial].into_iter().flatten().fold(LOOK, Duration::min);
        self.look_at = (!self.neighbours.is_empty()).then(|| now + next);
    }

    /// Notes for each neighbour with traffic how many share its links and ours.
    fn share(&mut self, now: Time) {
        self.in_use = self.rivals();
        let in_use = self.in_use;
        for system in self.neighbours.sharing() {
            if self.neighbours.with(system, now, |of| of.share(in_use, now)) == Some(true) {
                self.plans.soon(now);
            }
        }
    }

    /// Sends the probes that are due.
    fn send_probes(&mut self, now: Time) {
        let (paces, mark, mut probes) = (self.paces, self.mark, Vec::new());
        let mut due = self.neighbours.due(now);
        due.sort_unstable();
        for system in due {
            let (random, stamps, derived) = (&mut self.random, &mut self.stamps, &mut self.auth.derived);
            self.neighbours.with(system, now, |neighbour| {
                let (wanted, regular) = (neighbour.wanted(now), neighbour.probe_at <= now);
                probes.extend(neighbour.probe(paces, || derived.number(|| marked(stamps.next(), mark)), now));
                if regular {
                    let idle = paces.idle_at(split_mix(random));
                    neighbour.probe_at = now + if wanted == Wanted::Idle { idle } else { paces.quick(wanted) };
                }
            });
        }
        for probe in probes {
            let hello = self.hello(HelloKind::Probe, probe.member, probe.stamp);
            self.say(probe.member, probe.to, hello);
        }
    }

    /// Probes these no later than their pace says.
    fn hasten(&mut self, systems: Vec<u64>, now: Time) {
        let paces = self.paces;
        for system in systems {
            self.neighbours.with(system, now, |of| {
                let wanted = of.wanted(now);
                if wanted != Wanted::Idle {
                    of.probe_at = of.probe_at.min(now + paces.quick(wanted));
                }
            });
        }
    }

    pub(super) fn hello(&mut self, kind: HelloKind, member: MemberId, stamp: u64) -> Hello {
        self.sequence = self.sequence.wrapping_add(1);
        let (system, sequence, team) = (self.system, self.sequence, self.team);
        let place = member.index() as u8;
        let (takes_rtags, members) = (true, Vec::new());
        Hello { kind, system, sequence, team, place, stamp, next_ms: 0, takes_rtags, rivals: 0, members }
    }

    pub(super) fn say(&mut self, member: MemberId, dst: Mac, hello: Hello) {
        if let Some(own) = self.own.iter().find(|own| own.id == member) {
            self.outbox.push((member, Hello::frame_of(&self.auth.seal(&hello), dst, own.mac)));
        }
    }
}

/// A stamp that begins with the mark.
fn marked(stamp: u64, mark: Option<u32>) -> u64 {
    mark.map_or(stamp, |mark| u64::from(mark) << 32 | stamp & u64::from(u32::MAX))
}
