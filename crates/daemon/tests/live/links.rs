//! A team on a host over time: failover, carrier, members that vanish.

use crate::common::{Pair, assert_reach, on_each_dataplane};
use nicteam_sys::packet::Batch;
use nicteam_team::Event;
use nicteam_testnet::eventually;
use nicteam_wire::{Arp, Frame, Mac, ethertype};

#[test]
fn a_cut_cable_moves_the_traffic() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "active-backup"), ("primary", "eth0")], kind);
        let sockets = pair.sockets();
        assert_reach(&sockets, "the first datagram");
        pair.events();
        pair.b.set_up("eth0", false);
        let members = || pair.teams[0].report().unwrap().members;
        let active = || members().iter().map(|member| member.status.active).collect::<Vec<bool>>();
        eventually("the other member", || active() == [false, true]);
        assert_eq!(members()[0].status.link_failures, 1, "{kind}");
        assert_reach(&sockets, "a datagram after the cut");
        assert!(pair.events().iter().any(|event| matches!(event, Event::Active { .. })), "{kind}: nobody was told");
        pair.b.set_up("eth0", true);
        eventually("the primary's return", || pair.teams[0].report().unwrap().members[0].status.active);
        assert_reach(&sockets, "a datagram after the return");
    });
}

#[test]
fn the_new_active_member_announces_the_addresses() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "active-backup"), ("primary", "eth0")], kind);
        let mac = Mac(pair.a.link("team0").mac);
        let expected = Arp::gratuitous(mac, [10, 2, 0, 1].into());
        let (tap, mut batch) = (pair.b.packet_socket("eth1"), Batch::new());
        // While the other team starts its members may have been down.
        eventually("the primary", || pair.teams[0].report().unwrap().members[0].status.active);
        pair.b.set_up("eth0", false);
        eventually("a gratuitous ARP", || {
            tap.receive(&mut batch).unwrap();
            batch.frames().any(|received| {
                let frame = Frame::parse(received.bytes).unwrap();
                frame.ethertype() == ethertype::ARP
                    && frame.dst() == Mac::BROADCAST
                    && Arp::decode(frame.payload()).is_ok_and(|arp| arp == expected)
            })
        });
    });
}

#[test]
fn the_stack_sees_carrier_while_a_member_is_up() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-rr"), ("miimon", "10")], kind);
        assert!(pair.a.link("team0").carrier, "{kind}");
        pair.b.set_up("eth0", false);
        pair.b.set_up("eth1", false);
        eventually("the loss of carrier", || !pair.a.link("team0").carrier);
        pair.b.set_up("eth1", true);
        eventually("carrier", || pair.a.link("team0").carrier);
        assert_reach(&pair.sockets(), "a datagram by the member that is left");
    });
}

#[test]
fn a_member_that_vanishes_is_let_go() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-rr")], kind);
        let index = pair.a.index("eth0");
        pair.a.netlink.delete(index).unwrap();
        eventually("one member", || pair.teams[0].report().unwrap().members.len() == 1);
        eventually("one member at the far end", || {
            let report = pair.teams[1].report().unwrap();
            report.members.iter().filter(|member| member.status.active).count() == 1
        });
        assert_reach(&pair.sockets(), "a datagram by the member that is left");
    });
}
