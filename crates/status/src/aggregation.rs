//! LACP at one moment, for those who look at it.

use nicteam_bundles::{PortEnd, Problem};
use nicteam_team::Team;
use nicteam_team::lacp::{Lacp, PortStatus, Reason, ReceiveState};
use nicteam_wire::{Mac, PortInfo};
use serde::{Deserialize, Serialize};

/// The actor system and its active aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregation {
    /// Priority of the system.
    pub system_priority: u16,
    /// Address of the system.
    pub system: String,
    /// The aggregator that carries the traffic, if there is one.
    pub active: Option<Aggregator>,
    /// LACPDUs that the dataplane answered while this process, or one before it, did not run.
    #[serde(default)]
    pub answered: u64,
}

/// An aggregator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregator {
    /// Its number.
    pub id: u16,
    /// How many ports with carrier it has.
    pub ports: usize,
    /// The key of its ports.
    pub actor_key: u16,
    /// The partner's key.
    pub partner_key: u16,
    /// The partner's system; zeros without a partner.
    pub partner_system: String,
}

/// A member as a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortState {
    /// Number of its aggregator.
    pub aggregator: Option<u16>,
    /// State of its receive machine: `current`, `expired`, `defaulted`, `port disabled` or `lacp disabled`.
    #[serde(default)]
    pub receive: String,
    /// State of its mux machine: `detached`, `waiting`, `attached`, `collecting` or `distributing`.
    pub mux: String,
    /// Why it does not aggregate, or what is wrong though it does.
    pub why_not: Option<Problem>,
    /// What this end says of itself.
    pub actor: PortEnd,
    /// What is known or assumed of the other end.
    pub partner: PortEnd,
    /// `monitoring`, `none` or `churned`.
    pub actor_churn: String,
    /// The same of the partner.
    pub partner_churn: String,
    /// How often this end churned.
    pub actor_churned: u32,
    /// How often the partner churned.
    pub partner_churned: u32,
    /// LACPDUs received.
    pub lacpdus_received: u64,
    /// LACPDUs sent.
    pub lacpdus_sent: u64,
    /// Frames of slow protocols that were neither LACPDUs nor markers.
    #[serde(default)]
    pub malformed_received: u64,
    /// Markers received.
    #[serde(default)]
    pub markers_received: u64,
    /// How often the partner was not heard in time.
    #[serde(default)]
    pub expired: u64,
    /// How often it was given up then.
    #[serde(default)]
    pub defaulted: u64,
    /// How often the link lost its carrier or got it back.
    #[serde(default)]
    pub carrier_changes: u64,
}

impl Aggregation {
    /// That of a team, if its mode is 802.3ad.
    pub fn of(team: &Team, answered: u64) -> Option<Aggregation> {
        team.lacp().map(|lacp| Aggregation::of_lacp(lacp, answered))
    }

    /// That of an actor system.
    pub fn of_lacp(lacp: &Lacp, answered: u64) -> Aggregation {
        let active = lacp.active_aggregator().map(|aggregator| Aggregator {
            id: aggregator.id,
            ports: lacp.ports().iter().filter(|port| counts(port, aggregator.id)).count(),
            actor_key: aggregator.actor_key,
            partner_key: aggregator.partner_key,
            partner_system: aggregator.partner_system.to_string(),
        });
        let config = lacp.config();
        Aggregation {
            system_priority: config.ad_actor_sys_prio,
            system: config.ad_actor_system.to_string(),
            active,
            answered,
        }
    }

    /// True if a partner speaks LACP on the active aggregator.
    pub fn has_partner(&self) -> bool {
        self.active.as_ref().is_some_and(|active| active.partner_system != Mac::default().to_string())
    }
}

/// True for a port of this aggregator that has carrier (Linux bond_3ad.c, `__agg_active_ports`).
fn counts(port: &PortStatus, aggregator: u16) -> bool {
    port.aggregator == Some(aggregator) && port.receive != ReceiveState::PortDisabled
}

impl PortState {
    /// That of a port.
    pub fn of(port: &PortStatus) -> PortState {
        let why_not = |reason: Reason| Problem { text: reason.to_string(), hint: reason.hint().to_owned() };
        PortState {
            aggregator: port.aggregator,
            receive: port.receive.to_string(),
            mux: port.mux.to_string(),
            why_not: port.why_not.map(why_not),
            actor: end(&port.actor),
            partner: end(&port.partner),
            actor_churn: port.actor_churn.to_string(),
            partner_churn: port.partner_churn.to_string(),
            actor_churned: port.actor_churned,
            partner_churned: port.partner_churned,
            lacpdus_received: port.counters.lacpdus_received,
            lacpdus_sent: port.counters.lacpdus_sent,
            malformed_received: port.counters.malformed,
            markers_received: port.counters.markers_received,
            expired: port.counters.expired,
            defaulted: port.counters.defaulted,
            carrier_changes: port.counters.carrier_changes,
        }
    }
}

fn end(of: &PortInfo) -> PortEnd {
    PortEnd {
        system_priority: of.system_priority,
        system: of.system.to_string(),
        key: of.key,
        port_priority: of.port_priority,
        port: of.port,
        state: of.state.0,
    }
}
