//! What follows from the members' states: the active member, the plan, the carrier.

use nicteam_events::{Effect, Event, LinkState};
use nicteam_machine::{MemberId, Time};
use nicteam_options::mode::Sends;
use nicteam_plan::{Choose, Plan};

use super::facts::Facts;
use super::monitor::Member;
use super::team::Team;
use super::terms::TimerReason;
use super::{active, openvswitch, planning};

impl Team {
    /// True if frames can be sent: then `updelay` counts.
    pub(super) fn is_usable(&self) -> bool {
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
    pub(super) fn is_shown_active(&self, id: MemberId, member: &Member) -> bool {
        match self.traits.sends {
            _ if self.traits.openvswitch => self.sends_by(id),
            _ if self.aggregates() => self.lacp().is_some_and(|lacp| lacp.senders().contains(id)),
            Sends::Striped => member.is_live(),
            _ if self.traits.has_active => self.active == Some(id),
            _ => member.is_live(),
        }
    }

    /// True if a member that came up is to be compared with the active one.
    pub(super) fn is_preferred(&self, id: MemberId) -> bool {
        let prio = |id: MemberId| self.members.get(&id).map(|member| self.config.prio_of(&member.name));
        self.primary() == Some(id) || self.active.is_some_and(|active| prio(id) > prio(active))
    }

    /// The member that the configuration prefers, if it has joined.
    pub(super) fn primary(&self) -> Option<MemberId> {
        let wanted = self.config.primary.as_deref()?;
        self.members.iter().find(|(_, member)| member.name == wanted).map(|(id, _)| *id)
    }

    /// A member enters another state.
    pub(super) fn enter(&mut self, id: MemberId, to: LinkState, now: Time) {
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
    pub(super) fn settle(&mut self, choose_again: bool, now: Time) {
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
    pub(super) fn choose_active(&mut self, now: Time) {
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
    pub(super) fn make_active(&mut self, to: Option<MemberId>, now: Time) {
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

    pub(super) fn planned(&self) -> Facts<'_> {
        let Team { config, traits, members, parts, .. } = self;
        Facts { config, traits, team: self.announcer.mac, members, active: self.active, parts }
    }

    /// The plan that follows from how things are, with the number of the one in force.
    pub(super) fn plan_of_now(&self) -> Plan {
        let (choose, members) = planning::lines(&self.planned());
        let (lease, failover) = (self.lease(), planning::failover(&self.planned(), &choose));
        let generation = self.plan.generation;
        let notes_sources = openvswitch::planning::notes_sources(&self.config, self.traits, self.lacp());
        Plan { generation, choose, members, lease, failover, notes_sources }
    }

    pub(super) fn update_plan(&mut self) {
        let plan = self.plan_of_now();
        if plan == self.plan {
            return;
        }
        let before = self.group_member();
        self.plan = Plan { generation: plan.generation + 1, ..plan };
        self.effects.push_back(Effect::Apply(Box::new(self.plan.clone())));
        self.report_groups_anew(before);
    }

    pub(super) fn update_carrier(&mut self) {
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
