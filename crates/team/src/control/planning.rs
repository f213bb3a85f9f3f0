//! From members and mode to the plan.
//!
//! In every mode but active-backup the plan spreads evenly over the living. The
//! kernel's balance-rr keeps counting its dead members and gives their share to
//! the next one (`bond_get_slave_by_id`): with one of three gone it sends 2 : 1,
//! this 1 : 1. The kernel also stops sending by a failing member in balance-rr,
//! broadcast and the modes that hash before its `downdelay` has passed; this one counts on it.

use std::time::Duration;

use nicteam_discovery::Discovery;
use nicteam_events::LinkState;
use nicteam_lacp::Lacp;
use nicteam_machine::{MemberId, MemberSet};
use nicteam_options::mode::{Eligible, Receives, Sends};
use nicteam_plan::stripe::{Plain, Sender, Stripe};

use super::balance::Balancer;
use super::facts::Facts;
use super::monitor::{Member, Members, millis};
use super::{active, openvswitch};
use crate::balance::{Balance, Number, Punt};
use crate::{Choose, Failover, PlanMember, Receive, Rewrite, StripePlain, hash};

/// How a frame finds its member, and each member's line.
pub(super) fn lines(facts: &Facts<'_>) -> (Choose, Vec<PlanMember>) {
    let Facts { config, traits, members, active, parts, .. } = *facts;
    let rewrite = |id: MemberId| match &parts.balancer {
        Some(balancer) => balancer.rewrite(id, active == Some(id)),
        None => Rewrite::default(),
    };
    // Of a member that is up.
    let queue_id = |member: &Member| match member.state {
        LinkState::Up if traits.uses_queues => config.queue_id_of(&member.name),
        _ => 0,
    };
    let lines = members.iter().map(|(&id, member)| PlanMember {
        id,
        receive: receive(facts, id, member.state),
        rewrite: rewrite(id),
        queue_id: queue_id(member),
    });
    (choose(facts), lines.collect())
}

/// What becomes of the frames that a member receives.
fn receive(facts: &Facts<'_>, id: MemberId, state: LinkState) -> Receive {
    let Facts { config, traits, team, active, parts, .. } = *facts;
    if traits.openvswitch {
        return openvswitch::planning::receive(facts, id, state);
    }
    let deliver = match traits.receives {
        _ if traits.standbys_may_receive && config.all_slaves_active => state != LinkState::Down,
        Receives::ByAddress => {
            let receive = |balancer: &Balancer| balancer.receive(team, id, active == Some(id));
            return parts.balancer.as_ref().map_or(Receive::Drop, receive);
        }
        Receives::ByActive => active == Some(id),
        Receives::ByAll if traits.aggregates(config) => match parts.lacp() {
            // A switch without LACP learns the team's address where it hears an LACPDU, from whichever member.
            Some(lacp) if lacp.knows_nobody() && !lacp.receivers().contains(id) && state != LinkState::Down => {
                return Receive::Own { own: team, team };
            }
            lacp => lacp.is_some_and(|lacp| lacp.receivers().contains(id)),
        },
        Receives::ByAll | Receives::UnlessReflected => state != LinkState::Down,
    };
    if deliver { Receive::Deliver } else { Receive::Drop }
}

/// Those that frames may be sent by, by place.
pub(super) fn senders(members: &Members, lacp: Option<&Lacp>) -> Vec<MemberId> {
    match lacp {
        Some(lacp) => lacp.senders().iter().collect(),
        None => members.iter().filter(|(_, member)| member.is_live()).map(|(id, _)| *id).collect(),
    }
}

fn choose(facts: &Facts<'_>) -> Choose {
    let Facts { config, traits, team, members, active, parts } = *facts;
    if let Some(bond) = &parts.bond {
        return openvswitch::planning::choose(facts, bond);
    }
    let live = senders(members, parts.lacp());
    let Some(&first) = live.first() else {
        return Choose::Nobody;
    };
    // What is not balanced leaves by the active member, or where there is none by the first.
    let active = if traits.has_active { active } else { Some(first) };
    let policy = config.xmit_hash_policy;
    match traits.sends {
        Sends::ByActive => active.map_or(Choose::Nobody, Choose::One),
        // Its ARP is punted, which a plain hash does not do.
        Sends::ByHash if traits.balances_receiving() => {
            active.map_or(Choose::Nobody, |active| Choose::Balance(balance(facts, Eligible::Alb, live, active)))
        }
        Sends::ByHash if config.lacp.broadcast_neighbor => {
            Choose::HashOrAll { policy, table: assigned(live, config.hash_buckets) }
        }
        Sends::ByHash => Choose::Hash { policy, table: assigned(live, config.hash_buckets) },
        // Where there is no bond, as with any mode without its part.
        Sends::BySource | Sends::ByFlow => Choose::Nobody,
        Sends::ByAll => Choose::All(live.into_iter().collect()),
        Sends::InTurn => {
            Choose::RoundRobin { members: live, packets_per_member: config.packets_per_slave, igmp: first }
        }
        Sends::ByBuckets(eligible) => {
            active.map_or(Choose::Nobody, |active| Choose::Balance(balance(facts, eligible, live, active)))
        }
        Sends::Striped => active.map_or(Choose::Nobody, |active| {
            let discovery = parts.discovery.as_ref();
            let (senders, peers) = discovery.map(|of| (of.senders(), of.peers().into())).unwrap_or_default();
            let group = discovery.map(Discovery::group).filter(|group| !group.is_empty());
            let group = group.unwrap_or(MemberSet::one(active));
            let redundant = config.redundant.clone();
            let sack_delay = Duration::from_millis(config.sack_delay_ms.into());
            let plain = plain(facts, &senders);
            let other = balance(facts, Eligible::Alb, parts.heard(live), active);
            Choose::Stripe(Stripe { team, senders, peers, group, redundant, sack_delay, plain, other })
        }),
    }
}

/// What goes by several members towards hosts that do not stripe.
fn plain(facts: &Facts<'_>, senders: &[Sender]) -> Plain {
    match facts.config.stripe_plain {
        StripePlain::Off => Plain { kind: StripePlain::Off, members: MemberSet::EMPTY },
        kind => {
            let all = senders.iter().map(|sender| sender.id).collect();
            Plain { kind, members: facts.parts.one_sided.as_ref().map_or(all, |of| of.usable(all)) }
        }
    }
}

/// The members by bucket: each in turn, as switches with a hash of a few bits do (8 buckets and three links: 3, 3 and 2).
/// Without a number of buckets there are as many as members.
fn assigned(live: Vec<MemberId>, buckets: u32) -> Vec<MemberId> {
    match buckets {
        0 => live,
        buckets => {
            (0..buckets).filter_map(|bucket| hash::place(bucket, buckets, live.len())).map(|at| live[at]).collect()
        }
    }
}

/// By buckets as their loads say, where the mode shares load and `tlb_dynamic_lb` lets it; else by the hash alone. Where
/// clients are told one member's address each, what the stack says of its own is punted.
fn balance(facts: &Facts<'_>, eligible: Eligible, live: Vec<MemberId>, active: MemberId) -> Balance {
    let Facts { config, traits, team, parts, .. } = *facts;
    let buckets = parts.buckets.as_ref().filter(|_| config.tlb_dynamic_lb);
    Balance {
        eligible,
        number: match eligible {
            Eligible::Alb if buckets.is_some() => Number::Destination,
            Eligible::Alb | Eligible::Tlb => Number::Hash(config.xmit_hash_policy),
        },
        counted: buckets.is_some(),
        table: buckets.map_or(live, |buckets| buckets.table().to_vec()),
        active,
        punt: traits.balances_receiving().then_some(Punt { from: team, neighbours: config.rlb_ipv6 }),
    }
}

/// What a dataplane does about a member without carrier until the next plan. Nothing where nobody asked for carrier, or
/// where each frame leaves by every member anyhow. In stripe the dataplane knows by itself who can take over.
pub(super) fn failover(facts: &Facts<'_>, choose: &Choose) -> Option<Failover> {
    let Facts { config, traits, members, parts, .. } = *facts;
    let monitors = config.miimon_ms > 0 || traits.stripes();
    if !config.carrier_failover || !monitors || *choose == Choose::Nobody {
        return None;
    }
    let order = match (traits.sends, &parts.bond) {
        (_, Some(bond)) => openvswitch::planning::failover(facts, bond),
        (Sends::ByAll, None) => return None,
        (Sends::Striped, None) => Vec::new(),
        (Sends::ByActive, None) => {
            let mut order = preferred(facts);
            // One that is down may have carrier again when all others have lost theirs.
            let down = members.keys().filter(|id| !order.contains(id)).copied().collect::<Vec<_>>();
            order.extend(down);
            order
        }
        (Sends::ByHash | Sends::ByBuckets(_), None) if traits.has_active => {
            preferred(facts).into_iter().filter(|id| members.get(id).is_some_and(Member::is_live)).collect()
        }
        (_, None) => senders(members, parts.lacp()),
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
