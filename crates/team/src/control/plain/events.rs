//! Reports about hosts that do not stripe, and what follows from them for the team.

use std::borrow::Cow;

use nicteam_events::{Effect, Event, PlainEvent};
use nicteam_machine::{MemberId, Time};
use nicteam_plan::stripe::PlainReport;
use nicteam_wire::{Arp, Frame, ethertype};

use super::known::Known;
use super::{OneSided, Outcome};
use crate::TimerReason;
use crate::control::active;
use crate::control::monitor::Members;
use crate::control::team::Team;

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
    pub(in crate::control) fn ask_plain_hosts(&mut self, now: Time) {
        if let Some(one_sided) = &mut self.parts.one_sided {
            let outcome = one_sided.handle_timeout(now);
            self.after_one_sided(outcome, now);
        }
    }

    /// A member received ARP; true if it answers a question of ours, which is none of the stack's.
    pub(in crate::control) fn hear_plain_host(&mut self, member: MemberId, frame: &Frame<'_>) -> bool {
        let Some(one_sided) = &mut self.parts.one_sided else { return false };
        if frame.ethertype() != ethertype::ARP {
            return false;
        }
        Arp::decode(frame.payload()).is_ok_and(|arp| one_sided.silent.hear(member, frame.dst(), &arp))
    }

    /// The members that can send are these.
    pub(in crate::control) fn follow_one_sided(&mut self, now: Time) {
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
    pub(in crate::control) fn members_heard(&self) -> Cow<'_, Members> {
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
