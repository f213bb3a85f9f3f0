//! A host whose team is checked after every change: the node of these tests.

use std::collections::BTreeMap;

use nicteam_simnet::{Bytes, Host, Member, Node, Reading};
use nicteam_team::replay::Recorded;
use nicteam_team::{Effect, Event, MemberId, MemberLink, Time, Traffic};
use nicteam_wire::Mac;

use crate::control::checks;
use crate::control::world::{Cause, Seen, member_mac};

/// A host, and what the checks are to know of it.
#[derive(Clone)]
pub struct Shell {
    pub host: Host,
    /// What the team was told: since when each link has been as it is.
    pub told: BTreeMap<MemberId, Vec<(Time, bool)>>,
    /// Rounds of announcements since the active member changed.
    pub transmitted: usize,
    /// It does not look at its clock.
    pub is_stalled: bool,
}

impl Shell {
    pub fn new(team: impl Into<Recorded>, mac: Mac) -> Shell {
        let mut host = Host::new(team, mac);
        host.is_logged = true;
        Shell { host, told: BTreeMap::new(), transmitted: 0, is_stalled: false }
    }

    pub fn join(&mut self, name: &str, link: MemberLink, now: Time) -> MemberId {
        let before = Seen::of(&self.host.team);
        let id = self.host.team.add_member(name, link, now).unwrap();
        self.host.members.insert(id, Member { link, mac: None, traffic: Traffic::default() });
        self.told.insert(id, vec![(now, link.carrier)]);
        self.settle(Cause::Join, &before, now);
        if self.host.team.config().mode.balances_load() {
            self.change(Cause::Join, now, |team| team.handle_member_mac(id, member_mac(id.index())));
        }
        id
    }

    pub fn leave(&mut self, id: MemberId, now: Time) {
        let before = Seen::of(&self.host.team);
        self.host.team.remove_member(id, now).unwrap();
        self.host.members.remove(&id);
        self.told.remove(&id);
        self.settle(Cause::Leave, &before, now);
    }

    pub fn change<R>(&mut self, cause: Cause, now: Time, change: impl FnOnce(&mut Recorded) -> R) -> R {
        let before = Seen::of(&self.host.team);
        let changed = change(&mut self.host.team);
        self.settle(cause, &before, now);
        changed
    }

    /// Tells the team what a member's link says.
    pub fn tell(&mut self, id: MemberId, now: Time) {
        let link = self.host.members[&id].link;
        self.note_told(id, now);
        self.change(Cause::Link, now, |team| team.handle_links(&[(id, link)], now)).unwrap();
    }

    pub fn timeout(&mut self, now: Time) {
        let before = Seen::of(&self.host.team);
        self.host.team.handle_timeout(now);
        checks::deadlines_are_ahead(&self.host.team, now);
        self.settle(Cause::Timeout, &before, now);
    }

    fn note_told(&mut self, id: MemberId, now: Time) {
        let carrier = self.host.members[&id].link.carrier;
        self.told.get_mut(&id).unwrap().push((now, carrier));
    }

    /// Does what the team wants, answers what it asks, and checks everything after each.
    fn settle(&mut self, cause: Cause, before: &Seen, now: Time) {
        self.drain(cause, before, now);
        while let Some(reading) = self.host.asks() {
            let before = Seen::of(&self.host.team);
            self.host.answer(now);
            if reading == Reading::Links {
                let members: Vec<MemberId> = self.host.members.keys().copied().collect();
                members.into_iter().for_each(|id| self.note_told(id, now));
            }
            self.drain(if reading == Reading::Links { Cause::Link } else { Cause::Timeout }, &before, now);
        }
    }

    fn drain(&mut self, cause: Cause, before: &Seen, now: Time) {
        let Shell { host, transmitted, .. } = self;
        let mut effects = Vec::new();
        host.drain(now, |host, effect| {
            match effect {
                Effect::Apply(plan) => checks::plan_follows(&host.plan, plan),
                Effect::SetCarrier(carrier) => {
                    assert_ne!(*carrier, host.carrier, "a carrier that was shown already");
                }
                Effect::Transmit { member, .. } => {
                    checks::sent_by_one_who_may(host, *member);
                    *transmitted += 1;
                }
                Effect::Event(Event::Active { .. }) => *transmitted = 0,
                _ => {}
            }
            effects.push(effect.clone());
        });
        checks::all(self, cause, before, &effects);
    }
}

impl Node for Shell {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        let id = MemberId::new(port).unwrap();
        self.change(Cause::Frame, now, |team| team.handle_frame(id, frame, now));
    }

    fn handle_timeout(&mut self, now: Time) {
        self.timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.host.poll_timeout().filter(|_| !self.is_stalled)
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.host.poll_transmit()
    }
}
