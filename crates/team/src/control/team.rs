//! A team: its state, the time and the addresses that it gets, and its status.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use nicteam_events::{Effect, Identity, Subnet, TeamError};
use nicteam_lacp::Lacp;
use nicteam_machine::{MemberId, Source, Time};
use nicteam_plan::Plan;
use nicteam_wire::Mac;

use super::announcer::Announcer;
use super::hearing::ArpMonitor;
use super::monitor::{Member, Members, millis};
use super::pagp_hearing::PagpHearing;
use super::parts::Parts;
use super::terms::{Listen, MemberStatus, TimerReason};
use super::timers::Timers;
use crate::{Config, Traits};

/// A team's control side.
#[derive(Clone, Debug)]
pub struct Team {
    pub(super) config: Config,
    /// Of the configuration's mode.
    pub(super) traits: &'static Traits,
    pub(super) members: Members,
    /// active-backup: who carries the traffic; balance-tlb, balance-alb: who has the team's address.
    pub(super) active: Option<MemberId>,
    /// The primary has joined and was not up yet when a member was chosen.
    pub(super) force_primary: bool,
    pub(super) carrier: bool,
    pub(super) plan: Plan,
    pub(super) announcer: Announcer,
    /// The members' addresses, as far as the shell told them.
    pub(super) macs: BTreeMap<MemberId, Mac>,
    /// Reports of multicast groups that are still to be sent.
    pub(super) group_rounds: u32,
    pub(super) arp: ArpMonitor,
    /// What switches say by PAgP.
    pub(super) pagp: PagpHearing,
    /// stripe: what makes its number one that no other team has, and its stamps such as nobody knows ahead.
    pub(super) identity: Identity,
    /// Where what follows from secrets comes from.
    pub(super) source: Source,
    /// What the mode needs beside.
    pub(super) parts: Parts,
    pub(super) timers: Timers,
    pub(super) effects: VecDeque<Effect>,
}

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
    pub(super) fn with_traits(config: Config, traits: &'static Traits, mac: Mac, now: Time) -> Team {
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

    pub(super) fn assert_drained(&self) {
        debug_assert!(self.effects.is_empty(), "a change before the effects of the last one were polled");
    }

    /// True if LACP agrees with the partners.
    pub(super) fn aggregates(&self) -> bool {
        self.traits.aggregates(&self.config)
    }
}
