//! The marker protocol: answering, and asking before a flow is moved.

use nicteam_team::lacp::{LacpEvent, MarkerId, Reason};
use nicteam_wire::{Mac, Marker, MarkerKind, SlowPdu};

use crate::lacp::net::{id, ms, system_mac};
use crate::lacp::world::{World, fast};

fn pair() -> World {
    let mut world = World::pair(fast(0), fast(1), 2);
    world.run(ms(3000));
    world.events(0);
    world
}

/// What became of the markers since the last time.
fn flushed(world: &mut World) -> Vec<(MarkerId, bool)> {
    let events = world.events(0).into_iter();
    let flushed = events.filter_map(|event| match event {
        LacpEvent::Flushed { marker, answered, .. } => Some((marker, answered)),
        _ => None,
    });
    flushed.collect()
}

fn flush(world: &mut World, port: usize) -> Option<MarkerId> {
    let mut marker = None;
    world.change(0, |lacp, now| marker = lacp.flush(id(port), now));
    marker
}

#[test]
fn a_marker_is_answered_after_what_was_sent_before_it() {
    let mut world = pair();
    let first = flush(&mut world, 0).unwrap();
    assert_eq!(flushed(&mut world), [], "the answer takes a round trip");
    world.run(ms(2));
    assert_eq!(flushed(&mut world), [(first, true)]);
    let (asked, answered) = (world.net.status((0, 0)).counters, world.net.status((1, 0)).counters);
    assert_eq!((asked.markers_sent, asked.responses_received), (1, 1));
    assert_eq!((answered.markers_received, answered.responses_sent), (1, 1));
}

#[test]
fn a_marker_without_an_answer_is_given_up_and_said() {
    let mut world = pair();
    world.net.set_receiving((1, 0), false);
    let marker = flush(&mut world, 0).unwrap();
    world.run(ms(999));
    assert_eq!(flushed(&mut world), []);
    world.run(ms(1));
    assert_eq!(flushed(&mut world), [(marker, false)]);
    assert_eq!(world.net.lacp(0).why_not(id(0)), Some(Reason::MarkerUnanswered));
    world.net.all_receive();
    flush(&mut world, 0).unwrap();
    world.run(ms(2));
    assert_eq!(world.net.lacp(0).why_not(id(0)), None, "answered again");
}

#[test]
fn an_answer_settles_the_markers_before_it() {
    let mut world = pair();
    world.net.set_receiving((1, 0), false);
    let lost = flush(&mut world, 0).unwrap();
    world.run(ms(10));
    world.net.all_receive();
    let next = flush(&mut world, 0).unwrap();
    world.run(ms(2));
    assert_eq!(flushed(&mut world), [(lost, true), (next, true)]);
}

#[test]
fn a_link_that_goes_away_answers_nothing() {
    let mut world = pair();
    let marker = flush(&mut world, 0).unwrap();
    world.unplug((0, 0));
    assert_eq!(flushed(&mut world), [(marker, false)]);
    assert_eq!(flush(&mut world, 0), None, "no carrier");
    let marker = flush(&mut world, 1).unwrap();
    world.change(0, |lacp, now| lacp.remove_port(id(1), now));
    assert_eq!(flushed(&mut world), [(marker, false)]);
    assert_eq!(flush(&mut world, 1), None, "no such port");
}

#[test]
fn no_more_than_five_markers_a_second_each_way() {
    let mut world = pair();
    let asked = (0..9).filter_map(|_| flush(&mut world, 0)).count();
    assert_eq!(asked, 5);
    let marker = Marker { kind: MarkerKind::Information, port: 9, system: Mac([2, 9, 9, 9, 9, 9]), transaction: 7 };
    (0..9).for_each(|_| world.deliver((0, 1), &marker.frame(Mac::default())));
    assert_eq!(world.net.status((0, 1)).counters.responses_sent, 5);
    world.run(ms(1000));
    assert!(flush(&mut world, 0).is_some());
}

#[test]
fn the_answer_repeats_the_question() {
    let mut world = pair();
    let marker = Marker { kind: MarkerKind::Information, port: 9, system: Mac([2, 9, 9, 9, 9, 9]), transaction: 7 };
    world.deliver((0, 0), &marker.frame(Mac::default()));
    let pdus = world.net.world.in_flight().filter_map(|(_, frame)| SlowPdu::parse(frame).ok());
    let answers: Vec<_> = pdus.filter(|pdu| matches!(pdu, SlowPdu::Marker(_))).collect();
    assert_eq!(answers, [SlowPdu::Marker(marker.response())]);
}

#[test]
fn answers_that_were_not_asked_for_settle_nothing() {
    let mut world = pair();
    world.net.set_receiving((1, 0), false);
    let MarkerId(transaction) = flush(&mut world, 0).unwrap();
    let good = Marker { kind: MarkerKind::Response, port: 1, system: system_mac(0), transaction };
    let strangers = [
        Marker { transaction: transaction + 1, ..good },
        Marker { port: 2, ..good },
        Marker { system: system_mac(1), ..good },
    ];
    for stranger in strangers {
        world.deliver((0, 0), &stranger.frame(Mac::default()));
    }
    world.deliver((0, 1), &good.frame(Mac::default()));
    assert_eq!(flushed(&mut world), []);
    world.deliver((0, 0), &good.frame(Mac::default()));
    assert_eq!(flushed(&mut world), [(MarkerId(transaction), true)]);
}
