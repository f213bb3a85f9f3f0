//! From members and mode to the plan.
//!
//! In every mode but active-backup the plan spreads evenly over the living. The
//! kernel's balance-rr keeps counting its dead members and gives their share to
//! the next one (`bond_get_slave_by_id`): with one of three gone it sends 2 : 1,
//! this 1 : 1. The kernel also stops sending by a failing member in balance-rr,
//! broadcast and the modes that hash before its `downdelay` has passed; this one counts on it.

use std::time::Duration;

use nicteam_wire::Mac;

use super::balance::Balancer;
use super::monitor::{Member, millis};
use super::{LinkState, Members, active};
use crate::lacp::Lacp;
use crate::stripe::{Discovery, Stripe};
use crate::{Choose, Config, Failover, MemberId, MemberSet, Mode, PlanMember, Receive, Rewrite};

/// What a plan follows from.
pub(super) struct Facts<'a> {
    pub(super) config: &'a Config,
    /// The team's address.
    pub(super) team: Mac,
    pub(super) members: &'a Members,
    pub(super) active: Option<MemberId>,
    pub(super) balancer: &'a Balancer,
    pub(super) lacp: Option<&'a Lacp>,
    pub(super) discovery: Option<&'a Discovery>,
}

/// How a frame finds its member, and each member's line.
pub(super) fn lines(facts: &Facts<'_>) -> (Choose, Vec<PlanMember>) {
    let Facts { config, team, members, active, balancer, lacp, .. } = *facts;
    let receive = |id: MemberId, state: LinkState| {
        let deliver = match config.mode {
            Mode::ActiveBackup if config.all_slaves_active => state != LinkState::Down,
            Mode::ActiveBackup => active == Some(id),
            Mode::BalanceRr | Mode::BalanceXor | Mode::Broadcast => state != LinkState::Down,
            Mode::Ad if config.all_slaves_active => state != LinkState::Down,
            Mode::Ad => lacp.is_some_and(|lacp| lacp.collecting().contains(id)),
            Mode::BalanceTlb | Mode::BalanceAlb | Mode::Stripe => {
                return balancer.receive(config, team, id, active == Some(id));
            }
        };
        if deliver { Receive::Deliver } else { Receive::Drop }
    };
    let rewrite = |id: MemberId| match config.mode.balances_load() {
        true => balancer.rewrite(id, active == Some(id)),
        false => Rewrite::default(),
    };
    let lines = members.iter().map(|(&id, member)| PlanMember {
        id,
        receive: receive(id, member.state),
        rewrite: rewrite(id),
        queue_id: queue_id(config, member),
    });
    (choose(facts), lines.collect())
}

/// The queue that leaves by a member: of one that is up, in the modes of Linux
/// bonding.h, `bond_should_override_tx_queue`.
fn queue_id(config: &Config, member: &Member) -> u16 {
    match config.mode {
        Mode::ActiveBackup | Mode::BalanceRr if member.state == LinkState::Up => config.queue_id_of(&member.name),
        _ => 0,
    }
}

/// Those that frames may be sent by, by place.
fn senders(members: &Members, lacp: Option<&Lacp>) -> Vec<MemberId> {
    match lacp {
        Some(lacp) => lacp.distributing().iter().collect(),
        None => members.iter().filter(|(_, member)| member.is_live()).map(|(id, _)| *id).collect(),
    }
}

fn choose(facts: &Facts<'_>) -> Choose {
    let Facts { config, team, members, active, balancer, lacp, discovery } = *facts;
    let live = senders(members, lacp);
    let Some(&first) = live.first() else {
        return Choose::Nobody;
    };
    match config.mode {
        Mode::ActiveBackup => active.map_or(Choose::Nobody, Choose::One),
        Mode::Ad if config.lacp.broadcast_neighbor => {
            Choose::HashOrAll { policy: config.xmit_hash_policy, table: live }
        }
        Mode::BalanceXor | Mode::Ad => Choose::Hash { policy: config.xmit_hash_policy, table: live },
        Mode::Broadcast => Choose::All(live.into_iter().collect()),
        Mode::BalanceRr => {
            Choose::RoundRobin { members: live, packets_per_member: config.packets_per_slave, igmp: first }
        }
        Mode::BalanceTlb | Mode::BalanceAlb => {
            active.map_or(Choose::Nobody, |active| Choose::Balance(balancer.choose(config, team, active)))
        }
        Mode::Stripe => active.map_or(Choose::Nobody, |active| {
            let (senders, peers) = discovery.map(|of| (of.senders(), of.peers().into())).unwrap_or_default();
            let group = discovery.map(Discovery::group).filter(|group| !group.is_empty());
            let (group, other) = (group.unwrap_or(MemberSet::one(active)), balancer.choose(config, team, active));
            let redundant = config.redundant.clone();
            let sack_delay = Duration::from_millis(config.sack_delay_ms.into());
            Choose::Stripe(Stripe { team, senders, peers, group, redundant, sack_delay, other })
        }),
    }
}

/// What a dataplane does about a member without carrier until the next plan. Nothing where nobody asked for carrier, or
/// where each frame leaves by every member anyhow. In stripe the dataplane knows by itself who can take over.
pub(super) fn failover(facts: &Facts<'_>, choose: &Choose) -> Option<Failover> {
    let Facts { config, members, lacp, .. } = *facts;
    let monitors = config.miimon_ms > 0 || config.mode == Mode::Stripe;
    if !config.carrier_failover || !monitors || *choose == Choose::Nobody {
        return None;
    }
    let order = match config.mode {
        Mode::Broadcast => return None,
        Mode::Stripe => Vec::new(),
        Mode::ActiveBackup => {
            let mut order = preferred(facts);
            // One that is down may have carrier again when all others have lost theirs.
            let down = members.keys().filter(|id| !order.contains(id)).copied().collect::<Vec<_>>();
            order.extend(down);
            order
        }
        Mode::BalanceTlb | Mode::BalanceAlb => {
            preferred(facts).into_iter().filter(|id| members.get(id).is_some_and(Member::is_live)).collect()
        }
        Mode::BalanceRr | Mode::BalanceXor | Mode::Ad => senders(members, lacp),
    };
    Some(Failover { order, downdelay: millis(config.downdelay_ms), updelay: millis(config.updelay_ms) })
}

/// The active member, who would be the active one without it, and so on.
fn preferred(facts: &Facts<'_>) -> Vec<MemberId> {
    let config = facts.config;
    let mut rest = facts.members.clone();
    let mut order: Vec<MemberId> = Vec::new();
    let mut next = facts.active;
    while let Some(id) = next {
        rest.remove(&id);
        order.push(id);
        let is_primary = |member: &Member| config.primary.as_deref() == Some(&*member.name);
        let primary = rest.iter().find(|(_, member)| is_primary(member)).map(|(id, _)| *id);
        next = active::choose(&rest, None, active::Wishes { primary, force: false, config });
    }
    order
}
