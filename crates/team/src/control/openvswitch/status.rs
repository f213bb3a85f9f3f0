//! A bond at one moment, for those who look at it.

use std::time::Duration;

use nicteam_events::LinkState;
use nicteam_machine::{MemberId, Time};

use super::super::Team;
use super::{Bond, Negotiation};
use crate::TimerReason;

/// What `bond/show` prints about a bond beside its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BondStatus {
    /// How far LACP has come.
    pub negotiation: Negotiation,
    /// When buckets change members next; none: they do not.
    pub next_rebalance: Option<Duration>,
    /// The members, by place.
    pub members: Vec<BondMember>,
}

/// A member of a bond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BondMember {
    /// Its place.
    pub id: MemberId,
    /// It may send.
    pub enabled: bool,
    /// Its link and LACP let it send: it is enabled, or will be after `updelay`.
    pub may_enable: bool,
    /// LACP alone lets it; true without LACP.
    pub lacp_may_enable: bool,
    /// It is the active one.
    pub active: bool,
    /// How long until it is enabled, or disabled, if it waits for that.
    pub delay: Option<Duration>,
    /// Its buckets that carried something, with bytes.
    pub buckets: Vec<(u8, u64)>,
}

impl Team {
    /// The bond at this moment, as far as its loads were read; in Open vSwitch's modes alone.
    pub fn bond(&self, now: Time) -> Option<BondStatus> {
        let bond = self.parts.bond.as_ref()?;
        let left = |reason| self.timers.at(reason).map(|at| at.since(now));
        let negotiation = self.negotiation();
        let members = self.members.iter().map(|(&id, member)| {
            let lacp_may_enable = self.lacp_may_enable(id, negotiation);
            let delay = match member.state {
                LinkState::Back => left(TimerReason::UpDelay(id)),
                LinkState::Fail => left(TimerReason::DownDelay(id)),
                LinkState::Up | LinkState::Down => None,
            };
            BondMember {
                id,
                enabled: member.is_live(),
                may_enable: member.link.carrier && lacp_may_enable,
                lacp_may_enable,
                active: self.active == Some(id),
                delay,
                buckets: if self.is_balanced() { bond.buckets_of(id) } else { Vec::new() },
            }
        });
        let members = members.collect();
        Some(BondStatus { negotiation, next_rebalance: left(TimerReason::Rebalance), members })
    }
}

impl Bond {
    fn buckets_of(&self, id: MemberId) -> Vec<(u8, u64)> {
        let numbered = (0..=u8::MAX).zip(self.buckets.iter());
        let own = numbered.filter(|(_, bucket)| bucket.member == Some(id) && bucket.bytes > 0);
        own.map(|(number, bucket)| (number, bucket.bytes)).collect()
    }
}
