//! From members and mode to the plan.
//!
//! In every mode but active-backup the plan spreads evenly over the living. The
//! kernel's balance-rr keeps counting its dead members and gives their share to
//! the next one (`bond_get_slave_by_id`): with one of three gone it sends 2 : 1,
//! this 1 : 1. The kernel also stops sending by a failing member in balance-rr
//! and broadcast before its `downdelay` has passed; this one counts on it.

use super::{LinkState, Members};
use crate::lacp::Lacp;
use crate::{Choose, Config, MemberId, Mode, PlanMember, Receive, Rewrite};

/// How a frame finds its member, and each member's line.
pub(super) fn lines(
    config: &Config,
    members: &Members,
    active: Option<MemberId>,
    lacp: Option<&Lacp>,
) -> (Choose, Vec<PlanMember>) {
    let receive = |id: MemberId, state: LinkState| {
        let deliver = match config.mode {
            Mode::ActiveBackup if config.all_slaves_active => state != LinkState::Down,
            Mode::ActiveBackup => active == Some(id),
            Mode::BalanceRr | Mode::BalanceXor | Mode::Broadcast => state != LinkState::Down,
            Mode::Ad if config.all_slaves_active => state != LinkState::Down,
            Mode::Ad => lacp.is_some_and(|lacp| lacp.collecting().contains(id)),
        };
        if deliver { Receive::Deliver } else { Receive::Drop }
    };
    let lines = members.iter().map(|(&id, member)| PlanMember {
        id,
        receive: receive(id, member.state),
        rewrite: Rewrite::default(),
    });
    (choose(config, senders(members, lacp), active), lines.collect())
}

/// Those that frames may be sent by, by place.
fn senders(members: &Members, lacp: Option<&Lacp>) -> Vec<MemberId> {
    match lacp {
        Some(lacp) => lacp.distributing().iter().collect(),
        None => members.iter().filter(|(_, member)| member.is_live()).map(|(id, _)| *id).collect(),
    }
}

fn choose(config: &Config, live: Vec<MemberId>, active: Option<MemberId>) -> Choose {
    let Some(&first) = live.first() else {
        return Choose::Nobody;
    };
    match config.mode {
        Mode::ActiveBackup => active.map_or(Choose::Nobody, Choose::One),
        Mode::BalanceXor | Mode::Ad => Choose::Hash { policy: config.xmit_hash_policy, table: live },
        Mode::Broadcast => Choose::All(live.into_iter().collect()),
        Mode::BalanceRr => {
            Choose::RoundRobin { members: live, packets_per_member: config.packets_per_slave, igmp: first }
        }
    }
}
