//! A host with a team.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nicteam_team::replay::Recorded;
use nicteam_team::stripe::{Notes, PlainReport};
use nicteam_team::{
    Action, Choose, Effect, Leg, Listen, MemberId, MemberLink, Plan, PlanState, Stripe, TeamError, Time, Traffic,
    Verdict,
};
use nicteam_wire::{Frame, Hello, Mac, Rtag, ethertype};

use crate::{Bytes, Node};

/// More effects than any one change may have.
const ENDLESS: usize = 10_000;

/// A host whose ports are the members of a team: port 2 is the member at place 2.
///
/// It does what `nicteam-daemon` and a dataplane do for a team: it carries out
/// what the team wants, and answers what the team asks.
#[derive(Clone, Debug)]
pub struct Host {
    /// The control side.
    pub team: Recorded,
    /// The address of the team device.
    pub mac: Mac,
    /// What the dataplane executes.
    pub plan: Plan,
    /// What the dataplane remembers.
    pub state: PlanState,
    /// What the dataplane noted of peers' frames.
    pub notes: Notes,
    /// What the dataplane says of hosts that do not stripe: set by who tests.
    pub plain: PlainReport,
    /// What the team device shows its stack.
    pub carrier: bool,
    /// The members' devices as they are; the team knows what it was told.
    pub members: BTreeMap<MemberId, Member>,
    /// Frames that the control side sent, by port.
    pub sent: BTreeMap<usize, u64>,
    /// What the team wanted, and when: if it is to be logged.
    pub log: Vec<(Time, Effect)>,
    /// What the team wants is to be logged.
    pub is_logged: bool,
    /// What the team asked and nobody answered yet.
    asked: BTreeSet<Reading>,
    /// While the host's process does not run: what its members received meanwhile.
    waiting: Option<Vec<(MemberId, Bytes)>>,
    leaving: VecDeque<(usize, Bytes)>,
}

/// The device of a member.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its link.
    pub link: MemberLink,
    /// Its address; without one it takes every frame.
    pub mac: Option<Mac>,
    /// Frames that it received, and that the dataplane sent.
    pub traffic: Traffic,
}

/// What a team wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// What the dataplane counted by bucket.
    Loads,
    /// The sources that the dataplane noted.
    Sources,
    /// Every member's link.
    Links,
    /// Every member's counters.
    Traffic,
    /// What the dataplane noted of peers' frames.
    Notes,
    /// What the dataplane has seen of hosts that do not stripe.
    Plain,
}

impl Host {
    /// A host of this address whose team has no members yet.
    pub fn new(team: impl Into<Recorded>, mac: Mac) -> Host {
        Host {
            team: team.into(),
            mac,
            plan: Plan::nobody(),
            state: PlanState::new(0),
            notes: Notes::default(),
            plain: PlainReport::default(),
            carrier: false,
            members: BTreeMap::new(),
            sent: BTreeMap::new(),
            log: Vec::new(),
            is_logged: false,
            asked: BTreeSet::new(),
            waiting: None,
            leaving: VecDeque::new(),
        }
    }

    /// A device joins the team.
    pub fn join(&mut self, name: &str, link: MemberLink, mac: Option<Mac>, now: Time) -> Result<MemberId, TeamError> {
        let id = self.team.add_member(name, link, now)?;
        self.members.insert(id, Member { link, mac, traffic: Traffic::default() });
        self.settle(now);
        if let Some(mac) = mac {
            self.change(now, |team| team.handle_member_mac(id, mac));
        }
        Ok(id)
    }

    /// A device leaves the team.
    pub fn leave(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.team.remove_member(id, now)?;
        self.members.remove(&id);
        self.settle(now);
        Ok(())
    }

    /// A new process with this team takes the members over as they are.
    pub fn restart(&mut self, team: impl Into<Recorded>, now: Time) -> Result<(), TeamError> {
        let before = std::mem::replace(&mut self.team, team.into());
        self.asked.clear();
        for member in before.members() {
            if let Some(Member { link, mac, .. }) = self.members.remove(&member.id) {
                self.join(&member.name, link, mac, now)?;
            }
        }
        Ok(())
    }

    /// Changes the team, and does what follows.
    pub fn change<R>(&mut self, now: Time, change: impl FnOnce(&mut Recorded) -> R) -> R {
        let changed = change(&mut self.team);
        self.settle(now);
        changed
    }

    /// The stack sends a frame by the team device, and it leaves as the plan says; what that was. (What it says of a
    /// gap goes along.)
    pub fn transmit(&mut self, bytes: &[u8], now: Time) -> Action {
        let Ok(frame) = Frame::parse(bytes) else { return Action::Drop };
        self.state.now = now;
        let action = self.plan.choose(&frame, &mut self.state);
        match &action {
            Action::Send(members) => {
                for member in members.iter() {
                    let src = self.plan.member(member).and_then(|line| line.rewrite.src);
                    self.forward(bytes, Leg { member, src: src.unwrap_or(frame.src()), dst: frame.dst() });
                }
            }
            &Action::Stripe { member, src, dst, .. } => self.forward(bytes, Leg { member, src, dst }),
            &Action::Redundant { sequence, first, second } => {
                let tagged = Rtag { sequence }.put(bytes);
                [Some(first), second].into_iter().flatten().for_each(|leg| self.forward(&tagged, leg));
            }
            Action::Punt => self.change(now, |team| team.handle_punted(bytes, now)),
            Action::Withhold | Action::Drop => {}
        }
        action
    }

    fn forward(&mut self, bytes: &[u8], Leg { member, src, dst }: Leg) {
        self.members.entry(member).and_modify(|member| member.traffic.tx_frames += 1);
        self.leaving.push_back((member.index(), [&dst.0[..], &src.0, &bytes[12..]].concat().into()));
    }

    /// Stops the host's process; its dataplane goes on.
    pub fn stall(&mut self) {
        self.waiting.get_or_insert_default();
    }

    /// Lets the process run on: it hears what waits, and then looks at its clock.
    pub fn resume(&mut self, now: Time) {
        for (member, frame) in self.waiting.take().into_iter().flatten() {
            self.change(now, |team| team.handle_frame(member, &frame, now));
        }
        self.change(now, |team| team.handle_timeout(now));
    }

    /// Carries out what the team wants, and answers what it asks, until it is quiet.
    pub fn settle(&mut self, now: Time) {
        self.drain(now, |_, _| {});
        while self.answer(now).is_some() {
            self.drain(now, |_, _| {});
        }
    }

    /// Carries out what the team wants; `watch` sees each effect before that.
    pub fn drain(&mut self, now: Time, mut watch: impl FnMut(&Host, &Effect)) {
        let mut effects = 0;
        while let Some(effect) = self.team.poll_effect() {
            effects += 1;
            assert!(effects < ENDLESS, "the drain does not end: {effect:?}");
            watch(self, &effect);
            if self.is_logged {
                self.log.push((now, effect.clone()));
            }
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Apply(plan) => self.plan = *plan,
            Effect::SetCarrier(carrier) => self.carrier = carrier,
            Effect::Transmit { member, frame } => {
                *self.sent.entry(member.index()).or_default() += 1;
                self.leaving.push_back((member.index(), frame.into()));
            }
            Effect::SetMac { member: Some(id), mac } => {
                self.members.entry(id).and_modify(|member| member.mac = Some(mac));
            }
            Effect::SetMac { member: None, mac } => self.mac = mac,
            Effect::ReadLinks => drop(self.asked.insert(Reading::Links)),
            Effect::ReadTraffic => self.asked.extend([Reading::Links, Reading::Traffic]),
            Effect::ReadLoads => drop(self.asked.insert(Reading::Loads)),
            Effect::ReadSources => drop(self.asked.insert(Reading::Sources)),
            Effect::ReadNotes => drop(self.asked.insert(Reading::Notes)),
            Effect::ReadPlain => drop(self.asked.insert(Reading::Plain)),
            Effect::TakeAll { .. } | Effect::ReadGroups | Effect::Event(_) => {}
        }
    }

    /// What the team asked and nobody answered yet.
    pub fn asks(&self) -> Option<Reading> {
        self.asked.first().copied()
    }

    /// Answers that, and says what it was.
    pub fn answer(&mut self, now: Time) -> Option<Reading> {
        let reading = self.asked.pop_first()?;
        match reading {
            Reading::Loads => self.team.handle_loads(&self.state.loads, now),
            Reading::Sources => self.team.handle_sources(&self.state.sources.known(now), now),
            Reading::Links => self.tell_links(now),
            Reading::Traffic => {
                let traffic: Vec<_> = self.members.iter().map(|(&id, member)| (id, member.traffic)).collect();
                self.team.handle_traffic(&traffic, now);
            }
            Reading::Notes => self.team.handle_notes(&self.notes.take(), now),
            Reading::Plain => {
                let report = self.plain.clone();
                self.plain.hosts.iter_mut().for_each(|host| host.striped = false);
                self.team.handle_plain(&report, now);
            }
        }
        Some(reading)
    }

    /// Tells the team the links of all members.
    fn tell_links(&mut self, now: Time) {
        let links: Vec<_> = self.members.iter().map(|(&id, member)| (id, member.link)).collect();
        self.team.handle_links(&links, now).expect("the devices are members");
    }

    /// How the plan stripes, if it does.
    pub fn stripe(&self) -> Option<&Stripe> {
        match &self.plan.choose {
            Choose::Stripe(stripe) => Some(stripe),
            _ => None,
        }
    }

    /// The member that has this address.
    pub fn member_of(&self, mac: Mac) -> Option<MemberId> {
        self.members.iter().find(|(_, member)| member.mac == Some(mac)).map(|(id, _)| *id)
    }
}

impl Node for Host {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        let (Some(id), Ok(view)) = (MemberId::new(port), Frame::parse(frame)) else { return };
        let Some(member) = self.members.get_mut(&id) else { return };
        if member.mac.is_some_and(|mac| !view.dst().is_multicast() && view.dst() != mac) {
            return;
        }
        member.traffic.rx_frames += 1;
        if self.plan.receive(id, &view) == Verdict::Echo {
            let mut echo = frame.to_vec();
            if Hello::reflect(&mut echo) {
                self.leaving.push_back((port, echo.into()));
            }
        } else if let Some(waiting) = &mut self.waiting {
            waiting.push((id, frame.clone()));
        } else if is_heard(self.team.listens(), &view) {
            self.change(now, |team| team.handle_frame(id, frame, now));
        }
    }

    fn handle_carrier(&mut self, port: usize, carrier: bool, now: Time) {
        let Some(id) = MemberId::new(port) else { return };
        let Some(member) = self.members.get_mut(&id) else { return };
        member.link.carrier = carrier;
        let link = member.link;
        if self.waiting.is_none() {
            self.change(now, |team| team.handle_link(id, link, now)).expect("the device is a member");
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.change(now, |team| team.handle_timeout(now));
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.team.poll_timeout().map(|(at, _)| at).filter(|_| self.waiting.is_none())
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.leaving.pop_front()
    }
}

/// True for a frame that the control side wants to see.
fn is_heard(listens: Listen, frame: &Frame<'_>) -> bool {
    if frame.dst() == Mac::CISCO_GROUP {
        return listens.pagp;
    }
    match frame.without_tags().0.ethertype() {
        ethertype::SLOW => listens.slow,
        ethertype::HELLO => listens.hellos,
        ethertype::ARP => listens.arp,
        ethertype::IPV6 => listens.neighbours,
        _ => false,
    }
}
