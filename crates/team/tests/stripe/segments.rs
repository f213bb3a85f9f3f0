//! Group-addressed frames: one copy on each segment, one to each host.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use nicteam_team::{MemberSet, Verdict};
use nicteam_wire::{Arp, Frame, Hello, Mac, ethertype};

use crate::stripe::lan::{Lan, frame, id};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Hosts whose members lie on these segments, after they came to know each other.
fn lan(hosts: &[&[usize]]) -> Lan {
    let mut lan = Lan::new();
    for segments in hosts {
        lan.add(segments, &vec![1000; segments.len()]);
    }
    lan.run(ms(1000));
    lan
}

/// Every host's broadcasts reach every other host that shares a segment with it
/// once, itself never, and each of its segments once.
fn each_once(lan: &Lan, hosts: &[&[usize]]) {
    for (from, own) in hosts.iter().enumerate() {
        let (hosts_got, segments_got) = lan.broadcast(from);
        let expected: BTreeMap<usize, usize> = (0..hosts.len())
            .filter(|&to| to != from && hosts[to].iter().any(|segment| own.contains(segment)))
            .map(|to| (to, 1))
            .collect();
        assert_eq!(hosts_got, expected, "{hosts:?}: hosts that got what {from} sent");
        let expected: BTreeMap<usize, usize> = own.iter().map(|segment| (*segment, 1)).collect();
        assert_eq!(segments_got, expected, "{hosts:?}: copies of what {from} sent");
    }
}

#[test]
fn on_every_kind_of_net_each_host_gets_each_group_frame_once() {
    let nets: [&[&[usize]]; 9] = [
        // One switch, and a host with one link.
        &[&[0, 0, 0, 0], &[0, 0, 0, 0], &[0]],
        // Two switches; members of one on one switch alone.
        &[&[0, 0, 1, 1], &[0, 0, 1, 1], &[1, 1], &[0]],
        // Back to back, two and four cables, one of a host with one member.
        &[&[0, 1], &[0, 1]],
        &[&[0, 1, 2, 3], &[0, 1, 2, 3]],
        &[&[0], &[0]],
        // Crossed cables.
        &[&[0, 1, 2], &[1, 2, 0]],
        // Two cables to one host and two to another.
        &[&[0, 1, 2, 3], &[0, 1], &[2, 3]],
        // A switch and a cable beside it.
        &[&[0, 0, 1], &[1, 0, 0], &[0, 0]],
        // A chain: the first and the last share no segment.
        &[&[0, 0], &[0, 1], &[1, 1]],
    ];
    for hosts in nets {
        each_once(&lan(hosts), hosts);
    }
}

#[test]
fn plain_hosts_on_any_segment_get_and_are_got_once() {
    let lan = lan(&[&[0, 0, 1, 1], &[0, 1]]);
    let stranger = Mac([2, 7, 7, 7, 7, 7]);
    for segment in [0, 1] {
        let got = lan.hear(segment, None, &frame(Mac::BROADCAST, stranger, 100));
        assert_eq!(got, BTreeMap::from([(0, 1), (1, 1)]), "on segment {segment}");
    }
}

/// What ARP and neighbour discovery say is the control side's to send.
#[test]
fn resolution_goes_once_on_each_segment_with_the_address_that_is_there() {
    let mut lan = lan(&[&[0, 0, 1, 2], &[0, 1, 2]]);
    lan.record();
    let (now, team) = (lan.now(), lan.host(0).mac);
    let [a, b] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
    let arp = Arp { operation: Arp::REQUEST, sender_mac: team, sender_ip: a, target_mac: Mac::default(), target_ip: b };
    lan.change(0, |host| host.handle_punted(&arp.frame(Mac::BROADCAST, team, None), now));
    let said = lan.take_tape();
    let said = said.iter().map(|(segment, bytes)| (*segment, Frame::parse(bytes).unwrap()));
    let asked = said.filter(|(_, frame)| frame.ethertype() == ethertype::ARP);
    let asked: Vec<_> = asked.map(|(segment, frame)| (segment, Arp::decode(frame.payload()).unwrap())).collect();
    let places: Vec<(usize, Mac)> = asked.iter().map(|(segment, arp)| (*segment, arp.sender_mac)).collect();
    assert_eq!(places, [(0, team), (1, Mac([2, 0, 0, 1, 0, 2])), (2, Mac([2, 0, 0, 1, 0, 3]))]);
    assert!(asked.iter().all(|(_, asked)| (asked.sender_ip, asked.target_ip) == (a, b)));
}

/// An answer to a peer reaches it wherever its address is.
#[test]
fn answers_to_a_peer_go_by_a_path() {
    let mut lan = lan(&[&[0, 1, 2], &[2, 0, 1]]);
    for (from, to, lost) in [(0, 1, None), (1, 0, None), (0, 1, Some(0)), (1, 0, Some(0))] {
        if let Some(member) = lost {
            lan.plug(to, member, false);
            lan.run(ms(100));
        }
        let (now, mac, peer) = (lan.now(), lan.host(from).mac, lan.host(to).mac);
        let [a, b] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
        let arp = Arp { operation: Arp::REPLY, sender_mac: mac, sender_ip: a, target_mac: peer, target_ip: b };
        lan.record();
        lan.change(from, |host| host.handle_punted(&arp.frame(peer, mac, None), now));
        let said = lan.take_tape();
        let [(segment, bytes)] = &said[..] else { panic!("{said:?}") };
        let place = lan.place_on(to, *segment);
        let frame = Frame::parse(bytes).unwrap();
        let macs = match lan.host(to).plan.receive(id(place), &frame) {
            Verdict::ToTeamAs { src, dst } => (src, dst),
            verdict => {
                assert_eq!(verdict, Verdict::ToTeam);
                (frame.src(), frame.dst())
            }
        };
        assert_eq!(macs, (mac, peer), "from {from} to {to}, lost: {lost:?}");
        assert_eq!(Arp::decode(frame.payload()), Ok(arp), "of the team's address");
        if let Some(member) = lost {
            lan.plug(to, member, true);
            lan.run(ms(3000));
        }
    }
}

#[test]
fn what_comes_back_is_dropped() {
    let lan = lan(&[&[0, 0, 1], &[0, 1]]);
    let host = &lan.host(0);
    for src in [Mac([2, 0, 0, 1, 0, 0]), Mac([2, 0, 0, 1, 0, 1]), Mac([2, 0, 0, 1, 0, 2])] {
        for member in 0..3 {
            for dst in [Mac::BROADCAST, host.mac, Mac([2, 7, 7, 7, 7, 7])] {
                let bytes = frame(dst, src, 100);
                let verdict = host.plan.receive(id(member), &Frame::parse(&bytes).unwrap());
                assert_eq!(verdict, Verdict::Drop, "from {src} to {dst} on {member}");
            }
        }
    }
}

#[test]
fn a_segment_that_fails_is_left_by_both_ends() {
    for silent in [false, true] {
        for failed in 0..3 {
            let hosts: &[&[usize]] = &[&[0, 1, 2], &[2, 0, 1]];
            let mut lan = lan(hosts);
            // Each cable in turn; one end sees its carrier go, or nobody does.
            let place = hosts[1].iter().position(|segment| *segment == failed).unwrap();
            if silent {
                lan.silence(1, place, true);
                // Peers without traffic are probed seldom.
                lan.run(ms(6000));
            } else {
                lan.plug(1, place, false);
                lan.run(ms(1));
            }
            for (from, to) in [(0, 1), (1, 0)] {
                let got = lan.broadcast(from).0;
                assert_eq!(got, BTreeMap::from([(to, 1)]), "segment {failed} failed, silently: {silent}");
            }
            if silent {
                lan.silence(1, place, false);
            } else {
                lan.plug(1, place, true);
            }
            lan.run(ms(6000));
            each_once(&lan, hosts);
        }
    }
}

#[test]
fn on_a_switch_a_silent_listener_is_replaced() {
    let hosts: &[&[usize]] = &[&[0, 0], &[0, 0]];
    let mut lan = lan(hosts);
    let before = lan.stripe(1).group;
    assert_eq!(before, MemberSet::one(id(0)));
    lan.silence(1, 0, true);
    lan.run(ms(6000));
    for (from, to) in [(0, 1), (1, 0)] {
        let (got, _) = lan.broadcast(from);
        assert_eq!(got, BTreeMap::from([(to, 1)]));
    }
    lan.silence(1, 0, false);
    lan.run(ms(6000));
    each_once(&lan, hosts);
}

#[test]
fn switches_that_are_joined_and_parted_are_one_segment_and_two() {
    let mut lan = lan(&[&[0, 1], &[0, 1]]);
    assert_eq!(lan.stripe(0).group.iter().count(), 2);
    lan.bridge(1, 0);
    lan.run(ms(1500));
    assert_eq!(lan.stripe(0).group.iter().count(), 1);
    assert_eq!(lan.broadcast(0).0, BTreeMap::from([(1, 1)]));
    lan.bridge(1, 1);
    lan.run(ms(5000));
    assert_eq!(lan.stripe(0).group.iter().count(), 2);
    assert_eq!(lan.broadcast(0).0, BTreeMap::from([(1, 1)]));
}

#[test]
fn a_member_that_comes_makes_no_copies_while_nobody_has_heard_it() {
    let hosts: &[&[usize]] = &[&[0, 0, 0], &[0, 0, 0]];
    let mut lan = lan(hosts);
    for _ in 0..3 {
        lan.plug(0, 0, false);
        each_once(&lan, hosts);
        lan.run(ms(50));
        lan.plug(0, 0, true);
        // At no moment is it thought to lie elsewhere.
        for _ in 0..100 {
            each_once(&lan, hosts);
            lan.run(ms(7));
        }
    }
}

#[test]
fn who_hears_nobody_and_who_hears_itself_is_told() {
    let mut lan = lan(&[&[0, 0, 1, 2], &[0, 1, 3]]);
    let discovery = |lan: &Lan| lan.host(0).team.discovery().unwrap().clone();
    assert_eq!(discovery(&lan).deaf(), MemberSet::one(id(3)));
    assert_eq!(discovery(&lan).looped(), MemberSet::EMPTY);
    lan.record();
    lan.run(ms(1500));
    let heard = lan.take_tape().into_iter().rfind(|(segment, _)| *segment == 2).unwrap();
    lan.inject(2, &heard.1);
    lan.run(ms(1));
    assert_eq!(discovery(&lan).looped(), MemberSet::one(id(3)));
    lan.run(ms(5000));
    assert_eq!(discovery(&lan).looped(), MemberSet::EMPTY);
    assert_eq!(self::lan(&[&[0, 1]]).host(0).team.discovery().unwrap().deaf(), MemberSet::EMPTY, "nobody is there");
}

#[test]
fn with_a_key_nobody_can_join_our_segments_by_announcements_of_his_own() {
    let key = "0123456789abcdef";
    let mut lan = Lan::new();
    lan.record();
    for _ in 0..2 {
        lan.add_with_key(&[0, 1], &[1000; 2], key);
    }
    lan.run(ms(1000));
    // Announcements of the first, as the wire had them, long ago and now with the tag spoilt.
    let old: Vec<(usize, Vec<u8>)> = lan.take_tape();
    let old: Vec<_> = old.into_iter().filter(|(_, frame)| frame[..6] == Hello::GROUP.0).collect();
    lan.run(Duration::from_secs(600));
    for (segment, frame) in old {
        lan.inject(1 - segment, &frame);
        lan.run(ms(2));
        assert_eq!(lan.stripe(0).group.iter().count(), 2);
    }
}
