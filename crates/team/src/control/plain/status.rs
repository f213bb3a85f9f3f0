//! One-sided striping, for those who look at a team.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use nicteam_machine::{MemberId, Time};
use nicteam_plan::stripe::PlainHost;
use nicteam_wire::Mac;

use crate::control::Team;

/// What a team that stripes does towards hosts that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainStatus {
    /// The hosts that were sent to lately, those with the most delivered first.
    pub hosts: Vec<PlainHostStatus>,
    /// The members that can send, by place.
    pub members: Vec<PlainMemberStatus>,
}

/// A host, or a next hop, that does not stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainHostStatus {
    /// What the dataplane says of it.
    pub host: PlainHost,
    /// Its addresses, as far as the team has heard its stack speak to them; in order.
    pub addresses: Vec<IpAddr>,
    /// True if members are judged by what it answers.
    pub asked: bool,
}

/// A member that can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainMemberStatus {
    /// Which.
    pub id: MemberId,
    /// Segments that it sent to hosts by which more than one member is used, ever.
    pub sent: u64,
    /// Of these sent again.
    pub resent: u64,
    /// Whether it is used.
    pub state: PlainState,
}

/// Whether a member is used towards hosts that do not stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainState {
    /// It is.
    Used,
    /// It is not: no answer comes back by it.
    Silent {
        /// For how long.
        lasts: Duration,
        /// The host that answers others.
        host: Mac,
        /// Its address.
        ip: Ipv4Addr,
    },
    /// It is not: it lost what it sent.
    Lossy {
        /// Until it is tried again.
        rest: Duration,
        /// Segments that it sent in the second that decided.
        sent: u64,
        /// Of these sent again.
        resent: u64,
    },
}

impl Team {
    /// What the team does towards hosts that do not stripe; in stripe alone, with `stripe_plain` and at least two members
    /// that can send.
    pub fn plain_status(&self, now: Time) -> Option<PlainStatus> {
        let one_sided = self.parts.one_sided.as_ref().filter(|one_sided| one_sided.is_on)?;
        let addresses = |mac| self.parts.balancer.as_ref().map(|of| of.addresses_of(mac)).unwrap_or_default();
        let report = &one_sided.report;
        let mut hosts: Vec<PlainHostStatus> = (report.hosts.iter())
            .map(|&host| PlainHostStatus {
                host,
                addresses: addresses(host.mac),
                asked: one_sided.silent.asks(host.mac),
            })
            .collect();
        hosts.sort_by_key(|of| (u32::MAX - of.host.delivered_mbps, of.host.mac));
        let state = |id| match (one_sided.silent.of(id), one_sided.lossy.of(id)) {
            (Some(quiet), _) => PlainState::Silent { lasts: now.since(quiet.since), host: quiet.host, ip: quiet.ip },
            (None, Some(left)) => {
                PlainState::Lossy { rest: left.until.since(now), sent: left.sent, resent: left.resent }
            }
            (None, None) => PlainState::Used,
        };
        let member = |id| {
            let counted = report.members.iter().find(|of| of.id == id);
            let (sent, resent) = counted.map_or((0, 0), |of| (of.sent, of.resent));
            PlainMemberStatus { id, sent, resent, state: state(id) }
        };
        Some(PlainStatus { hosts, members: one_sided.silent.own().map(member).collect() })
    }
}
