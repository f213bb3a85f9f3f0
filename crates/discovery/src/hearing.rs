//! Hellos that are believed: which neighbours they make known, and which neighbours are forgotten.

use std::collections::BTreeSet;

use nicteam_machine::{MemberId, Time};
use nicteam_wire::{Hello, HelloKind, Mac};

use super::auth::speaker;
use super::discovery::{Discovery, GIVEN_UP, MAX_NEIGHBOURS, TRIED, UNPROVEN};
use super::neighbour::{Echoed, Neighbour, News, patience};
use super::pace::{Paces, RETRY, Wanted};

impl Discovery {
    /// A hello that is to be believed.
    pub(super) fn handle_hello(&mut self, member: MemberId, src: Mac, hello: Hello, now: Time) {
        let is_ours = hello.system == self.system;
        match hello.kind {
            HelloKind::Announce if is_ours => {
                if let Some(speaker) = MemberId::new(hello.place.into()) {
                    self.segments.hear(member, speaker, now + patience(&hello));
                }
            }
            HelloKind::Announce if self.is_impossible(src, &hello, now) => {
                self.auth.refuse_impossible(member, src, now);
            }
            HelloKind::Announce => self.hear(member, hello, now),
            HelloKind::Echo if is_ours => self.take_echo(member, src, hello.stamp, now),
            // The dataplane sends probes back; the rest is judged before.
            HelloKind::Probe | HelloKind::Echo | HelloKind::Challenge | HelloKind::Answer => {}
        }
    }

    /// True of an announcement whose addresses cannot be its team's: they are ours, or another's that announced them
    /// not long ago, or none of them is its source. A team that was started anew has the addresses that it had.
    fn is_impossible(&self, src: Mac, hello: &Hello, now: Time) -> bool {
        let mut named = hello.members.iter().map(|member| member.mac).chain([hello.team]);
        let is_others = |of: &Neighbour| of.system != hello.system && of.team != hello.team && !of.is_overdue(now);
        let is_taken = |mac: Mac| self.is_ours(mac) || self.neighbours.with_address(mac).any(is_others);
        speaker(hello) != Some(src) || named.any(is_taken)
    }

    /// True of the team's address and of its members'.
    pub(super) fn is_ours(&self, mac: Mac) -> bool {
        mac == self.team || self.own.iter().any(|own| own.mac == mac)
    }

    /// A neighbour announces itself.
    fn hear(&mut self, member: MemberId, hello: Hello, now: Time) {
        let is_new = !self.neighbours.contains(hello.system);
        if is_new && !self.make_room(&hello, now) {
            self.overlooked += 1;
            return;
        }
        if is_new {
            self.neighbours.insert(Neighbour::new(&hello, now), now);
        }
        let in_use = self.in_use;
        let read = self.neighbours.with(hello.system, now, |neighbour| {
            if !neighbour.is_in_reach(hello.sequence, now) {
                return None;
            }
            let by_new = neighbour.hear(member, hello.place, now);
            let News { of_team, of_rivals } = neighbour.read(&hello, now);
            let has_traffic = neighbour.wanted(now) == Wanted::Busy;
            Some((by_new, of_team, has_traffic, of_rivals && neighbour.share(in_use, now)))
        });
        let Some((by_new, says_new, has_traffic, shares)) = read.flatten() else { return };
        if is_new || says_new {
            self.regroups = true;
            match has_traffic {
                true => self.plans.announced(now),
                false => self.plans.soon(now),
            }
            // So that it hears us as soon as we hear it, by members that are new, too.
            self.announcing.soon(self.neighbours.len(), now);
        } else if shares {
            self.plans.soon(now);
        }
        if by_new {
            self.segments.note_change();
        }
        if by_new || says_new {
            self.follow(hello.system, now);
        }
    }

    /// Makes room for a neighbour that is heard for the first time; false if there is none.
    fn make_room(&mut self, hello: &Hello, now: Time) -> bool {
        if !self.newcomers.take(now) {
            return false;
        }
        // One that was started anew is not the one that it was, nor is one whose addresses another one has now. Of one
        // that answers, probes are to say so first.
        let as_team = self.neighbours.with_address(hello.team).filter(|of| of.team == hello.team);
        let as_member = hello.members.iter().flat_map(|member| self.neighbours.with_address(member.mac));
        let told: Vec<u64> = as_team.chain(as_member).filter(|of| !of.is_proven(now)).map(|of| of.system).collect();
        told.into_iter().for_each(|system| self.neighbours.remove(system));
        if self.neighbours.len() < MAX_NEIGHBOURS {
            return true;
        }
        let longest = self.neighbours.longest_unproven().filter(|(since, _)| now.since(*since) >= TRIED);
        longest.map(|(_, system)| self.neighbours.remove(system)).is_some()
    }

    /// A probe of ours came back from this address.
    fn take_echo(&mut self, member: MemberId, src: Mac, stamp: u64, now: Time) {
        let (asked, paces): (Vec<u64>, Paces) =
            (self.neighbours.with_address(src).map(|of| of.system).collect(), self.paces);
        let echoed = asked.into_iter().find_map(|system| {
            let echoed = self.neighbours.with(system, now, |neighbour| {
                let (place, is_first) = (neighbour.place_of(src)?, !neighbour.was_proven());
                let echoed = neighbour.take_echo(member, place, stamp, now)?;
                // What came back by this path may say that another one is dead.
                let interval = paces.quick(neighbour.wanted(now));
                let dies = neighbour.judge(interval, now + RETRY);
                Some((system, echoed, dies, is_first, neighbour.is_in_use(now)))
            });
            echoed.flatten()
        });
        let Some((system, Echoed { starts, delays }, dies, is_first, is_in_use)) = echoed else { return };
        if is_first {
            self.replace_others(system);
        }
        if starts || dies {
            match is_in_use {
                true => self.change_at_once(now),
                false => self.change(now),
            }
            self.follow(system, now);
        } else if delays {
            self.plans.soon(now);
        }
    }

    /// A neighbour replaces those that had its addresses.
    fn replace_others(&mut self, system: u64) {
        let Some(neighbour) = self.neighbours.get(system) else { return };
        let alike = neighbour.addresses().flat_map(|mac| self.neighbours.with_address(mac)).map(|of| of.system);
        let others: BTreeSet<u64> = alike.filter(|other| *other != system).collect();
        others.into_iter().for_each(|other| self.neighbours.remove(other));
    }

    /// Forgets neighbours that were not heard for long, or are long unproven among many of that kind.
    pub(super) fn forget_silent(&mut self, now: Time) {
        let known = self.neighbours.len();
        for system in self.neighbours.due(now) {
            let heard = self.neighbours.with(system, now, |of| {
                let before = of.hearings();
                (of.is_heard(now), of.hearings() < before)
            });
            let Some((is_heard, is_less)) = heard else { continue };
            if is_less {
                self.segments.note_change();
            }
            if !is_heard {
                self.neighbours.remove(system);
            }
        }
        if self.neighbours.unproven() > UNPROVEN {
            while let Some((since, system)) = self.neighbours.longest_unproven()
                && now.since(since) >= GIVEN_UP
            {
                self.neighbours.remove(system);
                self.segments.note_change();
            }
        }
        self.neighbours.take_removed().into_iter().for_each(|system| self.auth.forget(system));
        if self.neighbours.len() < known {
            self.change(now);
        }
    }
}
