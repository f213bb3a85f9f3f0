//! Telling the neighbours where the team is now: gratuitous ARP and
//! unsolicited neighbour advertisements.

use std::net::IpAddr;

use nicteam_machine::{MemberSet, Time, state};
use nicteam_wire::{Arp, Mac, Ndisc, Vlan};

use super::monitor::millis;
use super::{Effect, Team};
use crate::TimerReason;

/// What is announced, and how often still.
#[derive(Clone, Debug)]
pub(super) struct Announcer {
    /// The address the team's stack sends from.
    pub(super) mac: Mac,
    /// The addresses it answers for, each with its VLAN (0: none).
    pub(super) addresses: Vec<(u16, IpAddr)>,
    /// Rounds that are still to be sent.
    pub(super) rounds: u32,
}

state!(struct Announcer { mac, addresses, rounds });

impl Announcer {
    /// One frame for each address (Linux `NETDEV_NOTIFY_PEERS`).
    pub(super) fn frames(&self) -> impl Iterator<Item = Vec<u8>> {
        self.addresses.iter().map(|&(vlan, address)| announcement(self.mac, Vlan::customer(vlan), address))
    }
}

impl Team {
    /// By whom it is announced where the team is.
    fn announcing(&self) -> MemberSet {
        match self.lacp() {
            Some(lacp) if self.config.lacp.broadcast_neighbor => lacp.distributing(),
            _ => self.active.into_iter().collect(),
        }
    }

    /// Sends the next round of announcements, if one is due.
    ///
    /// Rounds wait until the team has carrier. (The kernel counts them down
    /// meanwhile, and sends the first of a team that just got carrier a `miimon`
    /// later.) Without `miimon` and `arp_interval` only the first is sent: the
    /// kernel sends the others from its link monitor, which does not run then.
    pub(super) fn announce(&mut self, now: Time) {
        let members = self.announcing();
        if members.is_empty() || !self.carrier || self.announcer.rounds == 0 {
            return;
        }
        for frame in self.announcer.frames() {
            let copies = members.iter().map(|member| Effect::Transmit { member, frame: frame.clone() });
            self.effects.extend(copies);
        }
        let interval_ms = match self.config.peer_notif_delay_ms {
            0 => self.config.miimon_ms.max(self.config.arp.interval_ms),
            delay_ms => delay_ms,
        };
        self.announcer.rounds = if interval_ms > 0 { self.announcer.rounds - 1 } else { 0 };
        if self.announcer.rounds > 0 {
            self.timers.set(TimerReason::PeerNotify, now + millis(interval_ms));
        }
    }
}

fn announcement(mac: Mac, vlan: Option<Vlan>, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(ip) => Arp::gratuitous(mac, ip).frame(Mac::BROADCAST, mac, vlan),
        IpAddr::V6(ip) => {
            let message = Ndisc::unsolicited(mac, ip);
            message.frame(Ndisc::multicast_mac(message.dst), mac, vlan)
        }
    }
}
