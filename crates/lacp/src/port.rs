//! One port of an actor system: what its state machines share.

use nicteam_machine::{Duplex, MemberLink, state};
use nicteam_wire::{LacpState, Mac, PortInfo};

use super::config::{LacpConfig, LacpRate};
use super::counters::PortCounters;
use super::markers::Markers;
use super::rate_limit::RateLimit;
use super::states::{Churn, MuxState, PeriodicState, ReceiveState};
use super::timer::{PortTimer, PortTimers};

/// What a member is as a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortParams {
    /// Address its PDUs are sent from.
    pub mac: Mac,
    /// Its number within the system, from 1.
    pub port_number: u16,
    /// Its priority (`actor_port_prio`; the kernel's default is 255).
    pub priority: u16,
    /// Its link.
    pub link: MemberLink,
}

state!(struct PortParams { mac, port_number, priority, link });

/// What the selection logic thinks of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selected {
    /// It has to find its aggregator first.
    Unselected,
    /// It has one, and must not be attached to it: another aggregator is
    /// active, or it was lost and its time to be restored has not come.
    Standby,
    /// It shall be attached.
    Selected,
}

state!(
    enum Selected {
        Unselected,
        Standby,
        Selected,
    }
);

/// Which ports may share an aggregator: all that have this in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LagId {
    pub(super) actor_key: u16,
    pub(super) partner_system_priority: u16,
    pub(super) partner_system: Mac,
    pub(super) partner_key: u16,
    /// The port that stands alone, if it has to.
    pub(super) individual: Option<u16>,
}

state!(struct LagId { actor_key, partner_system_priority, partner_system, partner_key, individual });

#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) params: PortParams,
    /// Who this end is; its state bits follow from the machines ([`Port::actor`]).
    identity: PortInfo,
    /// `Partner_Oper_*`: what is known or assumed of the other end.
    pub(super) partner: PortInfo,
    /// What the other end last said of itself, word for word.
    pub(super) heard: PortInfo,
    /// `Actor_Oper_Port_State.Defaulted`: the partner is assumed.
    pub(super) defaulted: bool,
    /// The last PDU named this port rightly: the partner hears us.
    pub(super) matched: bool,
    pub(super) receive: ReceiveState,
    pub(super) periodic: PeriodicState,
    pub(super) mux: MuxState,
    pub(super) churn: Churn,
    pub(super) selected: Selected,
    /// The aggregator it is, or has to be, attached to, and what it selected it by.
    pub(super) aggregator: Option<(u16, LagId)>,
    /// The partner did not follow to the aggregator of this port, which we preferred.
    pub(super) refused: bool,
    /// `Ready_N`: it waits no longer for others.
    pub(super) ready: bool,
    /// `NTT`: the partner has to be told something.
    pub(super) ntt: bool,
    pub(super) sent: RateLimit<3>,
    /// It stopped distributing because its link or its partner was lost.
    pub(super) lost: bool,
    pub(super) markers: Markers,
    pub(super) timers: PortTimers,
    pub(super) counters: PortCounters,
}

state!(struct Port { params, identity, partner, heard, defaulted, matched, receive, periodic, mux, churn, selected, aggregator, refused, ready, ntt, sent, lost, markers, timers, counters });

impl Port {
    /// A port whose receive machine has to be started.
    pub(super) fn new(params: PortParams, config: &LacpConfig) -> Port {
        let mut port = Port {
            params,
            identity: PortInfo::default(),
            partner: PortInfo::default(),
            heard: PortInfo::default(),
            defaulted: true,
            matched: false,
            receive: ReceiveState::PortDisabled,
            periodic: PeriodicState::None,
            mux: MuxState::Detached,
            churn: Churn::default(),
            selected: Selected::Unselected,
            aggregator: None,
            refused: false,
            ready: false,
            ntt: false,
            sent: RateLimit::default(),
            lost: false,
            markers: Markers::default(),
            timers: PortTimers::new(),
            counters: PortCounters::default(),
        };
        port.configure(config);
        port
    }

    /// Takes over what configuration and link say of this end, and whatever
    /// follows for selection and partner if that changed.
    pub(super) fn configure(&mut self, config: &LacpConfig) {
        // A link without carrier keeps its key, so that it comes back into the same aggregate.
        let key = if self.params.link.carrier { port_key(config, self.params.link) } else { self.identity.key };
        let timeout = LacpState::TIMEOUT.with(LacpState::TIMEOUT, config.lacp_rate == LacpRate::Fast);
        let identity = PortInfo {
            system_priority: config.ad_actor_sys_prio,
            system: config.ad_actor_system,
            key,
            port_priority: self.params.priority,
            port: self.params.port_number,
            state: timeout
                .with(LacpState::ACTIVITY, config.lacp_active)
                .with(LacpState::AGGREGATION, self.speaks_lacp()),
        };
        if identity.key != self.identity.key {
            self.selected = Selected::Unselected;
        }
        self.ntt |= identity != self.identity;
        if (PortInfo { state: identity.state, ..self.identity }) != identity && !self.defaulted {
            // What the partner is in sync with is no longer this port.
            self.matched = false;
            self.partner.state = self.partner.state.with(LacpState::SYNCHRONIZATION, false);
        }
        self.identity = identity;
    }

    /// Who this end is now (`Actor_Oper_*`).
    pub(super) fn actor(&self) -> PortInfo {
        let state = self
            .identity
            .state
            .with(LacpState::SYNCHRONIZATION, self.mux >= MuxState::Attached)
            .with(LacpState::COLLECTING, self.collects())
            .with(LacpState::DISTRIBUTING, self.distributes())
            .with(LacpState::DEFAULTED, self.defaulted)
            .with(LacpState::EXPIRED, self.receive == ReceiveState::Expired);
        PortInfo { state, ..self.identity }
    }

    /// `LACP_Enabled`: half duplex links never aggregate, and a driver that
    /// does not tell counts as one (as in the kernel).
    pub(super) fn speaks_lacp(&self) -> bool {
        self.params.link.duplex == Some(Duplex::Full)
    }

    pub(super) fn collects(&self) -> bool {
        self.mux >= MuxState::Collecting
    }

    pub(super) fn distributes(&self) -> bool {
        self.mux == MuxState::Distributing
    }

    pub(super) fn aggregator_id(&self) -> Option<u16> {
        self.aggregator.map(|(id, _)| id)
    }

    /// Our own PDUs come back, and nobody else speaks.
    pub(super) fn is_looped(&self) -> bool {
        self.timers.is_set(PortTimer::Loop) && self.receive != ReceiveState::Current
    }
}

/// The key of a port: the user's ten bits, five for the speed, one for full
/// duplex (Linux drivers/net/bonding/bond_3ad.c, `__get_link_speed`).
pub(super) fn port_key(config: &LacpConfig, link: MemberLink) -> u16 {
    if let Some(key) = config.one_key {
        return key;
    }
    const SPEEDS_MBPS: [u32; 17] = [
        1, 10, 100, 1000, 2500, 5000, 10_000, 14_000, 20_000, 25_000, 40_000, 50_000, 56_000, 100_000, 200_000,
        400_000, 800_000,
    ];
    let speed = SPEEDS_MBPS.iter().position(|&mbps| Some(mbps) == link.speed_mbps).map_or(0, |place| place as u16 + 1);
    config.ad_user_port_key << 6 | speed << 1 | u16::from(link.duplex == Some(Duplex::Full))
}
