//! One-sided striping, as far as events go: which members may send to hosts that do not stripe.
//!
//! A host that stripes proves its paths by echoes; these hosts know nothing of us. What shows whether a path to them
//! works is what they answer anyhow: ARP (`silent.rs`), and which member's segments TCP had to retransmit (`lossy.rs`).
//! Both compare members with each other, over the same host and at the same moment: what befalls all of them says
//! nothing of one.

mod events;
mod known;
mod lossy;
mod pace;
mod silent;
mod status;

use nicteam_events::PlainEvent;
use nicteam_machine::{MemberId, MemberSet, Time, state};
use nicteam_plan::stripe::PlainReport;
use nicteam_wire::Mac;

pub use status::{PlainHostStatus, PlainMemberStatus, PlainState, PlainStatus};

use self::known::Known;
use self::lossy::Lossy;
use self::pace::Pace;
use self::silent::Silent;
use crate::StripePlain;

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
