//! The questions of the ARP monitor.
//!
//! Linux drivers/net/bonding/bond_main.c, `bond_arp_send_all` and
//! `bond_ns_send_all`. The kernel asks its routes by which device and from which
//! address it would reach a target; here a target belongs to the subnet that
//! it lies in. So a target that is reached through a router is asked without a
//! source address, and one that is reached past the team is asked for by it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nicteam_events::Subnet;
use nicteam_wire::{Arp, Mac, Ndisc, NdiscKind, tagged};

use crate::ArpMonitoring;

/// A question for each target, from a member with this address.
pub(super) fn questions(monitor: &ArpMonitoring, subnets: &[Subnet], mac: Mac) -> Vec<Vec<u8>> {
    let by_arp = monitor.ip_targets.iter().map(|&target| match home(target.into(), subnets) {
        Some(Subnet { tags, address: IpAddr::V4(source), .. }) => tagged(ask_by_arp(target, *source, mac), tags),
        _ => ask_by_arp(target, Ipv4Addr::UNSPECIFIED, mac),
    });
    let by_solicitation = monitor.ip6_targets.iter().map(|&target| match home(target.into(), subnets) {
        Some(Subnet { tags, address: IpAddr::V6(source), .. }) => tagged(solicit(target, *source, mac), tags),
        _ => solicit(target, Ipv6Addr::UNSPECIFIED, mac),
    });
    by_arp.chain(by_solicitation).collect()
}

/// The subnet that a target lies in, the narrowest; of equal ones the first.
fn home(target: IpAddr, subnets: &[Subnet]) -> Option<&Subnet> {
    subnets.iter().filter(|subnet| subnet.contains(target)).rev().max_by_key(|subnet| subnet.prefix_len)
}

fn ask_by_arp(target: Ipv4Addr, source: Ipv4Addr, mac: Mac) -> Vec<u8> {
    let arp = Arp {
        operation: Arp::REQUEST,
        sender_mac: mac,
        sender_ip: source,
        target_mac: Mac::default(),
        target_ip: target,
    };
    arp.frame(Mac::BROADCAST, mac, None)
}

fn solicit(target: Ipv6Addr, source: Ipv6Addr, mac: Mac) -> Vec<u8> {
    let dst = solicited_node(target);
    // Without a source there is no source link-layer address (RFC 4861, section 4.3).
    let link_layer = (!source.is_unspecified()).then_some(mac);
    let message = Ndisc { src: source, dst, target, link_layer, kind: NdiscKind::Solicitation };
    message.frame(Ndisc::multicast_mac(dst), mac, None)
}

/// The group that an address's owner listens to (RFC 4291, section 2.7.1).
fn solicited_node(ip: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = ip.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_wire::{Frame, Vlan, ethertype};

    const MAC: Mac = Mac([2, 0, 0, 0, 0, 1]);

    fn subnet(address: &str, prefix_len: u8, vlan: u16) -> Subnet {
        Subnet { tags: Vlan::customer(vlan).into_iter().collect(), address: address.parse().unwrap(), prefix_len }
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

    #[test]
    fn the_narrowest_subnet_asks_with_all_its_tags() {
        let target = [10, 0, 5, 9].into();
        let monitor = ArpMonitoring { ip_targets: vec![target], ..ArpMonitoring::default() };
        let tags = vec![Vlan { protocol: ethertype::QINQ, tci: 100 }, Vlan { protocol: ethertype::VLAN, tci: 5 }];
        let nested = Subnet { tags: tags.clone(), ..subnet("10.0.5.1", 24, 0) };
        let subnets = [subnet("10.0.0.1", 8, 0), nested, subnet("10.0.5.2", 24, 7), subnet("10.0.0.1", 16, 0)];
        let question = questions(&monitor, &subnets, MAC).remove(0);
        let (frame, ids) = Frame::parse(&question).unwrap().without_tags();
        assert_eq!(ids, [100, 5]);
        assert_eq!(question[12..14], ethertype::QINQ.to_be_bytes());
        let asked = Arp::decode(frame.payload()).unwrap();
        assert_eq!((asked.sender_ip, asked.target_ip), ([10, 0, 5, 1].into(), target));
    }
}
