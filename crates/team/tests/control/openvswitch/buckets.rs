//! Which member each bucket has, what switches learn, and what is received.

use std::time::Duration;

use nicteam_team::buckets::Key;
use nicteam_team::hash::slb;
use nicteam_team::{Effect, Receive, TeamError, Verdict};
use nicteam_wire::{Arp, Frame, Mac, Vlan, rarp_packet, tagged};

use super::{Guests, TEN_S, buckets, config, frame, guest, id, ms};

#[test]
fn buckets_get_members_in_turn_and_change_them_when_theirs_is_lost() {
    let mut guests = Guests::new("ovs-balance-slb", &[("bond-hash-basis", "3")], 3);
    let choose = |guests: &Guests| guests.host().plan.choose.clone();
    assert_eq!(buckets(&choose(&guests)).key, Key::Source { basis: 3 });
    let first: Vec<usize> = (1..=3).map(|last| guests.send(last, 100)).collect();
    assert_eq!(first, [0, 1, 2], "each new bucket has the next member");
    assert_eq!(guests.send(1, 100), 0, "and keeps it");
    let lost = first[1];
    guests.carrier(lost, false);
    let next = guests.send(2, 100);
    assert_ne!(next, lost);
    guests.carrier(lost, true);
    assert_eq!(guests.send(2, 100), next, "it does not come back");
    assert_eq!((guests.send(1, 100), guests.send(3, 100)), (0, 2), "the others stay");
}

#[test]
fn load_moves_when_its_time_has_come_and_as_the_rules_say() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    // Guests whose buckets all have the first member: every second one gets it.
    let firsts: Vec<u8> = (1..=12).filter(|last| guests.send(*last, 60) == 0).collect();
    assert!(firsts.len() >= 4, "{firsts:?}");
    for _ in 0..200 {
        firsts[..4].iter().for_each(|last| assert_eq!(guests.send(*last, 1000), 0));
    }
    assert_eq!(guests.bond().next_rebalance, Some(TEN_S));
    guests.run(ms(9_999));
    let counted = |guests: &mut Guests| firsts[..4].iter().map(|last| guests.send(*last, 60)).collect::<Vec<_>>();
    assert_eq!(counted(&mut guests), [0; 4]);
    guests.run(ms(1));
    // 800,000 bytes and a few on the one, a few on the other: half of it moves, the lower numbers of equal ones first.
    let mut moved = counted(&mut guests);
    moved.sort_unstable();
    assert_eq!(moved, [0, 0, 1, 1]);
    let loads: u64 = guests.bond().members.iter().flat_map(|member| &member.buckets).map(|(_, bytes)| bytes).sum();
    assert!((400_000..405_000).contains(&loads), "halved: {loads}");
    assert_eq!(guests.bond().next_rebalance, Some(TEN_S));
}

#[test]
fn another_interval_counts_from_now_on() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let set = |guests: &mut Guests, interval| {
        let config = config("ovs-balance-slb", &[("bond-rebalance-interval", interval)]);
        guests.change(|team, now| team.set_config(config, now)).unwrap();
    };
    guests.run(ms(3000));
    assert_eq!(guests.bond().next_rebalance, Some(ms(7000)));
    set(&mut guests, "20000");
    assert_eq!(guests.bond().next_rebalance, Some(ms(20_000)));
    set(&mut guests, "1");
    assert_eq!(guests.bond().next_rebalance, Some(ms(1000)), "less than a second is a second");
    set(&mut guests, "0");
    assert_eq!(guests.bond().next_rebalance, None);
    // Without rebalancing members that are lost are left all the same.
    let member = guests.send(1, 100);
    guests.carrier(member, false);
    assert_ne!(guests.send(1, 100), member);
}

#[test]
fn a_bucket_migrates_by_hand() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let from = guests.send(1, 100);
    let bucket = slb::bucket(guest(1), 0, 0);
    guests.change(|team, now| team.migrate(bucket, id(1 - from), now)).unwrap();
    assert_eq!(guests.send(1, 100), 1 - from);
    guests.carrier(from, false);
    let refused = guests.change(|team, now| team.migrate(bucket, id(from), now));
    assert!(matches!(refused, Err(TeamError::NotEnabled { .. })), "{refused:?}");
    assert_eq!(guests.change(|team, now| team.migrate(bucket, id(7), now)), Err(TeamError::NoMember(id(7))));
    for mode in ["ovs-active-backup", "ovs-balance-tcp", "balance-xor"] {
        let mut guests = Guests::new(mode, &[], 2);
        let refused = guests.change(|team, now| team.migrate(0, id(0), now));
        assert!(matches!(refused, Err(TeamError::NoBuckets(_))), "{mode}: {refused:?}");
    }
}

#[test]
fn after_a_failover_switches_learn_each_source_by_its_member() {
    for (mode, spreads) in [("ovs-active-backup", false), ("ovs-balance-slb", true)] {
        let mut guests = Guests::new(mode, &[], 3);
        guests.taught();
        (1..=6).for_each(|last| assert!(guests.send(last, 100) < 3));
        assert_eq!(guests.taught(), [], "{mode}: nobody has to learn");
        guests.carrier(0, false);
        let taught = guests.taught();
        let macs: Vec<Mac> = taught.iter().map(|(mac, _)| *mac).collect();
        assert_eq!(macs, (1..=6).map(guest).collect::<Vec<_>>(), "{mode}");
        for (mac, member) in taught {
            assert_eq!(guests.send(mac.0[5], 100), member, "{mode}: by whom its frames leave");
            assert!(member != 0 && (spreads || member == 1), "{mode}");
        }
        guests.carrier(0, true);
        assert_eq!(guests.taught(), [], "{mode}: one that comes back takes nothing over");
        guests.change(|team, now| team.activate(id(2), now)).unwrap();
        assert_eq!(guests.taught().len(), 6, "{mode}: another active member");
        guests.run(Duration::from_secs(301));
        guests.change(|team, now| team.activate(id(1), now)).unwrap();
        assert_eq!(guests.taught(), [], "{mode}: sources are forgotten after 300 s");
    }
}

#[test]
fn groups_are_heard_by_the_active_member_and_reflections_by_nobody() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let by = guests.send(1, 100);
    let lines: Vec<Receive> = guests.host().plan.members.iter().map(|line| line.receive).collect();
    assert_eq!(lines, [Receive::DropIfMoved { active: true }, Receive::DropIfMoved { active: false }]);
    let verdict = |guests: &mut Guests, member: usize, bytes: &[u8]| {
        let host = guests.world.node_mut(0);
        host.plan.receive_once(id(member), &Frame::parse(bytes).unwrap(), &mut host.state)
    };
    assert_eq!(verdict(&mut guests, 1 - by, &frame(1, 100)), Verdict::Drop, "its own frame came back");
    assert_eq!(verdict(&mut guests, 1 - by, &frame(9, 100)), Verdict::ToTeam);
    let arp = Arp::gratuitous(guest(9), [10, 0, 0, 9].into()).frame(Mac::BROADCAST, guest(9), None);
    assert_eq!([0, 1].map(|member| verdict(&mut guests, member, &arp)), [Verdict::ToTeam, Verdict::Drop]);
    let all = config("ovs-balance-slb", &[("all-members-active", "true")]);
    guests.change(|team, now| team.set_config(all, now)).unwrap();
    assert_eq!([0, 1].map(|member| verdict(&mut guests, member, &arp)), [Verdict::ToTeam; 2]);
}

#[test]
fn a_tag_is_part_of_a_source() {
    let mut guests = Guests::new("ovs-balance-slb", &[], 2);
    let in_vlan = tagged(frame(1, 100), &[Vlan::customer(7).unwrap()]);
    guests.world.change(0, |host, now| host.transmit(&in_vlan, now));
    guests.world.node_mut(0).log.clear();
    guests.change(|team, now| team.activate(id(1), now)).unwrap();
    let log = &guests.host().log;
    let frames: Vec<&Vec<u8>> = log
        .iter()
        .filter_map(|(_, effect)| if let Effect::Transmit { frame, .. } = effect { Some(frame) } else { None })
        .collect();
    assert_eq!(frames, [&rarp_packet(guest(1), Vlan::customer(7))]);
}

#[test]
fn a_dataplane_that_was_taken_over_has_counted_before() {
    for mode in ["ovs-balance-slb", "ovs-balance-tcp"] {
        let mut earlier = Guests::new("ovs-balance-slb", &[], 2);
        earlier.send(1, 1000);
        earlier.send(2, 1000);
        let mut state = earlier.host().state.clone();
        state.loads.buckets.iter_mut().for_each(|bytes| *bytes *= 1_000_000);
        let mut guests = Guests::of(mode, &[], 2, state);
        guests.run(Duration::from_secs(11));
        let loads: u64 = guests.bond().members.iter().flat_map(|of| &of.buckets).map(|(_, bytes)| bytes).sum();
        assert_eq!(loads, 0, "{mode}: none of it is of this process");
    }
}
