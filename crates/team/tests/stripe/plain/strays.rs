//! Hosts whose answers say nothing of single members.

use std::net::Ipv4Addr;

use nicteam_team::{Effect, Event, PlainEvent, stripe::PlainHost};
use nicteam_wire::{Arp, Frame, Mac, ethertype};

use super::bench::{Bench, id, ms, striped};
use crate::stripe::lan::Lan;

#[test]
fn a_host_that_answers_by_whichever_member_it_likes_blames_nobody() {
    for to in 0..4 {
        let mut bench = Bench::new(4, 1);
        bench.plain_mut(0).to = Some(to);
        bench.use_hosts(&[striped(0)]);
        bench.run(ms(10_000));
        assert_eq!((bench.used(), bench.events()), (vec![0, 1, 2, 3], vec![]), "all to member {to}");
    }
}

#[test]
fn what_such_a_host_blamed_members_for_is_taken_back() {
    let mut bench = Bench::new(4, 1);
    bench.use_hosts(&[striped(0)]);
    bench.run(ms(2500));
    bench.block(2, [true; 2]);
    bench.until(|bench| bench.used() == [0, 1, 3]);
    bench.events();
    bench.plain_mut(0).to = Some(1);
    bench.until(|bench| bench.used() == [0, 1, 2, 3]);
    let events = bench.events();
    assert!(matches!(events[..], [PlainEvent::Heard { member, answered: 0, .. }] if member == id(2)), "{events:?}");
    bench.run(ms(5000));
    assert_eq!(bench.events(), [], "nor does it blame another one");
}

#[test]
fn another_host_judges_in_its_place() {
    let mut bench = Bench::new(4, 3);
    [0, 1].into_iter().for_each(|number| bench.plain_mut(number).to = Some(0));
    bench.use_hosts(&[0, 1, 2].map(striped));
    bench.run(ms(4500));
    assert_eq!(bench.events(), []);
    bench.block(3, [true; 2]);
    let took = bench.until(|bench| bench.used() == [0, 1, 2]);
    assert!(took < ms(1000), "{took:?}");
}

/// ARP probes that a team sent to a host, and what it found out by them.
fn probes_and_events(lan: &mut Lan, to: Mac) -> (usize, Vec<PlainEvent>) {
    let is_probe = |frame: &[u8]| {
        let frame = Frame::parse_untagged(frame).unwrap();
        frame.dst() == to
            && frame.ethertype() == ethertype::ARP
            && Arp::decode(frame.payload()).is_ok_and(|arp| arp.sender_ip.is_unspecified())
    };
    let (mut probes, mut events) = (0, Vec::new());
    for (_, effect) in std::mem::take(&mut lan.host_mut(0).log) {
        match effect {
            Effect::Transmit { frame, .. } => probes += usize::from(is_probe(&frame)),
            Effect::Event(Event::Plain(event)) => events.push(event),
            _ => {}
        }
    }
    (probes, events)
}

/// Also where the dataplane names it because frames went to it before it was known that it stripes.
#[test]
fn a_host_that_stripes_is_not_asked() {
    let mut lan = Lan::new();
    lan.add(&[0; 4], &[1000; 4]);
    lan.host_mut(0).is_logged = true;
    let (ours, peer) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let (team, other) = (lan.host(0).mac, Mac([2, 0, 0, 2, 0, 0]));
    lan.host_mut(0).plain.hosts =
        vec![PlainHost { mac: other, width: 4, delivered_mbps: 3900, striped: true, held_ms: 0 }];
    let [sender_ip, target_ip] = [ours, peer].map(Ipv4Addr::from);
    let arp = Arp { operation: Arp::REPLY, sender_mac: team, sender_ip, target_mac: other, target_ip };
    let now = lan.now();
    lan.change(0, |host| host.handle_punted(&arp.frame(other, team, None), now));
    lan.run(ms(3000));
    assert!(probes_and_events(&mut lan, other).0 > 0, "nobody knows yet");
    lan.add(&[0; 4], &[1000; 4]);
    assert_eq!(lan.host(1).mac, other);
    lan.run(ms(2000));
    probes_and_events(&mut lan, other);
    lan.run(ms(5000));
    assert_eq!(probes_and_events(&mut lan, other), (0, vec![]));
}
