//! What a failover entails on a host: addresses and multicast groups.

use std::net::Ipv4Addr;

use crate::common::{Pair, assert_reach, cabled, identities, on_each_dataplane, spec, start};
use nicteam_sys::packet::Batch;
use nicteam_testnet::eventually;
use nicteam_wire::{Frame, ethertype};

#[test]
fn addresses_move_with_the_active_member_and_are_given_back() {
    on_each_dataplane(|kind| {
        for fail_over_mac in ["active", "follow"] {
            let (mut a, mut b) = cabled();
            let before = identities(&mut a, &["eth0", "eth1"]);
            let (first, second) = (a.link("eth0").mac, a.link("eth1").mac);
            let options = [("mode", "active-backup"), ("fail_over_mac", fail_over_mac), ("miimon", "10")];
            let team = start(&a, spec(&options, kind)).unwrap();
            let macs = |a: &mut nicteam_testnet::Host| ["team0", "eth0", "eth1"].map(|device| a.link(device).mac);
            assert_eq!(macs(&mut a), [first, first, second], "{kind} {fail_over_mac}");
            b.set_up("eth0", false);
            let after = match fail_over_mac {
                "active" => [second, first, second],
                _ => [first, second, first],
            };
            eventually("the move of the addresses", || macs(&mut a) == after);
            // What a user sets is not taken (Linux bond_main.c, bond_set_mac_address).
            let index = a.index("team0");
            a.netlink.set_mac(index, [2, 0, 0, 0, 0x77, 1]).unwrap();
            eventually("the team's address", || macs(&mut a) == after);
            team.remove().unwrap();
            assert_eq!(identities(&mut a, &["eth0", "eth1"]), before, "{kind} {fail_over_mac}");
        }
    });
}

#[test]
fn a_team_whose_address_moves_is_reached_after_a_cut() {
    on_each_dataplane(|kind| {
        for fail_over_mac in ["active", "follow"] {
            let options = [("mode", "active-backup"), ("fail_over_mac", fail_over_mac), ("miimon", "10")];
            let mut pair = Pair::new(&options, kind);
            let sockets = pair.sockets();
            assert_reach(&sockets, "the first datagram");
            pair.b.set_up("eth0", false);
            assert_reach(&sockets, "a datagram after the cut");
            assert_eq!(pair.troubles(), Vec::<String>::new(), "{kind} {fail_over_mac}");
        }
    });
}

#[test]
fn the_new_active_member_reports_the_groups() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "active-backup"), ("primary", "eth0"), ("resend_igmp", "3")], kind);
        let group = Ipv4Addr::new(239, 1, 2, 3);
        let member = pair.a.udp(([10, 2, 0, 1], 7001).into());
        member.join_multicast_v4(&group, &Ipv4Addr::new(10, 2, 0, 1)).unwrap();
        let (tap, mut batch) = (pair.b.packet_socket("eth1"), Batch::new());
        pair.b.set_up("eth0", false);
        eventually("a report of the group", || {
            tap.receive(&mut batch).unwrap();
            batch.frames().any(|received| {
                let frame = Frame::parse(received.bytes).unwrap();
                let reported = frame.payload().windows(4).skip(24).any(|bytes| bytes == group.octets());
                frame.ethertype() == ethertype::IPV4 && frame.payload()[9] == 2 && reported
            })
        });
    });
}
