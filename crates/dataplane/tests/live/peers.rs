//! As many peers as there is room for: what a plan of them does, and what it costs.

use crate::common::bench::Bench;
use crate::common::hosts::{bpf, packet};
use crate::common::striping::{MEMBERS, OWN, ipv4, own, striping, theirs_of, with_peers};
use crate::common::{id, may_run_bpf, plan};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::Batch;
use nicteam_team::stripe::MAX_PEERS;
use nicteam_team::{Choose, MemberSet, Plan};
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::Frame;

/// The last of the peers that there is room for.
const LAST: u16 = MAX_PEERS as u16 - 1;

#[test]
fn ebpf_stripes_to_the_last_of_a_thousand_peers() {
    if may_run_bpf("ebpf_stripes_to_the_last_of_a_thousand_peers") {
        stripe_to_the_last(bpf);
    }
}

#[test]
fn packet_sockets_stripe_to_the_last_of_a_thousand_peers() {
    if may_make_networks() {
        stripe_to_the_last(packet);
    }
}

fn thousand() -> Plan {
    with_peers(striping([1000; MEMBERS]), MAX_PEERS as u16)
}

/// The plan, in which the last peer is reached by this path alone.
fn by_one_path(mut plan: Plan, generation: u64, path: usize) -> Plan {
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    let last = stripe.peers.last_mut().unwrap();
    last.paths = vec![last.paths[path]];
    Plan { generation, ..plan }
}

fn stripe_to_the_last<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(open, &thousand());
    let mut batch = Batch::new();
    let mut arrives = |number: u16| {
        let mut arrived = None;
        assert!(bench.stack.send_frame(&ipv4(theirs_of(LAST, 0), OWN, number)));
        eventually("the frame arrives", || {
            for (place, socket) in bench.far_sockets.iter().enumerate() {
                socket.receive(&mut batch).unwrap();
                arrived = arrived.or(batch.frames().next().map(|frame| {
                    let frame = Frame::parse(frame.bytes).unwrap();
                    (place, frame.src(), frame.dst())
                }));
            }
            arrived.is_some()
        });
        arrived.unwrap()
    };
    let (place, src, dst) = arrives(1);
    assert_eq!((src, dst), (own(place), theirs_of(LAST, place)));
    bench.team.run(|| dataplane.apply(&by_one_path(thousand(), 2, 2)).unwrap());
    for number in 2..5 {
        assert_eq!(arrives(number), (2, own(2), theirs_of(LAST, 2)));
    }
    // And what comes from there is noted.
    assert!(bench.far_sockets[1].send_frame(&ipv4(own(1), theirs_of(LAST, 3), 9)));
    eventually("a note of what was heard", || {
        let notes = bench.team.run(|| dataplane.take_notes().unwrap());
        notes.iter().any(|note| note.mac == theirs_of(LAST, 3) && note.heard == MemberSet::one(id(1)))
    });
    bench.team.stop(dataplane);
}

#[test]
fn a_plan_costs_by_what_it_changes_once_each_slot_held_one() {
    if !may_run_bpf("a_plan_costs_by_what_it_changes_once_each_slot_held_one") {
        return;
    }
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(bpf, &thousand());
    assert_eq!(dataplane.written(), MAX_PEERS * (1 + MEMBERS) + 1 + MEMBERS - 1, "all, and our own addresses");
    let mut generation = 1;
    let mut apply = |plan: Plan| {
        generation += 1;
        bench.team.run(|| dataplane.apply(&Plan { generation, ..plan }).unwrap());
        dataplane.written()
    };
    let mut written: Vec<usize> = (0..32).map(|_| apply(thousand())).collect();
    // Now and then a peer has another path: it, and its four addresses, which say by which path they are reached.
    written.extend((0..32).map(|turn| apply(by_one_path(thousand(), 0, turn / 16))));
    let whole = written.iter().filter(|written| **written > 1 + MEMBERS).count();
    assert!(whole <= 15, "each other slot once: {written:?}");
    assert!(written.iter().any(|written| (1..=1 + MEMBERS).contains(written)), "{written:?}");
    bench.team.stop(dataplane);
}

#[test]
fn a_process_that_takes_over_writes_its_first_plan_whole() {
    if !may_run_bpf("a_process_that_takes_over_writes_its_first_plan_whole") {
        return;
    }
    let bench = Bench::new(MEMBERS);
    let mut before = bench.team.start(bpf, &thousand());
    let all = before.written();
    // Some slots hold more than the successor's plan has.
    (2..8).for_each(|generation| {
        bench.team.run(|| before.apply(&Plan { generation, ..thousand() }).unwrap());
    });
    let bytes = before.map_bytes().unwrap();
    drop(before);
    let few = || with_peers(striping([1000; MEMBERS]), LAST);
    let mut after = bench.team.start(bpf, &Plan { generation: 9, ..few() });
    assert_eq!(after.map_bytes().unwrap() / 1_000_000, bytes / 1_000_000, "the maps are the predecessor's");
    assert!(after.written() >= all - 1 - MEMBERS, "{} of {all}", after.written());
    let goes_to = |after: &nicteam_dataplane::BpfDataplane, number: u16| {
        let run = bench.team.run(|| after.dry_run_behind(&ipv4(theirs_of(number, 0), OWN, 1), 1).unwrap());
        Frame::parse(&run.frame).unwrap().dst()
    };
    let dst = goes_to(&after, LAST - 1);
    assert!((0..MEMBERS).any(|place| dst == theirs_of(LAST - 1, place)), "{dst}");
    // Which slot is free next depends on when readers are done: each is written whole at its first turn, none twice.
    let mut whole = 0;
    for generation in 10..42 {
        // Paths take turns: a frame that is striped would go to another member of its sooner or later.
        let same = (0..MEMBERS).all(|_| goes_to(&after, LAST) == theirs_of(LAST, 0));
        assert!(same, "it is no peer any more, whatever the slots held");
        bench.team.run(|| after.apply(&Plan { generation, ..few() }).unwrap());
        whole += u32::from(after.written() > 0);
    }
    assert!(whole <= 15, "{whole}");
    bench.team.stop(after);
}

#[test]
fn a_team_without_stripe_has_small_maps() {
    if !may_run_bpf("a_team_without_stripe_has_small_maps") {
        return;
    }
    let bench = Bench::new(MEMBERS);
    let mut dataplane = bench.team.start(bpf, &plan(1, Choose::One(id(0)), MEMBERS));
    let without = dataplane.map_bytes().unwrap();
    bench.team.run(|| dataplane.apply(&Plan { generation: 2, ..striping([1000; MEMBERS]) }).unwrap());
    let one = dataplane.map_bytes().unwrap();
    bench.team.run(|| dataplane.apply(&Plan { generation: 3, ..thousand() }).unwrap());
    let first = dataplane.map_bytes().unwrap();
    // Then in all slots that come into use.
    for generation in 4..36 {
        bench.team.run(|| dataplane.apply(&Plan { generation, ..thousand() }).unwrap());
    }
    let thousand = dataplane.map_bytes().unwrap();
    eprintln!(
        "bytes of maps: {without} without stripe, {one} with one peer, {first} with {MAX_PEERS}, {thousand} in the long run"
    );
    assert!(without < 1 << 20, "{without}");
    assert!(one < 32 << 20, "{one}");
    assert!(thousand < 48 << 20, "{thousand}");
    bench.team.stop(dataplane);
}
