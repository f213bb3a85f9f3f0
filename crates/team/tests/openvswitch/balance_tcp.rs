//! ofproto-dpif.at: balance-tcp bonding; lacp.at: negotiation.

use super::net::{Net, Options, STRANGER, frame, ms, segment, source};
use nicteam_team::openvswitch::Negotiation;
use nicteam_wire::Mac;

const TCP: Options<'_> = &[("mode", "ovs-balance-tcp"), ("lacp", "active"), ("lacp-time", "fast")];

/// By which members 256 connections of one host leave.
fn spread(net: &mut Net) -> Vec<usize> {
    (0..256).map(|port| net.send(&segment(source(5), port)).unwrap()).collect()
}

fn counts(members: &[usize]) -> [usize; 3] {
    std::array::from_fn(|member| members.iter().filter(|by| **by == member).count())
}

#[test]
fn connections_are_spread_and_keep_their_member() {
    let mut net = Net::pair(&[TCP, &[("bond-rebalance-interval", "0")]].concat(), 3);
    assert_eq!((net.negotiation(), net.enabled()), (Negotiation::Negotiated, vec![0, 1, 2]));
    let members = spread(&mut net);
    // Theirs asks for more than 24.
    assert!(counts(&members).iter().all(|count| *count > 24), "{:?}", counts(&members));
    net.run(ms(60_000));
    assert_eq!(spread(&mut net), members);
}

/// balance-tcp bonding, different recirc flow: which member carries a frame changes nothing of the frame's own.
#[test]
fn what_is_hashed_is_the_connection_alone() {
    let mut net = Net::pair(TCP, 3);
    let members = spread(&mut net);
    for (port, member) in (0..256).zip(&members) {
        // Another host with the same addresses of IP.
        assert_eq!(net.send(&segment(source(6), port)), Some(*member));
    }
    // What has no ports and no IP is one flow.
    let flow = net.send(&frame(source(5), STRANGER)).unwrap();
    assert!((0..64).all(|number| net.send(&frame(source(number), Mac::BROADCAST)) == Some(flow)));
}

/// balance-tcp bonding with different hash functions: another basis spreads otherwise, and as well.
#[test]
fn another_basis_spreads_otherwise() {
    let mut net = Net::pair(TCP, 3);
    let before = spread(&mut net);
    net.set(&[("bond-hash-basis", "77")]);
    let after = spread(&mut net);
    assert!(counts(&after).iter().all(|count| *count > 24), "{:?}", counts(&after));
    assert_ne!(after, before);
}

#[test]
fn nothing_is_sent_or_taken_without_a_partner() {
    for lacp in ["off", "active"] {
        let mut net = Net::new(&[("mode", "ovs-balance-tcp"), ("lacp", lacp)], 2);
        net.run(ms(10_000));
        assert_eq!(net.send(&segment(source(5), 80)), None, "lacp {lacp}");
        assert!(!net.takes(0, &frame(STRANGER, source(5))), "lacp {lacp}");
        assert!(!net.host().carrier, "lacp {lacp}");
    }
}

/// The partner knows which members are one link: nothing comes back, so all that comes is taken, groups by any member.
#[test]
fn a_partner_is_believed() {
    let mut net = Net::pair(TCP, 2);
    net.send(&frame(source(1), Mac::BROADCAST));
    for member in 0..2 {
        assert!(net.takes(member, &frame(STRANGER, Mac::BROADCAST)));
        assert!(net.takes(member, &frame(source(1), Mac::BROADCAST)));
    }
    net.cable(1, false);
    assert_eq!(net.taught(), [], "it needs not be taught");
}

/// lacp - negotiation, as a bond sees it: a cable that leads nowhere, and that is back.
#[test]
fn a_member_without_a_partner_is_left() {
    let mut net = Net::pair(TCP, 2);
    let all = spread(&mut net);
    assert!(all.contains(&0) && all.contains(&1), "{all:?} {:?}", net.host().plan);
    net.block(0, true);
    net.run(ms(4_100));
    assert_eq!((net.negotiation(), net.enabled(), net.active()), (Negotiation::Negotiated, vec![1], Some(1)));
    assert!(net.host().members[&nicteam_team::MemberId::new(0).unwrap()].link.carrier);
    assert!(spread(&mut net).iter().all(|by| *by == 1));
    assert!(!net.takes(0, &frame(STRANGER, source(5))));
    net.block(0, false);
    net.run(ms(30_100));
    assert_eq!((net.enabled(), net.active()), (vec![0, 1], Some(1)));
}
