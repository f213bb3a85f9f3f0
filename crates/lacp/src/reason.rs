//! Why a port does not carry traffic, in words.

use std::fmt;

use nicteam_machine::{Duplex, Time};
use nicteam_wire::{LacpState, Mac};

use super::port::{Port, Selected};
use super::selection::Ports;
use super::states::ChurnState;
use super::timer::PortTimer;
use super::{MuxState, ReceiveState};

/// Why a port does not aggregate; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The link has no carrier.
    NoCarrier,
    /// The link is half duplex.
    HalfDuplex,
    /// The driver does not tell the duplex.
    UnknownDuplex,
    /// Our own PDUs come back: a looped cable, or a partner with our system's address.
    Looped,
    /// No PDU comes, or comes no more.
    PartnerSilent,
    /// The active aggregator has another speed.
    SpeedsDiffer {
        /// This port's, in Mbit/s.
        here_mbps: Option<u32>,
        /// The active aggregator's.
        active_mbps: Option<u32>,
    },
    /// The partner is another system than the active aggregator's.
    AnotherSystem {
        /// The partner of this port.
        here: Mac,
        /// The partner of the active aggregator.
        active: Mac,
    },
    /// The partner has given this port another key than those of the active aggregator.
    KeysDiffer {
        /// The partner's key of this port.
        here: u16,
        /// The partner's key of the active aggregator.
        active: u16,
    },
    /// The partner wants this port alone.
    Individual,
    /// Another aggregator is active.
    NotSelected {
        /// Its number.
        active: Option<u16>,
    },
    /// It was lost, and `wait_to_restore_ms` is not over.
    WaitToRestore {
        /// When it is.
        until: Time,
    },
    /// It waits for others to join (`aggregate_wait_ms`).
    AggregateWait {
        /// Until when, if it waits itself.
        until: Option<Time>,
    },
    /// The partner's PDUs do not name this port: it does not hear us.
    PartnerDeaf,
    /// This end or the partner has been out of sync for 60 s.
    Churned,
    /// The partner hears us and does not attach its port.
    Suspended,
    /// The partner does not collect yet (independent control).
    PartnerNotCollecting,
    /// The port does aggregate; but its last marker was not answered, so moving
    /// a flow away from it takes waiting.
    MarkerUnanswered,
}

impl Reason {
    /// What to look at.
    pub fn hint(&self) -> &'static str {
        match self {
            Reason::NoCarrier => "look at its cable and at the port at the other end",
            Reason::HalfDuplex | Reason::UnknownDuplex => "let both ends of the link negotiate full duplex",
            Reason::Looped => "look where its cable ends; two systems must not share an ad_actor_system",
            Reason::PartnerSilent => {
                "switch LACP on at the other end (one end has to be active), and let nothing between drop its frames"
            }
            Reason::SpeedsDiffer { .. } => "members of one aggregate have one speed; ad_select chooses among several",
            Reason::AnotherSystem { .. } => "cable all members to one system, or let the two be one (MLAG)",
            Reason::KeysDiffer { .. } => "put the partner's ports into one group",
            Reason::Individual => "let the partner's port aggregate: it is set to stand alone",
            Reason::NotSelected { .. } => "ad_select chooses among several aggregates",
            Reason::WaitToRestore { .. } | Reason::AggregateWait { .. } => "wait",
            Reason::PartnerDeaf => "look for what drops frames on the way to the partner",
            Reason::Churned | Reason::Suspended | Reason::PartnerNotCollecting => {
                "ask the partner why: its group may be full, down, or of other ports"
            }
            Reason::MarkerUnanswered => "the partner lacks the marker responder that the standard demands",
        }
    }
}

/// Why this port does not distribute, or what is wrong though it does.
pub(super) fn why_not(port: &Port, ports: &Ports, active: Option<u16>) -> Option<Reason> {
    if port.distributes() {
        return port.markers.unanswered.then_some(Reason::MarkerUnanswered);
    }
    Some(own(port).or_else(|| selection(port, ports, active)).unwrap_or_else(|| attachment(port)))
}

/// What the port itself lacks.
fn own(port: &Port) -> Option<Reason> {
    match (port.receive, port.params.link.duplex) {
        (ReceiveState::PortDisabled, _) => Some(Reason::NoCarrier),
        (_, Some(Duplex::Half)) => Some(Reason::HalfDuplex),
        (_, None) => Some(Reason::UnknownDuplex),
        _ if port.is_looped() => Some(Reason::Looped),
        (ReceiveState::Current, _) => None,
        _ => Some(Reason::PartnerSilent),
    }
}

/// What keeps it out of the active aggregator.
fn selection(port: &Port, ports: &Ports, active: Option<u16>) -> Option<Reason> {
    if port.selected == Selected::Selected {
        return None;
    }
    if let Some(until) = port.timers.at(PortTimer::Restore) {
        return Some(Reason::WaitToRestore { until });
    }
    let chosen = ports.values().find(|port| active.is_some() && port.aggregator_id() == active);
    let Some(chosen) = chosen else {
        return Some(Reason::NotSelected { active });
    };
    let (here, there) = (port.actor().key, chosen.actor().key);
    Some(if port.partner.system != chosen.partner.system && !chosen.defaulted {
        Reason::AnotherSystem { here: port.partner.system, active: chosen.partner.system }
    } else if here != there {
        let (here_mbps, active_mbps) = (port.params.link.speed_mbps, chosen.params.link.speed_mbps);
        Reason::SpeedsDiffer { here_mbps, active_mbps }
    } else if port.partner.key != chosen.partner.key {
        Reason::KeysDiffer { here: port.partner.key, active: chosen.partner.key }
    } else if !port.partner.state.has(LacpState::AGGREGATION) {
        Reason::Individual
    } else {
        Reason::NotSelected { active }
    })
}

/// What is between selected and distributing.
fn attachment(port: &Port) -> Reason {
    let churned = port.churn.actor == ChurnState::Churned || port.churn.partner == ChurnState::Churned;
    match port.mux {
        MuxState::Detached | MuxState::Waiting => Reason::AggregateWait { until: port.timers.at(PortTimer::WaitWhile) },
        MuxState::Collecting | MuxState::Distributing => Reason::PartnerNotCollecting,
        MuxState::Attached if !port.matched => Reason::PartnerDeaf,
        MuxState::Attached if churned => Reason::Churned,
        MuxState::Attached => Reason::Suspended,
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mbps = |speed: &Option<u32>| speed.map_or_else(|| "unknown".to_owned(), |mbps| format!("{mbps} Mbit/s"));
        match self {
            Reason::NoCarrier => f.write_str("no carrier"),
            Reason::HalfDuplex => f.write_str("half duplex: LACP needs full duplex"),
            Reason::UnknownDuplex => f.write_str("duplex unknown: LACP needs a driver that reports full duplex"),
            Reason::Looped => f.write_str("looped to ourselves: our own LACPDUs come back"),
            Reason::PartnerSilent => f.write_str("partner silent: no LACPDU comes"),
            Reason::SpeedsDiffer { here_mbps, active_mbps } => {
                write!(f, "speeds differ: {} here, {} in the active aggregator", mbps(here_mbps), mbps(active_mbps))
            }
            Reason::AnotherSystem { here, active } => {
                write!(f, "partner in another system: {here} here, {active} in the active aggregator")
            }
            Reason::KeysDiffer { here, active } => {
                write!(f, "keys differ: the partner's is {here} here, {active} in the active aggregator")
            }
            Reason::Individual => f.write_str("the partner does not let this port aggregate"),
            Reason::NotSelected { active: Some(id) } => write!(f, "not selected: aggregator {id} is active"),
            Reason::NotSelected { active: None } => f.write_str("not selected: no aggregator is active"),
            Reason::WaitToRestore { .. } => f.write_str("waiting to be restored (wait_to_restore_ms)"),
            Reason::AggregateWait { .. } => f.write_str("waiting for other members (aggregate_wait_ms)"),
            Reason::PartnerDeaf => f.write_str("partner does not hear us: its LACPDUs do not name this port"),
            Reason::Churned => f.write_str("churned: out of sync for more than 60 s"),
            Reason::Suspended => {
                f.write_str("suspended: the partner receives our LACPDUs but does not attach its port")
            }
            Reason::PartnerNotCollecting => f.write_str("the partner does not collect yet"),
            Reason::MarkerUnanswered => f.write_str("aggregates; its last marker was not answered"),
        }
    }
}
