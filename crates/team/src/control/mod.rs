//! The control side of a team: events in, effects out.
//!
//! One call of `handle_*` (or `add_member`, `remove_member`), then
//! [`Team::poll_effect`] until it returns nothing, then
//! [`Team::poll_timeout`]. In debug builds a second change before the drain
//! is a panic. Who keeps a team keeps it as [`replay::Recorded`]: then all that it is told goes by one door,
//! behind which it can be recorded.
//!
//! The rules are those of the Linux 6.1 bonding driver
//! (drivers/net/bonding/bond_main.c); the files beside this one name the
//! functions and the differences. One concerns all: `min_links` holds in every
//! mode, not in 802.3ad alone, and a member whose `downdelay` runs counts.

mod active;
mod addresses;
mod aggregate;
mod arp_monitor;
mod balance;
mod change;
mod door;
mod groups;
mod hearing;
mod monitor;
mod notify;
pub mod openvswitch;
mod pagp;
mod parts;
mod plain;
mod planning;
mod probe;
mod stripe;
mod terms;
mod timers;
mod whole;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use nicteam_wire::Mac;

pub use self::plain::{PlainHostStatus, PlainMemberStatus, PlainState, PlainStatus};
pub use self::terms::{Listen, MemberStatus, TimerReason};

use self::arp_monitor::ArpMonitor;
use self::hearing::Hearing;
use self::monitor::{Member, millis};
use self::notify::Announcer;
use self::pagp::PagpHearing;
use self::parts::Parts;
use self::timers::Timers;
use crate::{Choose, Config, Plan, Traits};
use nicteam_events::{Effect, Event, Identity, Input, LinkState, PagpHeard, Subnet, TeamError};
use nicteam_lacp::Lacp;
use nicteam_machine::{MemberId, MemberLink, Source, Time};
use nicteam_options::mode::Sends;

/// A team's control side.
#[derive(Clone, Debug)]
pub struct Team {
    config: Config,
    /// Of the configuration's mode.
    traits: &'static Traits,
    members: Members,
    /// active-backup: who carries the traffic; balance-tlb, balance-alb: who has the team's address.
    active: Option<MemberId>,
    /// The primary has joined and was not up yet when a member was chosen.
    force_primary: bool,
    carrier: bool,
    plan: Plan,
    announcer: Announcer,
    /// The members' addresses, as far as the shell told them.
    macs: BTreeMap<MemberId, Mac>,
    /// Reports of multicast groups that are still to be sent.
    group_rounds: u32,
    arp: ArpMonitor,
    /// What switches say by PAgP.
    pagp: PagpHearing,
    /// stripe: what makes its number one that no other team has, and its stamps such as nobody knows ahead.
    identity: Identity,
    /// Where what follows from secrets comes from.
    source: Source,
    /// What the mode needs beside.
    parts: Parts,
    timers: Timers,
    effects: VecDeque<Effect>,
}

/// The members, by place.
type Members = BTreeMap<MemberId, Member>;

impl Team {
    /// A team without members and without carrier. `mac` is what the team's
    /// stack sends from. Refuses what [`Config::check`] refuses. An `active_slave`
    /// is none yet: [`Team::set_config`] grants it once members have joined.
    pub fn new(config: Config, mac: Mac, now: Time) -> Result<Team, TeamError> {
        config.check()?;
        let traits = config.mode.traits();
        Ok(Team::with_traits(config, traits, mac, now))
    }

    /// The same, where the mode has these traits.
    fn with_traits(config: Config, traits: &'static Traits, mac: Mac, now: Time) -> Team {
        let parts = Parts::of(traits, &config, 0);
        let mut team = Team {
            config: Config { active_slave: None, ..config },
            traits,
            members: Members::new(),
            active: None,
            force_primary: false,
            carrier: false,
            plan: Plan::nobody(),
            announcer: Announcer { mac, addresses: Vec::new(), rounds: 0 },
            macs: BTreeMap::new(),
            group_rounds: 0,
            arp: ArpMonitor::default(),
            pagp: PagpHearing::default(),
            identity: Identity::default(),
            source: Source::default(),
            parts,
            timers: Timers::new(),
            effects: VecDeque::new(),
        };
        team.discover_anew(now);
        team
    }

    /// Takes a device in. Its place is the lowest free one.
    pub fn add_member(&mut self, name: &str, link: MemberLink, now: Time) -> Result<MemberId, TeamError> {
        self.add_member_at(self.place_for(name)?, name, link, now)
    }

    /// Where a device of this name would join.
    fn place_for(&self, name: &str) -> Result<MemberId, TeamError> {
        match self.next_place() {
            Some(id) => Ok(id),
            None if self.members.values().any(|member| member.name == name) => {
                Err(TeamError::Duplicate(name.to_owned()))
            }
            None => Err(TeamError::Full),
        }
    }

    /// The same at a place that the caller chooses, which nobody must have.
    pub fn add_member_at(
        &mut self,
        id: MemberId,
        name: &str,
        link: MemberLink,
        now: Time,
    ) -> Result<MemberId, TeamError> {
        self.assert_drained();
        let mut members = self.members.iter();
        if let Some((_, member)) = members.find(|(place, member)| **place == id || member.name == name) {
            return Err(TeamError::Duplicate(member.name.clone()));
        }
        // A member whose partner counts on it is not new; and Open vSwitch enables one that joins at once.
        let usable = self.is_usable() && !self.remembers(id) && !self.traits.openvswitch;
        // There it waits for LACP.
        let may_enable = !(self.traits.openvswitch && self.aggregates());
        let seen = MemberLink { carrier: link.carrier && may_enable, ..link };
        let state = monitor::first_state(&self.config, seen, usable);
        let member = Member { name: name.to_owned(), link, may_enable, state, since: now, link_failures: 0 };
        self.entered_in_bond(id, LinkState::Down, state);
        if let Some((at, reason)) = member.delay(id, &self.config) {
            self.timers.set(reason, at);
        }
        self.members.insert(id, member);
        self.arp.hearing.insert(id, Hearing::new(now));
        if self.config.arp.is_on() && !self.timers.is_set(TimerReason::ArpMon) {
            self.timers.set(TimerReason::ArpMon, now);
        }
        if self.config.miimon_ms > 0 && !self.timers.is_set(TimerReason::MiiMon) {
            self.timers.set(TimerReason::MiiMon, now + millis(self.config.miimon_ms));
        }
        self.join_lacp(id, now);
        self.force_primary |= self.config.primary.as_deref() == Some(name);
        self.settle(true, now);
        Ok(id)
    }

    /// Lets a member go.
    pub fn remove_member(&mut self, id: MemberId, now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        let member = self.members.remove(&id).ok_or(TeamError::NoMember(id))?;
        self.entered_in_bond(id, member.state, LinkState::Down);
        self.timers.stop(TimerReason::UpDelay(id));
        self.timers.stop(TimerReason::DownDelay(id));
        self.arp.forget(id);
        self.pagp.forget(id);
        self.macs.remove(&id);
        if self.members.is_empty() {
            self.timers.stop(TimerReason::MiiMon);
            self.timers.stop(TimerReason::ArpMon);
        }
        self.balance_leave(id, now);
        self.leave_lacp(id, now);
        self.settle(self.active == Some(id), now);
        Ok(())
    }

    /// Takes in what the operating system says of a member's link, from a
    /// reading or from a netlink message alike.
    pub fn handle_link(&mut self, id: MemberId, link: MemberLink, now: Time) -> Result<(), TeamError> {
        self.handle_links(&[(id, link)], now)
    }

    /// The same of several that were read together: as in the kernel what follows is decided
    /// when all are known. Of one that is no member, nothing is taken in.
    pub fn handle_links(&mut self, links: &[(MemberId, MemberLink)], now: Time) -> Result<(), TeamError> {
        self.assert_drained();
        if let Some((stranger, _)) = links.iter().find(|(id, _)| !self.members.contains_key(id)) {
            return Err(TeamError::NoMember(*stranger));
        }
        let mut told = Vec::new();
        for (id, link) in links {
            if let Some(member) = self.members.get_mut(id) {
                told.push((*id, std::mem::replace(&mut member.link, *link) != *link));
            }
        }
        if self.traits.openvswitch {
            let changed: Vec<MemberId> = told.iter().filter(|(_, other)| *other).map(|(id, _)| *id).collect();
            changed.iter().for_each(|id| self.link_to_lacp(*id, now));
            if self.follow_links_of_bond(now) || !changed.is_empty() {
                self.settle(false, now);
            }
            return Ok(());
        }
        let mut usable = self.is_usable();
        let (mut choose_again, mut moved, mut changed) = (false, false, false);
        // By place: of those that are back while nobody is usable the first one is up (`bond_miimon_inspect`).
        told.sort_unstable();
        for (id, other) in told {
            let Some(member) = self.members.get(&id) else { continue };
            let to = member.next_state(&self.config, usable, now);
            if to == member.state {
                if other {
                    changed = true;
                    self.link_to_lacp(id, now);
                }
                continue;
            }
            moved = true;
            usable |= to == LinkState::Up;
            self.enter(id, to, now);
            choose_again |= match to {
                LinkState::Up => self.active.is_none() || self.is_preferred(id),
                LinkState::Down => self.active == Some(id),
                LinkState::Fail | LinkState::Back => false,
            };
        }
        if moved {
            self.settle(choose_again, now);
        } else if changed {
            // Another speed makes another assignment.
            self.balance_members(now);
            self.update_plan();
            self.send_waiting();
        }
        Ok(())
    }

    /// The addresses that the team's stack answers for, each with the VLAN it
    /// lives in (0: none); they are announced after a failover.
    pub fn handle_addresses(&mut self, addresses: Vec<(u16, IpAddr)>) {
        self.assert_drained();
        self.announcer.addresses = addresses;
        self.balance_vlans();
    }

    /// The subnets that the team's stack has addresses in: from these the ARP
    /// monitor asks.
    pub fn handle_subnets(&mut self, subnets: Vec<Subnet>) {
        self.assert_drained();
        self.arp.subnets = subnets;
    }

    /// Which frames of members the shell is to hand to [`Team::handle_frame`], now.
    pub fn listens(&self) -> Listen {
        let arp = &self.config.arp;
        let hears_clients = self.traits.balances_receiving();
        Listen {
            slow: self.aggregates(),
            pagp: true,
            hellos: self.traits.stripes(),
            arp: hears_clients || arp.is_on() && (arp.validate.filters() || !arp.ip_targets.is_empty()),
            neighbours: hears_clients && self.config.rlb_ipv6
                || arp.is_on() && (arp.validate.filters() || !arp.ip6_targets.is_empty()),
        }
    }

    /// The team's own MAC address changed.
    pub fn handle_mac(&mut self, mac: Mac) {
        self.assert_drained();
        self.announcer.mac = mac;
        self.balance_mac();
    }

    /// Time has come to a deadline of [`Team::poll_timeout`]; harmless earlier or later.
    ///
    /// No member changes its state here: the effect is [`Effect::ReadLinks`], and
    /// what the links say then decides, as in the kernel.
    pub fn handle_timeout(&mut self, now: Time) {
        self.assert_drained();
        let due = self.timers.take_due(now);
        if due.contains(&TimerReason::MiiMon) {
            self.timers.set(TimerReason::MiiMon, now + millis(self.config.miimon_ms));
        }
        if due.contains(&TimerReason::PeerNotify) {
            self.announce(now);
        }
        self.balance_due(&due, now);
        self.bond_due(&due, now);
        let reads_links = |reason: &TimerReason| {
            matches!(
                reason,
                TimerReason::MiiMon | TimerReason::UpDelay(_) | TimerReason::DownDelay(_) | TimerReason::ResendIgmp
            )
        };
        if due.iter().any(reads_links) {
            self.effects.push_back(Effect::ReadLinks);
        }
        if due.contains(&TimerReason::ResendIgmp) {
            self.effects.push_back(Effect::ReadGroups);
        }
        if due.contains(&TimerReason::ArpMon) {
            self.start_arp_round(now);
        }
        if due.contains(&TimerReason::Lacp) {
            self.time_out_lacp(now);
        }
        if due.contains(&TimerReason::Discovery) {
            self.discover(now);
        }
        if due.contains(&TimerReason::Plain) {
            self.ask_plain_hosts(now);
        }
    }

    /// When to call [`Team::handle_timeout`] next, and why.
    pub fn poll_timeout(&self) -> Option<(Time, TimerReason)> {
        self.timers.next()
    }

    /// The next thing to do, in order.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The plan in force.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// True if the team shows its stack a carrier.
    pub fn carrier(&self) -> bool {
        self.carrier
    }

    /// active-backup: the member that carries the traffic, if one does.
    pub fn active(&self) -> Option<MemberId> {
        self.active
    }

    /// The members, by place.
    pub fn members(&self) -> Vec<MemberStatus> {
        let ports = self.lacp().map(Lacp::ports).unwrap_or_default();
        let status = |(&id, member): (&MemberId, &Member)| MemberStatus {
            id,
            name: member.name.clone(),
            state: member.state,
            link: member.link,
            active: self.is_shown_active(id, member),
            link_failures: member.link_failures,
            lacp: ports.iter().find(|port| port.member == id).copied(),
        };
        self.members.iter().map(status).collect()
    }

    fn assert_drained(&self) {
        debug_assert!(self.effects.is_empty(), "a change before the effects of the last one were polled");
    }

    /// True if LACP agrees with the partners.
    fn aggregates(&self) -> bool {
        self.traits.aggregates(&self.config)
    }

    /// True if frames can be sent: then `updelay` counts.
    fn is_usable(&self) -> bool {
        match self.traits.sends {
            _ if self.traits.openvswitch => self.members.values().any(Member::is_live),
            _ if self.aggregates() => self.lacp().is_some_and(|lacp| !lacp.senders().is_empty()),
            Sends::ByActive | Sends::Striped => self.active.is_some(),
            Sends::InTurn | Sends::ByHash | Sends::ByAll | Sends::ByBuckets(_) | Sends::BySource | Sends::ByFlow => {
                self.members.values().any(Member::is_usable)
            }
        }
    }

    /// What [`MemberStatus::active`] says of a member. A team that stripes has an active member, too, and sends by all.
    fn is_shown_active(&self, id: MemberId, member: &Member) -> bool {
        match self.traits.sends {
            _ if self.traits.openvswitch => self.sends_by(id),
            _ if self.aggregates() => self.lacp().is_some_and(|lacp| lacp.senders().contains(id)),
            Sends::Striped => member.is_live(),
            _ if self.traits.has_active => self.active == Some(id),
            _ => member.is_live(),
        }
    }

    /// True if a member that came up is to be compared with the active one.
    fn is_preferred(&self, id: MemberId) -> bool {
        let prio = |id: MemberId| self.members.get(&id).map(|member| self.config.prio_of(&member.name));
        self.primary() == Some(id) || self.active.is_some_and(|active| prio(id) > prio(active))
    }

    /// The member that the configuration prefers, if it has joined.
    fn primary(&self) -> Option<MemberId> {
        let wanted = self.config.primary.as_deref()?;
        self.members.iter().find(|(_, member)| member.name == wanted).map(|(id, _)| *id)
    }

    /// A member enters another state.
    fn enter(&mut self, id: MemberId, to: LinkState, now: Time) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let from = std::mem::replace(&mut member.state, to);
        member.since = now;
        // The ARP monitor tries a member that is down and stays so until it answers.
        let tries = self.arp.candidate == Some(id) && to != LinkState::Up;
        if to == LinkState::Down && !tries {
            member.link_failures = member.link_failures.saturating_add(1);
        }
        self.timers.stop(TimerReason::UpDelay(id));
        self.timers.stop(TimerReason::DownDelay(id));
        if let Some((at, reason)) = member.delay(id, &self.config) {
            self.timers.set(reason, at);
        }
        let name = member.name.clone();
        if !tries {
            self.effects.push_back(Effect::Event(Event::Member { id, name, from, to }));
        }
        self.entered_in_bond(id, from, to);
        // In Open vSwitch's modes it hears of the carrier itself.
        if !self.traits.openvswitch {
            self.link_to_lacp(id, now);
        }
    }

    /// After every change of a member: makes everything else follow from the
    /// members' states. `choose_again`: the change is one of those after which
    /// a mode with an active member looks for its best one.
    fn settle(&mut self, choose_again: bool, now: Time) {
        if self.traits.openvswitch {
            self.follow_links_of_bond(now);
            self.choose_active_of_bond(now);
            self.bond_members(now);
        } else if choose_again && self.traits.has_active {
            self.choose_active(now);
        }
        if !self.is_usable()
            && let Some(back) = active::first_by_place(&self.members, &self.config)
        {
            self.enter(back, LinkState::Up, now);
        }
        self.move_addresses();
        self.balance_members(now);
        self.stripe_members(now);
        self.follow_one_sided(now);
        self.update_plan();
        self.update_carrier();
        self.ask_for_sources();
        self.send_waiting();
        self.send_hellos();
        if !self.timers.is_set(TimerReason::PeerNotify) {
            self.announce(now);
        }
    }

    /// Linux `bond_select_active_slave`.
    fn choose_active(&mut self, now: Time) {
        let primary = self.primary();
        let wishes = active::Wishes { primary, force: self.force_primary, config: &self.config };
        let to = active::choose(&self.members_heard(), self.active, wishes);
        if primary.is_some_and(|id| active::is_up(&self.members, id)) {
            self.force_primary = false;
        }
        if to != self.active {
            self.make_active(to, now);
        }
    }

    /// Linux `bond_change_active_slave`.
    fn make_active(&mut self, to: Option<MemberId>, now: Time) {
        if let Some(id) = to
            && !active::is_up(&self.members, id)
        {
            self.enter(id, LinkState::Up, now);
        }
        if let Some(hearing) = to.and_then(|id| self.arp.hearing.get_mut(&id)) {
            hearing.tried = now;
        }
        let from = std::mem::replace(&mut self.active, to);
        self.effects.push_back(Effect::Event(Event::Active { from, to }));
        // Where members have addresses of their own learning packets do, as in the kernel.
        let announced = to.is_some() && !self.traits.has_own_addresses();
        self.announcer.rounds = if announced { self.config.num_grat_arp } else { 0 };
        self.timers.stop(TimerReason::PeerNotify);
    }

    fn planned(&self) -> planning::Facts<'_> {
        let Team { config, traits, members, parts, .. } = self;
        planning::Facts { config, traits, team: self.announcer.mac, members, active: self.active, parts }
    }

    /// The plan that follows from how things are, with the number of the one in force.
    fn plan_of_now(&self) -> Plan {
        let (choose, members) = planning::lines(&self.planned());
        let (lease, failover) = (self.lease(), planning::failover(&self.planned(), &choose));
        let generation = self.plan.generation;
        let notes_sources = openvswitch::planning::notes_sources(&self.config, self.traits, self.lacp());
        Plan { generation, choose, members, lease, failover, notes_sources }
    }

    fn update_plan(&mut self) {
        let plan = self.plan_of_now();
        if plan == self.plan {
            return;
        }
        let before = self.group_member();
        self.plan = Plan { generation: plan.generation + 1, ..plan };
        self.effects.push_back(Effect::Apply(Box::new(self.plan.clone())));
        self.report_groups_anew(before);
    }

    fn update_carrier(&mut self) {
        let live = self.members.values().filter(|member| member.is_live()).count();
        let carrier = match self.lacp() {
            // Members that LACP lets send are those that are up; and some that are up send nothing.
            _ if self.traits.openvswitch => {
                live >= self.config.min_links.max(1) as usize && self.plan.choose != Choose::Nobody
            }
            Some(lacp) => lacp.carrier(),
            None => live >= self.config.min_links.max(1) as usize,
        };
        if carrier == self.carrier {
            return;
        }
        self.carrier = carrier;
        self.effects.push_back(Effect::SetCarrier(carrier));
        self.effects.push_back(Effect::Event(Event::Carrier(carrier)));
    }
}
