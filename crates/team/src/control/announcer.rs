//! Where the team is, in frames for its neighbours.

use std::net::IpAddr;

use nicteam_machine::state;
use nicteam_wire::{Arp, Mac, Ndisc, Vlan};

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

fn announcement(mac: Mac, vlan: Option<Vlan>, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(ip) => Arp::gratuitous(mac, ip).frame(Mac::BROADCAST, mac, vlan),
        IpAddr::V6(ip) => {
            let message = Ndisc::unsolicited(mac, ip);
            message.frame(Ndisc::multicast_mac(message.dst), mac, vlan)
        }
    }
}
