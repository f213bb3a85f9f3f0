//! One-sided striping, as far as events go: which members may send to hosts that do not stripe.
//!
//! A host that stripes proves its paths by echoes; these hosts know nothing of us. What tells of a path to them is what
//! they answer anyhow: ARP (`silent.rs`), and which member's segments TCP had to send again (`lossy.rs`). Both compare
//! members with each other, over the same host and at the same moment: what befalls all of them says nothing of one.

mod lossy;
mod pace;
mod silent;
mod status;

use nicteam_events::PlainEvent;
pub use status::{PlainHostStatus, PlainMemberStatus, PlainState, PlainStatus};

use std::borrow::Cow;
use std::net::Ipv4Addr;

use nicteam_machine::{MemberId, MemberSet, Time, state};
use nicteam_wire::{Arp, Frame, Mac, Vlan, ethertype};

use self::lossy::Lossy;
use self::pace::Pace;
use self::silent::Silent;
use super::balance::Balancer;
use super::{Effect, Event, Members, Team, active};
use crate::stripe::{Discovery, PlainReport};
use crate::{StripePlain, TimerReason};

/// What a team that stripes knows of hosts that do not.
#[derive(Clone, Debug, Default)]
pub(super) struct OneSided {
    /// The option, and at least two members.
    is_on: bool,
    /// What the dataplane said last.
    report: PlainReport,
    pace: Pace,
    silent: Silent,
    lossy: Lossy,
}

state!(struct OneSided { is_on, report, pace, silent, lossy });

/// What is known of hosts from what the stack says to them, and from their hellos.
struct Known<'a> {
    balancer: Option<&'a Balancer>,
    discovery: Option<&'a Discovery>,
}

impl Known<'_> {
    /// Where a host can be asked: its IPv4 addresses, each with the VLAN that it is in.
    fn places_of(&self, mac: Mac) -> Vec<(Ipv4Addr, Option<Vlan>)> {
        self.balancer.map(|balancer| balancer.places_of(mac)).unwrap_or_default()
    }

    /// True of a host that stripes, whether there is a path to it or not: it answers by any of its members to any of ours,
    /// and has probes of its own.
    fn stripes(&self, mac: Mac) -> bool {
        self.discovery.is_some_and(|discovery| discovery.is_neighbour(mac))
    }

    /// The hosts that the stack has spoken to since and that do not stripe, the last first.
    fn spoken_since(&self, since: Time) -> Vec<Mac> {
        let spoken = self.balancer.map(|balancer| balancer.spoken_since(since)).unwrap_or_default();
        spoken.into_iter().filter(|mac| !self.stripes(*mac)).collect()
    }
}

/// What follows from a report or a deadline.
#[derive(Debug, Default)]
struct Outcome {
    /// The dataplane is to be asked.
    asks: bool,
    /// To be sent, and by whom.
    frames: Vec<(MemberId, Vec<u8>)>,
    events: Vec<PlainEvent>,
}

impl OneSided {
    /// The members that can send, with their addresses.
    fn set_own(&mut self, kind: StripePlain, own: Vec<(MemberId, Mac)>, now: Time) -> Vec<PlainEvent> {
        let mut events = Vec::new();
        self.is_on = kind != StripePlain::Off && own.len() > 1;
        if self.is_on {
            self.pace.begin(now);
        } else {
            self.pace = Pace::default();
            self.report = PlainReport::default();
        }
        self.silent.set_own(if self.is_on { own } else { Vec::new() }, &mut events, now);
        self.lossy.retain(|id| self.silent.has(id));
        events
    }

    /// Members that no answer comes back by.
    pub(super) fn silent(&self) -> MemberSet {
        self.silent.members()
    }

    /// Those of them that may send to hosts that do not stripe: never none of some.
    pub(super) fn usable(&self, all: MemberSet) -> MemberSet {
        let (silent, lossy) = (self.silent.members(), self.lossy.members());
        let without =
            |set: MemberSet, out: MemberSet| -> MemberSet { set.iter().filter(|id| !out.contains(*id)).collect() };
        let heard = without(all, silent);
        let good = without(heard, lossy);
        [good, heard].into_iter().find(|set| !set.is_empty()).unwrap_or(all)
    }

    fn take_report(&mut self, report: &PlainReport, known: &Known<'_>, now: Time) -> Outcome {
        let mut outcome = Outcome::default();
        self.report = report.clone();
        if !self.is_on {
            return outcome;
        }
        self.pace.reported(report, now);
        self.silent.take_report(report, known, &mut outcome.events, now);
        // What a silent member lost is sent again when it is heard already.
        let silent = self.silent.lately(now);
        let used = self.usable(self.silent.own().collect());
        let used = used.iter().filter(|id| !silent.contains(*id)).collect();
        outcome.events.extend(self.lossy.take_report(&report.members, used, now));
        outcome
    }

    fn handle_timeout(&mut self, now: Time) -> Outcome {
        let mut outcome = Outcome { asks: self.pace.take_due(now), ..Outcome::default() };
        outcome.events.extend(self.lossy.handle_timeout(now));
        outcome.frames = self.silent.handle_timeout(&mut outcome.events, now);
        outcome
    }

    fn poll_timeout(&self) -> Option<Time> {
        [self.pace.next(), self.silent.round_at(), self.lossy.next()].into_iter().flatten().min()
    }
}

impl Team {
    /// What the dataplane says of hosts that do not stripe, the answer to [`Effect::ReadPlain`].
    pub fn handle_plain(&mut self, report: &PlainReport, now: Time) {
        self.assert_drained();
        let known = Known { balancer: self.parts.balancer.as_ref(), discovery: self.parts.discovery.as_ref() };
        let Some(one_sided) = &mut self.parts.one_sided else { return };
        let outcome = one_sided.take_report(report, &known, now);
        self.after_one_sided(outcome, now);
    }

    /// A deadline of these has come.
    pub(super) fn ask_plain_hosts(&mut self, now: Time) {
        if let Some(one_sided) = &mut self.parts.one_sided {
            let outcome = one_sided.handle_timeout(now);
            self.after_one_sided(outcome, now);
        }
    }

    /// A member received ARP; true if it answers a question of ours, which is none of the stack's.
    pub(super) fn hear_plain_host(&mut self, member: MemberId, frame: &Frame<'_>) -> bool {
        let Some(one_sided) = &mut self.parts.one_sided else { return false };
        if frame.ethertype() != ethertype::ARP {
            return false;
        }
        Arp::decode(frame.payload()).is_ok_and(|arp| one_sided.silent.hear(member, frame.dst(), &arp))
    }

    /// The members that can send are these.
    pub(super) fn follow_one_sided(&mut self, now: Time) {
        let Some(one_sided) = &mut self.parts.one_sided else {
            self.timers.stop(TimerReason::Plain);
            return;
        };
        let balancer = self.parts.balancer.as_ref();
        let live = self.members.iter().filter(|(_, member)| member.is_live());
        let own = live.filter_map(|(&id, _)| Some((id, balancer?.own_mac(id)?)));
        let events = one_sided.set_own(self.config.stripe_plain, own.collect(), now);
        self.effects.extend(events.into_iter().map(|event| Effect::Event(Event::Plain(event))));
        self.await_plain_hosts();
    }

    /// The members, without those by which no answer comes back, if others are up.
    pub(super) fn members_heard(&self) -> Cow<'_, Members> {
        let silent = self.parts.silent();
        if silent.is_empty() {
            return Cow::Borrowed(&self.members);
        }
        let heard = self.members.iter().filter(|(id, _)| !silent.contains(**id));
        let heard: Members = heard.map(|(id, member)| (*id, member.clone())).collect();
        if heard.keys().any(|id| active::is_up(&heard, *id)) { Cow::Owned(heard) } else { Cow::Borrowed(&self.members) }
    }

    fn after_one_sided(&mut self, outcome: Outcome, now: Time) {
        let Outcome { asks, frames, events } = outcome;
        let changes_silence = events.iter().any(PlainEvent::is_of_silence);
        let changes = !events.is_empty();
        self.effects.extend(events.into_iter().map(|event| Effect::Event(Event::Plain(event))));
        if changes_silence {
            self.settle(true, now);
        } else if changes {
            self.update_plan();
        }
        self.effects.extend(frames.into_iter().map(|(member, frame)| Effect::Transmit { member, frame }));
        if asks {
            self.effects.push_back(Effect::ReadPlain);
        }
        self.await_plain_hosts();
    }

    fn await_plain_hosts(&mut self) {
        match self.parts.one_sided.as_ref().and_then(OneSided::poll_timeout) {
            Some(at) => self.timers.set(TimerReason::Plain, at),
            None => self.timers.stop(TimerReason::Plain),
        }
    }
}
