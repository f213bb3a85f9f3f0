//! Telling switches where the team's multicast groups are now: `resend_igmp`.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_change_active_slave` and
//! `bond_resend_igmp_join_requests_delayed`. The kernel lets its own stack
//! report; here the shell reads its groups and the team reports them: the same
//! reports, except that a group joined for some sources alone is reported for all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use nicteam_events::{Effect, Group};
use nicteam_machine::{MemberId, Time};
use nicteam_wire::membership;

use super::Team;
use crate::{Choose, TimerReason};

/// Between two reports (the kernel's HZ / 5).
const BETWEEN: Duration = Duration::from_millis(200);

impl Team {
    /// The groups that the team's stack has joined, after [`Effect::ReadGroups`].
    pub fn handle_groups(&mut self, groups: &[Group], now: Time) {
        self.assert_drained();
        let Some(member) = self.group_member().filter(|_| self.group_rounds > 0) else { return };
        let reports = self.group_reports(groups).into_iter().map(|frame| Effect::Transmit { member, frame });
        self.effects.extend(reports);
        self.group_rounds -= 1;
        if self.group_rounds > 0 {
            self.timers.set(TimerReason::ResendIgmp, now + BETWEEN);
        }
    }

    /// The one member by which groups are joined and reported, where there is one.
    pub(super) fn group_member(&self) -> Option<MemberId> {
        match &self.plan.choose {
            Choose::One(member) => Some(*member),
            Choose::Balance(balance) => Some(balance.active),
            Choose::Stripe(stripe) => Some(stripe.other.active),
            Choose::RoundRobin { igmp, .. } => Some(*igmp),
            Choose::Nobody | Choose::Buckets(_) | Choose::Hash { .. } | Choose::HashOrAll { .. } | Choose::All(_) => {
                None
            }
        }
    }

    /// Starts the reports if another member than `before` is to send them.
    pub(super) fn report_groups_anew(&mut self, before: Option<MemberId>) {
        let member = self.group_member();
        if member == before {
            return;
        }
        self.timers.stop(TimerReason::ResendIgmp);
        // Open vSwitch's bond sends no reports of its own.
        let reports = member.is_some() && !self.traits.openvswitch;
        self.group_rounds = if reports { self.config.resend_igmp } else { 0 };
        if self.group_rounds > 0 {
            self.effects.push_back(Effect::ReadGroups);
        }
    }

    fn group_reports(&self, groups: &[Group]) -> Vec<Vec<u8>> {
        let mac = self.announcer.mac;
        let untagged = || self.announcer.addresses.iter().filter(|(vlan, _)| *vlan == 0).map(|&(_, address)| address);
        let ipv4 = untagged().find_map(|ip| if let IpAddr::V4(ip) = ip { Some(ip) } else { None });
        let ipv4 = ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED);
        // MLD is spoken from link-local addresses alone (RFC 3810, section 5.2.13).
        let link_local = untagged().find_map(|ip| match ip {
            IpAddr::V6(ip) if ip.is_unicast_link_local() => Some(ip),
            _ => None,
        });
        let (mut igmp, mut mld, mut frames) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups {
            match group.address {
                IpAddr::V4(address) if group.igmp_v2 => frames.push(membership::igmp_v2_report(mac, ipv4, address)),
                IpAddr::V4(address) => igmp.push(address),
                IpAddr::V6(address) => mld.push(address),
            }
        }
        let at_once = membership::MAX_GROUPS;
        frames.extend(igmp.chunks(at_once).map(|groups| membership::igmp_v3_report(mac, ipv4, groups)));
        let source = link_local.unwrap_or(Ipv6Addr::UNSPECIFIED);
        frames.extend(mld.chunks(at_once).map(|groups| membership::mld_v2_report(mac, source, groups)));
        frames
    }
}
