//! What the team's thread says of the team: events, reports, status.

use nicteam_dataplane::Counters;
use nicteam_status::{
    Aggregation, BondState, DeviceFacts, HelloState, MemberState, OneSidedState, PagpState, PeerState, RepairState,
    STATUS_SCHEMA, TeamStatus, problems, segments, striping_problems,
};
use nicteam_sys::capabilities;
use nicteam_team::{Event, MemberId, PagpHeard};
use nicteam_wire::Mac;

use super::Shell;
use crate::ports::Member;
use crate::request::{MemberReport, TeamReport};
use crate::{Error, Happened, Notice};

impl Shell {
    /// Tells what happened to the team.
    pub(super) fn happened(&self, event: Event) {
        let happened = match &event {
            Event::Member { name, from, to, .. } => {
                Happened::Member { member: name.clone(), from: from.to_string(), to: to.to_string() }
            }
            Event::Active { from, to } => {
                Happened::Active { from: from.map(|id| self.name_of(id)), to: to.map(|id| self.name_of(id)) }
            }
            Event::Carrier(carrier) => Happened::Carrier { carrier: *carrier },
            Event::Lacp(event) => {
                Happened::Lacp { member: event.member().map(|id| self.name_of(id)), text: event.words() }
            }
            Event::Plain(event) => Happened::OneSided { member: self.name_of(event.member()), text: event.words() },
            Event::Pagp(heard) => Happened::Pagp {
                member: self.name_of(heard.member),
                switch: heard.switch(),
                mode: heard.mode().to_owned(),
            },
        };
        self.note(happened);
        (self.notify)(Notice::Event(event));
    }

    /// Tells the owner what could not be done.
    pub(super) fn tell(&self, done: Result<(), impl Into<Error>>) {
        if let Err(error) = done {
            let error = error.into();
            self.note(Happened::Trouble { text: error.to_string() });
            (self.notify)(Notice::Trouble(error));
        }
    }

    /// Enters something in the journal.
    pub(super) fn note(&self, happened: Happened) {
        let entry = self.journal.record(happened);
        if let Some(persistence) = &self.persistence {
            (persistence.listener)(&entry);
        }
    }

    /// The team at this moment, quickly.
    pub(super) fn report(&self) -> Result<TeamReport, Error> {
        let counters = self.dataplane.counters()?;
        let of = |id| counters.iter().find(|(member, _)| *member == id).map_or(Counters::default(), |(_, c)| *c);
        let members = self.team.members().into_iter().map(|status| {
            let port = self.members.iter().find(|member| member.port.id == status.id).map(|member| &member.port);
            MemberReport { index: port.map_or(0, |port| port.index), counters: of(status.id), status }
        });
        Ok(TeamReport {
            name: self.device.name.clone(),
            dataplane: self.dataplane.kind(),
            config: self.team.config().clone(),
            carrier: self.team.carrier(),
            pagp: self.pagp(),
            members: members.collect(),
        })
    }

    /// The team at this moment, with all that the system says of its devices.
    pub(super) fn status(&mut self) -> Result<TeamStatus, Error> {
        if self.team.config().mode.traits().bonds_by_buckets() {
            // What the buckets have carried until now.
            self.read_loads();
        }
        let report = self.report()?;
        let link = self.netlink.link_at(self.device.index)?.unwrap_or_default();
        let mut members = Vec::with_capacity(report.members.len());
        for member in &report.members {
            let device = self.netlink.link_at(member.index)?.unwrap_or_default();
            let own = self.members.iter().find(|own| own.port.id == member.status.id);
            let facts = DeviceFacts {
                index: member.index,
                admin_up: device.up,
                permanent_mac: &own.map(|own| own.permanent_mac().to_string()).unwrap_or_default(),
                mac: &Mac(device.mac).to_string(),
            };
            let Counters { tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops } = member.counters;
            let state = MemberState::of(&member.status, facts);
            members.push(MemberState { tx_frames, tx_bytes, tx_drops, rx_frames, rx_bytes, rx_drops, ..state });
        }
        let plan = self.team.plan();
        let active = self.team.active().map(|id| self.name_of(id));
        let config = &report.config;
        let mut status = TeamStatus {
            schema: STATUS_SCHEMA,
            nicteam: env!("CARGO_PKG_VERSION").to_owned(),
            device: Some(link.name).filter(|name| !name.is_empty() && *name != report.name),
            team: report.name,
            index: self.device.index,
            mac: self.mac.to_string(),
            mtu: self.mtu,
            admin_up: link.up,
            carrier: report.carrier,
            mode: config.mode.to_string(),
            options: self.shown_options().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            active,
            lacp: Aggregation::of(&self.team, self.dataplane.answered()?),
            peers: PeerState::all(&self.team, |peer| self.dataplane.stream(peer))?,
            one_sided: OneSidedState::of(&self.team, self.clock.now()),
            segments: segments(&self.team),
            hellos: HelloState::of(&self.team),
            openvswitch: BondState::of(&self.team, self.clock.now(), |id| (self.name_of(id), self.permanent_mac(id))),
            control_frames: self.listeners.counts(|id| self.name_of(id)),
            pagp: report.pagp,
            dataplane: report.dataplane.to_string(),
            generation: plan.generation,
            last_event: Some(self.journal.last()),
            uptime_ms: self.clock.now().as_nanos() / 1_000_000,
            pid: std::process::id(),
            capabilities: held(),
            unsent_frames: self.dataplane.unsent()?,
            withheld_acks: if config.mode.stripes() { Some(self.dataplane.withheld()?) } else { None },
            failover_in_kernel: self.dataplane.sees_carriers(),
            members,
            missing: self.missing().iter().map(|missing| missing.device.clone()).collect(),
            repairs: self.repairs.states(self.clock.now()),
            problems: Vec::new(),
        };
        status.problems = problems(&status, config);
        status.problems.extend(self.missing_problems());
        status.problems.extend(striping_problems(&self.team, self.clock.now()));
        let conflicts: Vec<_> = status.repairs.iter().filter_map(RepairState::problem).collect();
        status.problems.extend(conflicts);
        let one_sided: Vec<_> = status.one_sided.iter().flat_map(OneSidedState::problems).collect();
        status.problems.extend(one_sided);
        Ok(status)
    }

    /// The address that a member's device had before it joined.
    fn permanent_mac(&self, id: MemberId) -> Mac {
        self.members.iter().find(|member| member.port.id == id).map(Member::permanent_mac).unwrap_or_default()
    }

    /// What the ports at the other ends say by PAgP.
    fn pagp(&self) -> Vec<PagpState> {
        let heard = self.team.pagp(self.clock.now()).into_iter();
        let state = |heard: PagpHeard| PagpState {
            member: self.name_of(heard.member),
            switch: heard.switch(),
            port: heard.port_name.clone(),
            mode: heard.mode().to_owned(),
        };
        heard.map(state).collect()
    }

    /// A member's device.
    pub(super) fn name_of(&self, id: MemberId) -> String {
        let present = self.members.iter().find(|member| member.port.id == id).map(|member| member.port.name.clone());
        // While it is being taken in, the team alone knows it.
        let joining = || self.team.members().into_iter().find(|member| member.id == id).map(|member| member.name);
        present.or_else(joining).unwrap_or_else(|| format!("the member at place {id}"))
    }
}

/// The names of the capabilities that this process has; none where they cannot be read.
fn held() -> Vec<String> {
    capabilities::held().unwrap_or_default().into_iter().map(|capability| capability.name()).collect()
}
