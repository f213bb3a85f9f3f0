//! What can be seen of an actor system.

use nicteam_machine::{MemberId, MemberSet};
use nicteam_wire::{Mac, PortInfo};

use super::counters::PortCounters;
use super::port::Port;
use super::{ChurnState, MuxState, PeriodicState, Reason, ReceiveState, Selected};

/// One port, with everything that `/proc/net/bonding` shows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortStatus {
    /// The member.
    pub member: MemberId,
    /// Number of the aggregator it belongs to.
    pub aggregator: Option<u16>,
    /// State of the receive machine.
    pub receive: ReceiveState,
    /// State of the periodic transmission machine.
    pub periodic: PeriodicState,
    /// State of the mux machine.
    pub mux: MuxState,
    /// What the selection logic says.
    pub selected: Selected,
    /// What this end says of itself.
    pub actor: PortInfo,
    /// What it knows, or assumes, of the other.
    pub partner: PortInfo,
    /// The partner is assumed.
    pub defaulted: bool,
    /// State of the actor churn machine.
    pub actor_churn: ChurnState,
    /// State of the partner churn machine.
    pub partner_churn: ChurnState,
    /// How often this end churned.
    pub actor_churned: u32,
    /// How often the partner churned.
    pub partner_churned: u32,
    /// PDUs of every kind.
    pub counters: PortCounters,
    /// Why it does not carry traffic.
    pub why_not: Option<Reason>,
}

/// One aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregatorStatus {
    /// Its number.
    pub id: u16,
    /// It is the active one.
    pub active: bool,
    /// Its ports.
    pub ports: MemberSet,
    /// The key of its ports.
    pub actor_key: u16,
    /// The partner's key.
    pub partner_key: u16,
    /// The partner's system; zero without a partner.
    pub partner_system: Mac,
}

impl PortStatus {
    pub(super) fn of(member: MemberId, port: &Port, why_not: Option<Reason>) -> PortStatus {
        PortStatus {
            member,
            aggregator: port.aggregator_id(),
            receive: port.receive,
            periodic: port.periodic,
            mux: port.mux,
            selected: port.selected,
            actor: port.actor(),
            partner: port.partner,
            defaulted: port.defaulted,
            actor_churn: port.churn.actor,
            partner_churn: port.churn.partner,
            actor_churned: port.churn.actor_count,
            partner_churned: port.churn.partner_count,
            counters: port.counters,
            why_not,
        }
    }
}
