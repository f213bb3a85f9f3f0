//! All neighbours, found by what is asked for: an address, or when something is due.
//!
//! Code changes a neighbour by [`Neighbours::with`] alone, which keeps the indexes and sums. So the cost of a hello or
//! a timer depends on the neighbours that it concerns, however many are known.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use nicteam_machine::{Time, state};
use nicteam_wire::Mac;

use super::neighbour::Neighbour;
use super::pace::{Load, Wanted};

/// All that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    known: BTreeMap<u64, Known>,
    /// Whose each announced address is.
    addresses: BTreeSet<(Mac, u64)>,
    /// When something is to be done about each.
    due: BTreeSet<(Time, u64)>,
    /// Those of which nothing proves that they are there, and since when.
    unproven: BTreeSet<(Time, Reverse<u64>)>,
    /// Those with traffic whose paths are proven.
    busy: BTreeSet<u64>,
    /// Those of which something is to be known soon.
    trials: BTreeSet<u64>,
    /// Those among them that were none when [`Neighbours::take_pressing`] was called last.
    pressing: BTreeSet<u64>,
    /// Those that share links with others, as far as is known.
    sharing: BTreeSet<u64>,
    load: Load,
    /// Those that are not known any more.
    removed: Vec<u64>,
}

state!(struct Neighbours { known, addresses, due, unproven, busy, trials, pressing, sharing, load, removed });

#[derive(Clone, Debug)]
struct Known {
    neighbour: Neighbour,
    noted: Noted,
}

state!(struct Known { neighbour, noted });

/// What the indexes and sums have of a neighbour.
#[derive(Clone, Debug, Default)]
struct Noted {
    addresses: Vec<Mac>,
    due: Option<Time>,
    unproven: Option<Time>,
    wanted: Option<Wanted>,
    shares: bool,
    load: Load,
}

state!(struct Noted { addresses, due, unproven, wanted, shares, load });

impl Neighbours {
    /// How many.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn contains(&self, system: u64) -> bool {
        self.known.contains_key(&system)
    }

    pub(super) fn get(&self, system: u64) -> Option<&Neighbour> {
        self.known.get(&system).map(|known| &known.neighbour)
    }

    /// All, by system.
    pub(super) fn all(&self) -> impl Iterator<Item = &Neighbour> {
        self.known.values().map(|known| &known.neighbour)
    }

    /// The systems of all.
    pub(super) fn systems(&self) -> Vec<u64> {
        self.known.keys().copied().collect()
    }

    /// Those that announced this address, their team's or a member's.
    pub(super) fn with_address(&self, mac: Mac) -> impl Iterator<Item = &Neighbour> {
        self.addresses.range((mac, 0)..=(mac, u64::MAX)).filter_map(|(_, system)| self.get(*system))
    }

    /// How many of them are unproven.
    pub(super) fn unproven(&self) -> usize {
        self.unproven.len()
    }

    /// The one that is unproven for the longest time, and since when.
    pub(super) fn longest_unproven(&self) -> Option<(Time, u64)> {
        self.unproven.first().map(|(since, Reverse(system))| (*since, *system))
    }

    /// How many have traffic, and paths that are proven.
    pub(super) fn rivals(&self) -> usize {
        self.busy.len()
    }

    /// The same, by system.
    pub(super) fn busy(&self) -> Vec<u64> {
        self.busy.iter().copied().collect()
    }

    /// Those of which something is to be known soon.
    pub(super) fn trials(&self) -> Vec<u64> {
        self.trials.iter().copied().collect()
    }

    /// True if there are any.
    pub(super) fn tries_any(&self) -> bool {
        !self.trials.is_empty()
    }

    /// The same, since the last call.
    pub(super) fn take_pressing(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.pressing).into_iter().collect()
    }

    /// Those with traffic, and those that are taken to share links with others.
    pub(super) fn sharing(&self) -> Vec<u64> {
        self.sharing.iter().copied().collect()
    }

    /// Those about which something is to be done by now.
    pub(super) fn due(&self, now: Time) -> Vec<u64> {
        self.due.range(..=(now, u64::MAX)).map(|(_, system)| *system).collect()
    }

    /// The paths that are to be probed.
    pub(super) fn load(&self) -> Load {
        self.load
    }

    /// A new one.
    pub(super) fn insert(&mut self, neighbour: Neighbour, now: Time) {
        let system = neighbour.system;
        self.remove(system);
        self.known.insert(system, Known { neighbour, noted: Noted::default() });
        self.note(system, now);
    }

    /// Changes one, or asks what time made of it.
    pub(super) fn with<R>(&mut self, system: u64, now: Time, change: impl FnOnce(&mut Neighbour) -> R) -> Option<R> {
        let result = change(&mut self.known.get_mut(&system)?.neighbour);
        self.note(system, now);
        Some(result)
    }

    /// Forgets one.
    pub(super) fn remove(&mut self, system: u64) {
        if let Some(Known { noted, .. }) = self.known.remove(&system) {
            self.forget(system, &noted);
            noted.addresses.iter().for_each(|mac| {
                self.addresses.remove(&(*mac, system));
            });
            self.removed.push(system);
        }
    }

    /// Those that were forgotten since the last call, and are not known again.
    pub(super) fn take_removed(&mut self) -> Vec<u64> {
        let mut removed = std::mem::take(&mut self.removed);
        removed.retain(|system| !self.contains(*system));
        removed
    }

    /// Makes the indexes and sums follow from a neighbour as it is.
    fn note(&mut self, system: u64, now: Time) {
        let Some(Known { neighbour, noted }) = self.known.get_mut(&system) else { return };
        let wanted = neighbour.wanted(now);
        let new = Noted {
            addresses: std::mem::take(&mut noted.addresses),
            due: neighbour.due(now),
            unproven: neighbour.unproven_since(now),
            wanted: Some(wanted),
            shares: neighbour.is_in_use(now) || neighbour.shares(),
            load: neighbour.load(now),
        };
        let before = std::mem::replace(noted, new.clone());
        if !new.addresses.iter().copied().eq(neighbour.addresses()) {
            let named: Vec<Mac> = neighbour.addresses().collect();
            new.addresses.iter().for_each(|mac| {
                self.addresses.remove(&(*mac, system));
            });
            self.addresses.extend(named.iter().map(|mac| (*mac, system)));
            noted.addresses = named;
        }
        let was_pressing = before.wanted == Some(Wanted::Trial);
        let presses = wanted == Wanted::Trial && (!was_pressing || self.pressing.contains(&system));
        self.forget(system, &before);
        self.due.extend(new.due.map(|at| (at, system)));
        self.unproven.extend(new.unproven.map(|since| (since, Reverse(system))));
        self.busy.extend((wanted == Wanted::Busy).then_some(system));
        self.trials.extend((wanted == Wanted::Trial).then_some(system));
        self.pressing.extend(presses.then_some(system));
        self.sharing.extend(new.shares.then_some(system));
        self.load = self.load.plus(new.load);
    }

    /// Takes one out of all but the addresses.
    fn forget(&mut self, system: u64, noted: &Noted) {
        if let Some(at) = noted.due {
            self.due.remove(&(at, system));
        }
        if let Some(since) = noted.unproven {
            self.unproven.remove(&(since, Reverse(system)));
        }
        self.busy.remove(&system);
        self.trials.remove(&system);
        self.pressing.remove(&system);
        self.sharing.remove(&system);
        self.load = self.load.minus(noted.load);
    }
}

#[cfg(test)]
mod tests {
    use super::super::own::Own;
    use super::*;
    use nicteam_machine::MemberId;
    use nicteam_wire::{Hello, HelloKind, HelloMember};
    use std::time::Duration;

    const MEMBERS: u8 = 3;

    fn mac(team: u64, place: u8) -> Mac {
        Mac([2, 0, 0, 0, team as u8, place])
    }

    fn hello(system: u64, team: u64, sequence: u32) -> Hello {
        let member = |place| HelloMember { place, usable: true, mac: mac(team, place), rate_mbps: 1000 };
        Hello {
            kind: HelloKind::Announce,
            system,
            sequence,
            team: mac(team, 0),
            place: 0,
            stamp: 0,
            next_ms: 1000,
            takes_rtags: true,
            rivals: 0,
            members: (0..MEMBERS).map(member).collect(),
        }
    }

    /// What the indexes and sums should be, gone over anew.
    fn assert_consistent(of: &Neighbours, now: Time) {
        let loads = of.all().map(|neighbour| neighbour.load(now)).fold(Load::default(), Load::plus);
        assert_eq!(of.load(), loads);
        let named: BTreeSet<(Mac, u64)> =
            of.all().flat_map(|own| own.addresses().map(move |mac| (mac, own.system))).collect();
        assert_eq!(of.addresses, named);
        let is_wanted = |wanted| move |own: &&Neighbour| own.wanted(now) == wanted;
        assert_eq!(of.rivals(), of.all().filter(is_wanted(Wanted::Busy)).count());
        assert_eq!(of.trials().len(), of.all().filter(is_wanted(Wanted::Trial)).count());
        assert_eq!(of.unproven(), of.all().filter(|own| own.unproven_since(now).is_some()).count());
        assert_eq!(of.due.len(), of.all().filter(|own| own.due(now).is_some()).count());
        assert_eq!(
            of.sharing(),
            of.all().filter(|own| own.is_in_use(now) || own.shares()).map(|own| own.system).collect::<Vec<_>>()
        );
    }

    #[test]
    fn indexes_and_sums_follow_what_becomes_of_a_neighbour() {
        let (mut of, mut now) = (Neighbours::default(), Time::from_millis(1000));
        let own: Vec<Own> = (0..MEMBERS)
            .map(|place| Own {
                id: MemberId::new(place.into()).unwrap(),
                mac: mac(99, place),
                rate_mbps: 1000,
                usable: true,
            })
            .collect();
        let (mut random, mut seen) = (1, [false; 3]);
        for step in 0..4000 {
            now = now + Duration::from_millis(20);
            let random = nicteam_machine::split_mix(&mut random);
            let (system, place) = (random % 12, (random >> 8) as u8 % MEMBERS);
            let member = own[place as usize].id;
            match random >> 16 & 15 {
                0 => of.insert(Neighbour::new(&hello(system, system, step), now), now),
                1 => of.remove(system),
                2 => drop(of.with(system, now, |own| own.read(&hello(system, system + 1, step), now))),
                3..=5 => drop(of.with(system, now, |own| own.hear(member, place, now))),
                6..=7 => drop(of.with(system, now, |neighbour| neighbour.choose_paths(&own, now))),
                8 => drop(of.with(system, now, |own| own.has_traffic(now))),
                9 => drop(of.with(system, now, |own| own.share(3, now))),
                10 => drop(of.with(system, now, |own| own.judge(Duration::from_millis(5), now))),
                11 => drop(of.with(system, now, |own| own.take_echo(member, place, u64::from(place), now))),
                _ => drop(of.with(system, now, |own| {
                    let mut stamp = 0;
                    let next = || {
                        stamp += 1;
                        stamp - 1
                    };
                    own.probe(super::super::pace::Paces::default(), next, now).len()
                })),
            }
            // What time alone brings.
            for system in of.due(now) {
                if of.with(system, now, |own| own.is_heard(now)) == Some(false) {
                    of.remove(system);
                }
            }
            assert_consistent(&of, now);
            let proven = of.unproven() < of.len();
            seen = [seen[0] | (of.rivals() > 0), seen[1] | of.tries_any(), seen[2] | proven];
        }
        assert_eq!(seen, [true; 3], "some had traffic, some were tried, some answered");
        of.systems().into_iter().for_each(|system| of.remove(system));
        assert!(of.is_empty() && of.addresses.is_empty() && of.due.is_empty() && of.unproven.is_empty());
        assert_eq!(of.load(), Load::default());
        assert!(!of.take_removed().is_empty());
    }
}
