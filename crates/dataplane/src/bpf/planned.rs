//! A plan as the programs take it.

use std::time::Duration;

use nicteam_team::balance::{Eligible, Number, Punt};
use nicteam_team::buckets::Key;
use nicteam_team::{Balance, Choose, Failover, HashPolicy, MAX_BUCKETS, MAX_MEMBERS, MemberId, MemberSet, Receive};

use super::constants::*;
use super::layout::{Plan, PlanMember, padded};
use crate::{Error, Port};

impl Plan {
    /// The plan in the kernel's form, for the members that are attached.
    pub(super) fn new<'a>(plan: &nicteam_team::Plan, ports: impl IntoIterator<Item = &'a Port>) -> Result<Plan, Error> {
        let silent = PlanMember { keep: [0xff; 12], ..PlanMember::default() };
        let mut own = Plan { generation: plan.generation, members: [silent; MAX_MEMBERS], ..Plan::default() };
        match &plan.choose {
            Choose::Nobody => {}
            Choose::One(member) => {
                own.choose = CHOOSE_ONE;
                own.other = member.index() as u32;
                own.set_table(&[*member])?;
            }
            Choose::Hash { policy, table } => {
                own.choose = CHOOSE_HASH;
                own.policy = policy_number(*policy);
                own.set_table(table)?;
            }
            Choose::HashOrAll { policy, table } => {
                own.choose = CHOOSE_HASH_OR_ALL;
                own.policy = policy_number(*policy);
                own.all = table.iter().copied().collect::<MemberSet>().bits();
                own.set_table(table)?;
            }
            Choose::RoundRobin { members, packets_per_member, igmp } => {
                own.choose = CHOOSE_ROUND_ROBIN;
                own.packets_per_member = *packets_per_member;
                own.igmp = igmp.index() as u32;
                own.set_table(members)?;
            }
            Choose::All(members) => {
                own.choose = CHOOSE_ALL;
                own.all = members.bits();
            }
            Choose::Buckets(buckets) => own.set_buckets(buckets),
            Choose::Balance(balance) => own.set_balance(balance)?,
            Choose::Stripe(stripe) => {
                own.set_balance(&stripe.other)?;
                own.choose = CHOOSE_STRIPE;
                own.balance |= if stripe.redundant.is_off() { 0 } else { STRIPE_REDUNDANT };
                own.all = stripe.group.bits();
                own.sack_delay_ns = saturating_ns(stripe.sack_delay);
                own.plain_kind = stripe.plain.kind.number();
                own.team = padded(stripe.team);
            }
        }
        if let Some(lease) = plan.lease {
            // balance.h looks at it where it punts.
            own.choose |= if matches!(own.choose, CHOOSE_BALANCE | CHOOSE_STRIPE) { 0 } else { CHOOSE_LEASED };
            // Zero would stand for none.
            own.lease_ns = saturating_ns(lease).max(1);
        }
        for line in &plan.members {
            own.members[line.id.index()] = member(line);
            own.set_queue(line);
            if let Receive::Own { team, .. } | Receive::DeliverAnd { team, .. } = line.receive {
                own.team = padded(team);
            }
        }
        if let Choose::Stripe(stripe) = &plan.choose {
            own.members.iter_mut().for_each(|line| line.flags |= MEMBER_STRIPES);
            for sender in &stripe.senders {
                let line = &mut own.members[sender.id.index()];
                (line.path, line.rate_mbps) = (padded(sender.mac), sender.rate_mbps);
                line.token = sender.lost_token.to_be_bytes();
                if stripe.plain.members.contains(sender.id) {
                    own.plain[own.plain_len as usize] = sender.id.index() as u8;
                    own.plain_len += 1;
                }
            }
        }
        if let Some(failover) = &plan.failover {
            own.set_failover(plan, failover);
        }
        if plan.notes_sources {
            own.behind = own.choose;
            own.choose = CHOOSE_SOURCES | (own.choose & CHOOSE_WAY);
        }
        for port in ports {
            own.members[port.id.index()].ifindex = port.index;
        }
        Ok(own)
    }

    fn set_balance(&mut self, balance: &Balance) -> Result<(), Error> {
        self.choose = CHOOSE_BALANCE;
        self.other = balance.active.index() as u32;
        if balance.eligible == Eligible::Alb {
            self.balance |= BALANCE_ALB;
        }
        match balance.number {
            Number::Hash(policy) => self.policy = policy_number(policy),
            Number::Destination => self.balance |= BALANCE_DESTINATION,
        }
        if balance.counted {
            self.balance |= BALANCE_COUNT;
        }
        if let Some(Punt { from, neighbours }) = balance.punt {
            self.balance |= BALANCE_PUNT | if neighbours { BALANCE_PUNT_ND } else { 0 };
            self.team = padded(from);
        }
        self.set_table(&balance.table)
    }

    fn set_buckets(&mut self, buckets: &nicteam_team::Buckets) {
        self.choose = CHOOSE_BUCKETS;
        self.table = [NO_PLACE; MAX_BUCKETS];
        for (entry, member) in self.table.iter_mut().zip(buckets.table.iter()) {
            if let Some(member) = member.filter(|member| buckets.enabled.contains(member)) {
                *entry = member.index() as u8;
            }
        }
        match buckets.key {
            Key::Source { basis } => self.policy = basis,
            Key::Flow { basis } => {
                self.policy = basis;
                self.balance |= BUCKETS_BY_FLOW;
            }
        }
        self.all = buckets.enabled.iter().copied().collect::<MemberSet>().bits();
        for (entry, member) in self.enabled.iter_mut().zip(&buckets.enabled) {
            *entry = member.index() as u8;
            self.table_len += 1;
        }
    }

    /// A plan that stripes has a program of its own for this ([`super::carrier`]).
    fn set_failover(&mut self, plan: &nicteam_team::Plan, failover: &Failover) {
        if matches!(plan.choose, Choose::Stripe(_)) {
            return;
        }
        let has_own = |line: &nicteam_team::PlanMember| matches!(line.receive, Receive::Own { .. });
        let has_active = matches!(plan.choose, Choose::One(_) | Choose::Balance(_));
        self.failover = FAILOVER_ON;
        self.failover |= if has_active { FAILOVER_ACTIVE } else { 0 };
        let takes_groups =
            |line: &&nicteam_team::PlanMember| matches!(line.receive, Receive::DropIfMoved { active: true });
        if let Some(active) = plan.members.iter().find(takes_groups).filter(|_| !has_active) {
            self.failover |= FAILOVER_GROUPS;
            self.other = active.id.index() as u32;
        }
        self.failover |= if has_active && plan.members.iter().any(has_own) { FAILOVER_OWN } else { 0 };
        (self.downdelay_ns, self.updelay_ns) = (saturating_ns(failover.downdelay), saturating_ns(failover.updelay));
        self.ranks = [NO_RANK; MAX_MEMBERS];
        for ((rank, entry), member) in (0..).zip(&mut self.fallback).zip(&failover.order) {
            *entry = member.index() as u8;
            self.ranks[member.index()] = rank;
            self.fallback_len = u32::from(rank) + 1;
        }
    }

    fn set_queue(&mut self, line: &nicteam_team::PlanMember) {
        if let Some(queue) = self.queues.get_mut(usize::from(line.queue_id)).filter(|_| line.queue_id != 0) {
            *queue = line.id.index() as u8 + 1;
            self.choose |= CHOOSE_QUEUED;
        }
    }

    fn set_table(&mut self, members: &[MemberId]) -> Result<(), Error> {
        let Some(table) = self.table.get_mut(..members.len()) else {
            return Err(Error::Bpf {
                operation: "execute the plan".to_owned(),
                message: format!("its table has {} entries; {MAX_BUCKETS} is the most", members.len()),
            });
        };
        for (entry, member) in table.iter_mut().zip(members) {
            *entry = member.index() as u8;
        }
        self.table_len = members.len() as u32;
        Ok(())
    }
}

/// A member's line, not yet attached.
fn member(line: &nicteam_team::PlanMember) -> PlanMember {
    let mut own = PlanMember { keep: [0xff; 12], ..PlanMember::default() };
    match line.receive {
        Receive::Deliver => own.flags |= MEMBER_DELIVER,
        Receive::Own { own: mac, .. } => {
            own.flags |= MEMBER_OWN;
            own.own = padded(mac);
        }
        Receive::DeliverAnd { own: mac, .. } => {
            own.flags |= MEMBER_DELIVER | MEMBER_OWN;
            own.own = padded(mac);
        }
        Receive::DropIfMoved { active } => own.flags |= MEMBER_UNMOVED | if active { MEMBER_GROUPS } else { 0 },
        Receive::Drop => {}
    }
    for (mac, place) in [(line.rewrite.dst, 0..6), (line.rewrite.src, 6..12)] {
        if let Some(mac) = mac {
            own.flags |= MEMBER_REWRITE;
            own.keep[place.clone()].fill(0);
            own.put[place].copy_from_slice(&mac.0);
        }
    }
    own
}

fn saturating_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// `POLICY_...`.
fn policy_number(policy: HashPolicy) -> u32 {
    match policy {
        HashPolicy::Layer2 => POLICY_LAYER2,
        HashPolicy::Layer23 => POLICY_LAYER23,
        HashPolicy::Layer34 => POLICY_LAYER34,
        HashPolicy::SrcMac => POLICY_SRC_MAC,
        HashPolicy::DstMac => POLICY_DST_MAC,
        HashPolicy::SrcDstMac => POLICY_SRC_DST_MAC,
        HashPolicy::SrcDstIp => POLICY_SRC_DST_IP,
        HashPolicy::SrcDstPort => POLICY_SRC_DST_PORT,
        HashPolicy::Encap23 => POLICY_ENCAP23,
        HashPolicy::Encap34 => POLICY_ENCAP34,
        HashPolicy::VlanSrcMac => POLICY_VLAN_SRCMAC,
        HashPolicy::SrcIp => POLICY_SRC_IP,
        HashPolicy::DstIp => POLICY_DST_IP,
        HashPolicy::SrcXorDstIp => POLICY_SRC_XOR_DST_IP,
        HashPolicy::Aggr(layers) => POLICY_AGGR | u32::from(layers.bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_too_long_is_refused() {
        let table = vec![MemberId::new(0).unwrap(); MAX_BUCKETS + 1];
        let choose = Choose::Hash { policy: HashPolicy::Layer2, table };
        let plan = nicteam_team::Plan {
            generation: 1,
            choose,
            members: Vec::new(),
            lease: None,
            failover: None,
            notes_sources: false,
        };
        let refused = Plan::new(&plan, []).unwrap_err().to_string();
        assert!(refused.contains("257 entries"), "{refused}");
    }
}
