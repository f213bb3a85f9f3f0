//! The questions of the ARP monitor.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_arp_send_all` and
//! `bond_ns_send_all`. The kernel asks its routes by which device and from which
//! address it would reach a target; here a target belongs to the subnet that
//! it lies in. So a target that is reached through a router is asked without a
//! source address, and one that is reached past the team is asked for by it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nicteam_wire::{Arp, Mac, Ndisc, NdiscKind, Vlan};

use crate::ArpMonitoring;

/// An address of the team's stack and the subnet around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// The VLAN it lives in; 0: none.
    pub vlan: u16,
    /// The address.
    pub address: IpAddr,
    /// Bits of it that name the subnet.
    pub prefix_len: u8,
}

impl Subnet {
    /// True if this address lies in the subnet.
    fn contains(&self, ip: IpAddr) -> bool {
        let (differs, bits) = match (self.address, ip) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => (u128::from(own.to_bits() ^ ip.to_bits()), 32),
            (IpAddr::V6(own), IpAddr::V6(ip)) => (own.to_bits() ^ ip.to_bits(), 128),
            _ => return false,
        };
        // A shift by all bits leaves none that could differ.
        differs.checked_shr(bits - bits.min(self.prefix_len.into())).unwrap_or(0) == 0
    }
}

/// A question for each target, from a member with this address.
pub(super) fn questions(monitor: &ArpMonitoring, subnets: &[Subnet], mac: Mac) -> Vec<Vec<u8>> {
    let home = |target: IpAddr| subnets.iter().find(|subnet| subnet.contains(target));
    let by_arp = monitor.ip_targets.iter().map(|&target| match home(target.into()) {
        Some(Subnet { vlan, address: IpAddr::V4(source), .. }) => {
            ask_by_arp(target, *source, mac, Vlan::customer(*vlan))
        }
        _ => ask_by_arp(target, Ipv4Addr::UNSPECIFIED, mac, None),
    });
    let by_solicitation = monitor.ip6_targets.iter().map(|&target| match home(target.into()) {
        Some(Subnet { vlan, address: IpAddr::V6(source), .. }) => solicit(target, *source, mac, Vlan::customer(*vlan)),
        _ => solicit(target, Ipv6Addr::UNSPECIFIED, mac, None),
    });
    by_arp.chain(by_solicitation).collect()
}

fn ask_by_arp(target: Ipv4Addr, source: Ipv4Addr, mac: Mac, vlan: Option<Vlan>) -> Vec<u8> {
    let arp = Arp {
        operation: Arp::REQUEST,
        sender_mac: mac,
        sender_ip: source,
        target_mac: Mac::default(),
        target_ip: target,
    };
    arp.frame(Mac::BROADCAST, mac, vlan)
}

fn solicit(target: Ipv6Addr, source: Ipv6Addr, mac: Mac, vlan: Option<Vlan>) -> Vec<u8> {
    let dst = solicited_node(target);
    // Without a source there is no source link-layer address (RFC 4861, section 4.3).
    let link_layer = (!source.is_unspecified()).then_some(mac);
    let message = Ndisc { src: source, dst, target, link_layer, kind: NdiscKind::Solicitation };
    message.frame(Ndisc::multicast_mac(dst), mac, vlan)
}

/// The group that an address's owner listens to (RFC 4291, section 2.7.1).
fn solicited_node(ip: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = ip.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_wire::{Frame, ethertype};

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 1]);

    fn subnet(address: &str, prefix_len: u8, vlan: u16) -> Subnet {
        Subnet { vlan, address: address.parse().unwrap(), prefix_len }
    }

    #[test]
    fn a_subnet_contains_what_its_prefix_says() {
        for (own, prefix_len, ip, contains) in [
            ("10.1.2.3", 24, "10.1.2.250", true),
            ("10.1.2.3", 24, "10.1.3.3", false),
            ("10.1.2.3", 0, "200.0.0.1", true),
            ("10.1.2.3", 32, "10.1.2.4", false),
            ("10.1.2.3", 200, "10.1.2.3", true),
            ("10.1.2.3", 0, "::1", false),
            ("2001:db8::1", 64, "2001:db8::ffff:1", true),
            ("2001:db8::1", 64, "2001:db8:0:1::1", false),
            ("2001:db8::1", 128, "2001:db8::2", false),
            ("::", 0, "ff02::1", true),
        ] {
            assert_eq!(subnet(own, prefix_len, 0).contains(ip.parse().unwrap()), contains, "{own}/{prefix_len} {ip}");
        }
    }

    #[test]
    fn each_target_is_asked_from_its_subnet_and_in_its_vlan() {
        let monitor = ArpMonitoring {
            ip_targets: vec![[10, 0, 5, 9].into(), [192, 0, 2, 1].into()],
            ip6_targets: vec!["fe80::2".parse().unwrap()],
            ..ArpMonitoring::default()
        };
        let subnets = [subnet("10.0.0.1", 24, 0), subnet("10.0.5.1", 24, 5), subnet("fe80::1", 64, 0)];
        let frames = questions(&monitor, &subnets, MAC);
        let read: Vec<Frame<'_>> = frames.iter().map(|frame| Frame::parse_untagged(frame).unwrap()).collect();
        let arp = |place: usize| Arp::decode(read[place].payload()).unwrap();
        assert_eq!(read[0].vlan(), Some(Vlan { protocol: ethertype::VLAN, tci: 5 }));
        assert_eq!((arp(0).sender_ip, arp(0).target_ip), ([10, 0, 5, 1].into(), [10, 0, 5, 9].into()));
        assert_eq!(arp(1).sender_ip, Ipv4Addr::UNSPECIFIED);
        assert_eq!(read[2].dst(), Mac([0x33, 0x33, 0xff, 0, 0, 2]));
        let solicitation = Ndisc::decode(read[2].payload()).unwrap();
        assert_eq!(solicitation.dst, "ff02::1:ff00:2".parse::<Ipv6Addr>().unwrap());
        assert_eq!((solicitation.src, solicitation.link_layer), ("fe80::1".parse().unwrap(), Some(MAC)));
        assert_eq!(questions(&monitor, &[], MAC).len(), 3);
    }
}
