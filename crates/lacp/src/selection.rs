//! The selection logic (IEEE 802.1AX-2014, 6.4.14): which aggregator a port
//! belongs to, and which aggregator is the active one.
//!
//! A team is one interface, so one aggregator carries its traffic and the ports
//! of all others stand by. Choosing it follows Linux
//! drivers/net/bonding/bond_3ad.c, `ad_agg_selection_test`, with one
//! difference: a port counts while its partner is heard, not while it merely
//! has carrier. And one addition, without which two systems with links of
//! unlike speed can each wait for ever on an aggregator that the other keeps on
//! standby: the system with the lower identifier decides (6.4.14.1 of the
//! standard leaves standby to it), the other follows to where it is in sync;
//! if it does not, who decides follows it (`insist`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nicteam_machine::MemberId;
use nicteam_wire::{LacpState, Mac};

use super::port::{LagId, Port, Selected};
use super::timer::PortTimer;
use super::{AdSelect, LacpConfig, MuxState, ReceiveState};

/// The ports, by member.
pub(super) type Ports = BTreeMap<MemberId, Port>;

/// What an aggregator has to offer.
#[derive(Clone, Copy, Debug)]
struct Offer {
    id: u16,
    /// A partner speaks LACP on it.
    partner: bool,
    /// It is ours to choose, or the partner has chosen it.
    welcome: bool,
    /// It is no lone port.
    aggregates: bool,
    /// Ports that work.
    ports: u32,
    bandwidth_mbps: u64,
    priority: u32,
}

/// Gives every port that needs one an aggregator, chooses the active one and
/// says which it is now.
pub(super) fn step(ports: &mut Ports, config: &LacpConfig, active: Option<u16>) -> Option<u16> {
    let members: Vec<MemberId> = ports.keys().copied().collect();
    for member in members {
        let port = &ports[&member];
        if port.selected != Selected::Unselected || port.mux != MuxState::Detached {
            continue;
        }
        let lag = lag(port);
        let aggregator = selectable(port).then(|| (aggregator_for(ports, member, lag), lag));
        if let Some(port) = ports.get_mut(&member) {
            port.selected = if aggregator.is_some() { Selected::Standby } else { Selected::Unselected };
            port.aggregator = aggregator;
        }
    }
    let active = choose(ports, config, active);
    for port in ports.values_mut().filter(|port| port.selected != Selected::Unselected) {
        let chosen = port.aggregator_id() == active && !port.timers.is_set(PortTimer::Restore) && !port.is_looped();
        port.selected = if chosen { Selected::Selected } else { Selected::Standby };
    }
    active
}

/// The aggregator of a port that is attached already: that of its like, or a free one.
pub(super) fn attached(ports: &mut Ports, member: MemberId) -> Option<u16> {
    let lag = lag(ports.get(&member)?);
    let id = aggregator_for(ports, member, lag);
    ports.get_mut(&member)?.aggregator = Some((id, lag));
    Some(id)
}

/// `Ready` of the active aggregator: nobody who waits for it wants to wait longer.
pub(super) fn ready(ports: &Ports) -> bool {
    let waiting = |port: &&Port| port.mux == MuxState::Waiting && port.selected == Selected::Selected;
    ports.values().filter(waiting).all(|port| port.ready)
}

/// What a port has in common with those it can share an aggregator with.
fn lag(port: &Port) -> LagId {
    let actor = port.actor();
    let alone =
        !port.speaks_lacp() || port.partner.system == Mac::default() || !port.partner.state.has(LacpState::AGGREGATION);
    LagId {
        actor_key: actor.key,
        partner_system_priority: port.partner.system_priority,
        partner_system: port.partner.system,
        partner_key: port.partner.key,
        individual: alone.then_some(actor.port),
    }
}

/// A port without carrier is not newly selected; one that has been stays so.
fn selectable(port: &Port) -> bool {
    port.receive != ReceiveState::PortDisabled
}

/// The aggregator that ports of the same kind are in, or the lowest free one.
fn aggregator_for(ports: &Ports, member: MemberId, lag: LagId) -> u16 {
    let others = || ports.iter().filter(|(id, _)| **id != member).map(|(_, port)| port);
    let same = others()
        .find(|port| port.selected != Selected::Unselected && port.aggregator.is_some_and(|(_, theirs)| theirs == lag));
    if let Some(id) = same.and_then(Port::aggregator_id) {
        return id;
    }
    let taken = |id: &u16| others().any(|port| port.aggregator_id() == Some(*id));
    // There are fewer ports than numbers.
    (1..=u16::MAX).find(|id| !taken(id)).unwrap_or(u16::MAX)
}

/// The active aggregator: the best of those with a port that works; if there is
/// none, the one that was, so that nothing is detached that may come back.
fn choose(ports: &Ports, config: &LacpConfig, active: Option<u16>) -> Option<u16> {
    let offers = offers(ports, config);
    let current = offers.iter().find(|offer| Some(offer.id) == active);
    let best = offers.iter().max_by_key(|offer| rank(offer, config.ad_select, active));
    match (current, best) {
        (Some(current), Some(best))
            if config.ad_select == AdSelect::Stable
                && (current.partner, current.welcome) >= (best.partner, best.welcome) =>
        {
            Some(current.id)
        }
        (_, Some(best)) => Some(best.id),
        (_, None) => active.filter(|id| {
            ports.values().any(|port| port.selected != Selected::Unselected && port.aggregator_id() == Some(*id))
        }),
    }
}

/// Every aggregator with a port that works.
fn offers(ports: &Ports, config: &LacpConfig) -> Vec<Offer> {
    let mut offers: Vec<Offer> = Vec::new();
    for port in ports.values().filter(|port| works(port, config)) {
        let Some((id, lag)) = port.aggregator else { continue };
        let place = offers.iter().position(|offer| offer.id == id).unwrap_or_else(|| {
            let (partner, aggregates) = (!port.defaulted, lag.individual.is_none());
            offers.push(Offer { id, partner, welcome: false, aggregates, ports: 0, bandwidth_mbps: 0, priority: 0 });
            offers.len() - 1
        });
        let offer = &mut offers[place];
        offer.welcome |= decides(port) && !port.refused || port.partner.state.has(LacpState::SYNCHRONIZATION);
        offer.ports += 1;
        offer.bandwidth_mbps += u64::from(port.params.link.speed_mbps.unwrap_or(0));
        offer.priority += u32::from(port.params.priority);
    }
    offers
}

/// True if this system's identifier is the lower one.
fn decides(port: &Port) -> bool {
    let actor = port.actor();
    (actor.system_priority, actor.system) < (port.partner.system_priority, port.partner.system)
}

/// True for a port that could carry traffic if its aggregator were active.
fn works(port: &Port, config: &LacpConfig) -> bool {
    let serves = match port.receive {
        ReceiveState::Current => true,
        ReceiveState::Defaulted | ReceiveState::LacpDisabled => !config.lacp_strict && !port.is_looped(),
        ReceiveState::PortDisabled | ReceiveState::Expired => false,
    };
    serves && port.selected != Selected::Unselected
}

/// The better offer has the greater rank; of equal ones the active, then the
/// first aggregator stays in front.
fn rank(offer: &Offer, ad_select: AdSelect, active: Option<u16>) -> impl Ord + use<> {
    let (ports, bandwidth, priority) = (u64::from(offer.ports), offer.bandwidth_mbps, u64::from(offer.priority));
    let policy = match ad_select {
        AdSelect::Stable | AdSelect::Bandwidth => [bandwidth, 0, 0],
        AdSelect::Count => [ports, bandwidth, 0],
        AdSelect::ActorPortPrio => [priority, ports, bandwidth],
    };
    (offer.partner, offer.welcome, offer.aggregates, policy, Some(offer.id) == active, Reverse(offer.id))
}
