//! What a member has been heard of: signs of life for the ARP monitor.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_rcv_validate`, `bond_arp_rcv`,
//! `bond_validate_arp`, `bond_na_rcv`, `bond_validate_na`, `slave_last_rx`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use nicteam_events::{Subnet, Traffic};
use nicteam_machine::{MemberId, Time, state};
use nicteam_wire::{Arp, Frame, Ndisc, NdiscKind, Vlan, ethertype};

use crate::ArpMonitoring;

/// What the ARP monitor keeps. In every mode and also while it is off: it may be switched on.
#[derive(Clone, Debug, Default)]
pub(super) struct ArpMonitor {
    /// The subnets in which it asks.
    pub(super) subnets: Vec<Subnet>,
    /// What was heard of each member.
    pub(super) hearing: BTreeMap<MemberId, Hearing>,
    /// The member that is tried while none is active.
    pub(super) candidate: Option<MemberId>,
}

state!(struct ArpMonitor { subnets, hearing, candidate });

impl ArpMonitor {
    /// A member has left.
    pub(super) fn forget(&mut self, id: MemberId) {
        self.hearing.remove(&id);
        self.candidate.take_if(|candidate| *candidate == id);
    }
}

/// When a member was last heard of.
#[derive(Clone, Debug)]
pub(super) struct Hearing {
    joined: Time,
    /// `last_link_up`: when it joined, became active, or was tried.
    pub(super) tried: Time,
    last_tx: Option<Time>,
    last_rx: Option<Time>,
    /// `target_last_arp_rx`, for targets of whom something was heard.
    by_target: Vec<(IpAddr, Time)>,
    traffic: Option<Traffic>,
}

state!(struct Hearing { joined, tried, last_tx, last_rx, by_target, traffic });

impl Hearing {
    /// Of a member that joins.
    pub(super) fn new(now: Time) -> Hearing {
        Hearing { joined: now, tried: now, last_tx: None, last_rx: None, by_target: Vec::new(), traffic: None }
    }

    /// It sent a probe.
    pub(super) fn sent(&mut self, now: Time) {
        self.last_tx = Some(now);
    }

    /// It received something that proves that it works.
    pub(super) fn heard(&mut self, now: Time) {
        self.last_rx = Some(now);
    }

    /// It received a message of this target.
    pub(super) fn heard_of(&mut self, target: IpAddr, now: Time) {
        self.last_rx = Some(now);
        self.by_target.retain(|&(other, _)| other != target);
        self.by_target.push((target, now));
    }

    /// Takes in its counters: what was counted since the last reading counts as
    /// of now. `counts`: any frame proves that it works.
    pub(super) fn count(&mut self, traffic: Traffic, counts: bool, now: Time) {
        let Some(before) = self.traffic.replace(traffic) else { return };
        if traffic.tx_frames != before.tx_frames {
            self.last_tx = Some(now);
        }
        if counts && traffic.rx_frames != before.rx_frames {
            self.last_rx = Some(now);
        }
    }

    /// When it received the last proof; from each target if `all` are given.
    pub(super) fn last_rx(&self, all: Option<&ArpMonitoring>) -> Option<Time> {
        let Some(monitor) = all else { return self.last_rx };
        let of = |target: IpAddr| self.by_target.iter().find(|&&(other, _)| other == target).map(|&(_, at)| at);
        // Never is earlier than any time.
        targets(monitor).map(of).min().flatten()
    }

    /// True if it sent in the last `intervals` and a half.
    pub(super) fn sent_within(&self, intervals: u32, interval: Duration, now: Time) -> bool {
        self.within(self.last_tx, intervals, interval, now)
    }

    /// True if `at` lies in the last `intervals` and a half (`bond_time_in_interval`).
    /// What was never is taken for an interval before the member joined.
    pub(super) fn within(&self, at: Option<Time>, intervals: u32, interval: Duration, now: Time) -> bool {
        let age = at.map_or(now.since(self.joined) + interval, |at| now.since(at));
        age <= interval * intervals + interval / 2
    }
}

/// The targets, ARP before neighbour discovery.
pub(super) fn targets(monitor: &ArpMonitoring) -> impl Iterator<Item = IpAddr> {
    let ip = monitor.ip_targets.iter().map(|&target| IpAddr::from(target));
    ip.chain(monitor.ip6_targets.iter().map(|&target| IpAddr::from(target)))
}

/// A message between neighbours, as far as it proves something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// The target if a target says where it is.
    answer: Option<IpAddr>,
    /// The target if this team asks for one: its own probe came around.
    question: Option<IpAddr>,
    /// An ARP reply or an advertisement.
    is_reply: bool,
}

impl Message {
    /// Reads an ARP packet or a neighbour discovery message; nothing else is one.
    /// One with tags speaks to the addresses behind the same tags; the kernel
    /// does not look at the outermost, and reads none that has two.
    pub(super) fn read(frame: &Frame<'_>, monitor: &ArpMonitoring, subnets: &[Subnet]) -> Option<Message> {
        let (frame, tags) = frame.without_tags();
        let is_own = |ip: IpAddr| subnets.iter().any(|subnet| subnet.address == ip && same_vlan(&subnet.tags, &tags));
        match frame.ethertype() {
            ethertype::ARP => Some(Message::of_arp(&Arp::decode(frame.payload()).ok()?, monitor, is_own)),
            ethertype::IPV6 => Some(Message::of_ndisc(&Ndisc::decode(frame.payload()).ok()?, monitor, is_own)),
            _ => None,
        }
    }

    fn of_arp(arp: &Arp, monitor: &ArpMonitoring, is_own: impl Fn(IpAddr) -> bool) -> Message {
        let (sender, target) = (IpAddr::from(arp.sender_ip), IpAddr::from(arp.target_ip));
        let is_target = |ip: IpAddr| targets(monitor).any(|target| target == ip);
        let between = |from: IpAddr, to: IpAddr| (is_target(from) && is_own(to)).then_some(from);
        Message {
            answer: between(sender, target),
            question: between(target, sender),
            is_reply: arp.operation == Arp::REPLY,
        }
    }

    /// The kernel lets any advertisement and solicitation from a target to one
    /// of the team's addresses, or to all nodes, pass as an answer. It takes a
    /// solicitation's destination, a multicast group, for the target of a
    /// question; here it is the target the message names.
    fn of_ndisc(message: &Ndisc, monitor: &ArpMonitoring, is_own: impl Fn(IpAddr) -> bool) -> Message {
        let is_target = |ip: IpAddr| targets(monitor).any(|target| target == ip);
        let (src, dst, about) = (message.src.into(), message.dst.into(), message.target.into());
        let to_us = message.dst == Ndisc::ALL_NODES || is_own(dst);
        let is_reply = matches!(message.kind, NdiscKind::Advertisement { .. });
        Message {
            answer: (is_target(src) && to_us).then_some(src),
            question: (!is_reply && is_target(about) && is_own(src)).then_some(about),
            is_reply,
        }
    }

    /// The target that this message proves to be in reach, if the member that
    /// received it is in this role.
    pub(super) fn proves(&self, role: Role) -> Option<IpAddr> {
        match role {
            Role::Active => self.answer,
            Role::Standby { active_works: true, .. } => self.question,
            Role::Standby { candidate_asked: true, .. } if self.is_reply => self.answer,
            Role::Standby { .. } => None,
        }
    }
}

/// What a member is when it receives a message (the cases of `bond_arp_rcv`).
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// (a) The active one, or one that is tried: the target answers it.
    Active,
    /// Another.
    Standby {
        /// (b) The active one has received an answer since it is active: this
        /// one receives the questions of that one.
        active_works: bool,
        /// (c) One was tried in the last interval: the switch may not know yet
        /// where it is, so its answer may come here.
        candidate_asked: bool,
    },
}

/// True if frames with these identifiers are of the VLAN with those tags; an
/// identifier of 0 names no VLAN (IEEE 802.1Q, priority tag).
fn same_vlan(tags: &[Vlan], ids: &[u16]) -> bool {
    let tags = tags.iter().map(|tag| tag.tci & 0x0fff);
    tags.filter(|&id| id != 0).eq(ids.iter().copied().filter(|&id| id != 0))
}
