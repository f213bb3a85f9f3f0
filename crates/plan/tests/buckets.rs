//! Open vSwitch's buckets and sources, frame by frame.

use std::time::Duration;

use nicteam_machine::{MemberId, MemberSet, Time};
use nicteam_plan::buckets::{BUCKETS, Key};
use nicteam_plan::hash::slb;
use nicteam_plan::{
    Action, Buckets, Choose, Failover, MAX_SOURCES, Plan, PlanMember, PlanState, Receive, Rewrite, Verdict,
};
use nicteam_wire::{Frame, Mac, Vlan};

const TEAM: Mac = Mac([2, 0, 0, 0, 0, 1]);
const OTHER: Mac = Mac([2, 0, 0, 0, 0, 9]);
const GROUP: Mac = Mac([1, 0, 0x5e, 0, 0, 1]);

fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

fn ids(places: &[usize]) -> Vec<MemberId> {
    places.iter().copied().map(id).collect()
}

/// balance-slb without LACP over three members, the first one active.
fn plan(enabled: &[usize]) -> Plan {
    let line = |place| {
        let receive = Receive::DropIfMoved { active: place == 0 };
        PlanMember { id: id(place), receive, rewrite: Rewrite::default(), queue_id: 0 }
    };
    let buckets = Buckets { key: Key::Source { basis: 0 }, table: Box::new([None; BUCKETS]), enabled: ids(enabled) };
    let members = (0..3).map(line).collect();
    Plan { generation: 1, choose: Choose::Buckets(buckets), members, lease: None, failover: None, notes_sources: true }
}

fn give(plan: &mut Plan, bucket: u8, member: Option<usize>) {
    let Choose::Buckets(buckets) = &mut plan.choose else { panic!() };
    buckets.table[usize::from(bucket)] = member.map(id);
}

/// A source whose bucket this is.
fn source(bucket: u8) -> Mac {
    let macs = (0..=u16::MAX).map(|number| number.to_be_bytes()).map(|[a, b]| Mac([2, 0, 0, 7, a, b]));
    macs.into_iter().find(|&mac| slb::bucket(mac, 0, 0) == bucket).unwrap()
}

/// A frame with 50 bytes behind its header.
fn frame(dst: Mac, src: Mac) -> Vec<u8> {
    [&dst.0[..], &src.0, &[0x88, 0xb6], &[0; 50]].concat()
}

/// Gratuitous ARP, as a request.
fn gratuitous(src: Mac) -> Vec<u8> {
    let arp = [&[0, 1, 8, 0, 6, 4, 0, 1][..], &src.0, &[10, 0, 0, 7], &[0; 6], &[10, 0, 0, 7]].concat();
    [&Mac::BROADCAST.0[..], &src.0, &[0x08, 0x06], &arp].concat()
}

fn send(plan: &Plan, bytes: &[u8], state: &mut PlanState) -> Option<usize> {
    match plan.choose(&Frame::parse(bytes).unwrap(), state) {
        Action::Send(members) => {
            let member = members.iter().next().unwrap();
            assert_eq!(members, MemberSet::one(member));
            Some(member.index())
        }
        Action::Drop => None,
        other => panic!("{other:?}"),
    }
}

fn receive(plan: &Plan, member: usize, bytes: &[u8], state: &mut PlanState) -> Verdict {
    plan.receive_once(id(member), &Frame::parse(bytes).unwrap(), state)
}

#[test]
fn buckets_are_given_in_turn_and_kept() {
    let (plan, mut state) = (plan(&[0, 1, 2]), PlanState::new(0));
    for round in 0..2 {
        for bucket in 0..6 {
            assert_eq!(
                send(&plan, &frame(OTHER, source(bucket)), &mut state),
                Some(usize::from(bucket) % 3),
                "{round}"
            );
        }
    }
    assert_eq!(state.loads.buckets[..7], [128, 128, 128, 128, 128, 128, 0]);
    assert_eq!(state.loads.members[..4], [Some(id(0)), Some(id(1)), Some(id(2)), Some(id(0))]);
    assert_eq!((state.loads.members[6], state.loads.other), (None, 0));
}

#[test]
fn groups_go_as_other_frames() {
    let (mut plan, mut state) = (plan(&[0, 1, 2]), PlanState::new(0));
    give(&mut plan, 9, Some(2));
    for dst in [OTHER, GROUP, Mac::BROADCAST] {
        assert_eq!(send(&plan, &frame(dst, source(9)), &mut state), Some(2));
    }
}

#[test]
fn the_table_goes_first_and_then_who_sent_last() {
    let (mut plan, mut state) = (plan(&[0, 1, 2]), PlanState::new(0));
    let bytes = frame(OTHER, source(5));
    give(&mut plan, 5, Some(2));
    assert_eq!(send(&plan, &bytes, &mut state), Some(2));
    give(&mut plan, 5, None);
    assert_eq!(send(&plan, &bytes, &mut state), Some(2), "as the last one");
    let without = |enabled: &[usize], member| {
        let mut plan = self::plan(enabled);
        give(&mut plan, 5, member);
        plan
    };
    assert_eq!(send(&without(&[0, 1], None), &bytes, &mut state), Some(0), "the first turn of all");
    assert_eq!(send(&without(&[1], Some(2)), &bytes, &mut state), Some(1), "who is in the table may not send");
    assert_eq!(send(&without(&[2, 1], None), &bytes, &mut state), Some(1), "kept");
    assert_eq!(send(&without(&[], Some(2)), &bytes, &mut state), None);
    let Choose::Buckets(buckets) = without(&[0], Some(2)).choose else { panic!() };
    assert_eq!(buckets.member(5, &state.loads), None, "it gets one at its next frame");
}

#[test]
fn a_tag_is_read_wherever_it_is() {
    let plan = plan(&[0, 1, 2]);
    let Choose::Buckets(buckets) = &plan.choose else { panic!() };
    let inside =
        |tci: [u8; 2], protocol: [u8; 2]| [&OTHER.0[..], &TEAM.0, &protocol, &tci, &[0x08, 0x00], &[0; 46]].concat();
    let bucket = |bytes: &[u8]| buckets.bucket(&Frame::parse(bytes).unwrap());
    let plain = frame(OTHER, TEAM);
    for protocol in [[0x81, 0x00], [0x88, 0xa8]] {
        assert_eq!(bucket(&inside([0xe1, 0x23], protocol)), slb::bucket(TEAM, 0x123, 0));
        assert_eq!(bucket(&inside([0xe0, 0x00], protocol)), slb::bucket(TEAM, 0, 0), "a priority alone");
    }
    let beside = Frame::parse(&plain).unwrap().with_vlan(Vlan { protocol: 0x8100, tci: 0xe123 });
    assert_eq!(buckets.bucket(&beside), slb::bucket(TEAM, 0x123, 0));
    assert_eq!(bucket(&[&OTHER.0[..], &TEAM.0, &[0x81, 0x00, 1, 0x23]].concat()), slb::bucket(TEAM, 0, 0), "cut off");
}

#[test]
fn what_the_team_sent_comes_back_as_a_reflection() {
    let (plan, mut state) = (plan(&[0, 1, 2]), PlanState::new(0));
    let ours = frame(Mac::BROADCAST, TEAM);
    for member in 0..3 {
        let group = if member == 0 { Verdict::ToTeam } else { Verdict::Drop };
        assert_eq!(receive(&plan, member, &ours, &mut state), group, "not sent yet");
        assert_eq!(receive(&plan, member, &frame(TEAM, OTHER), &mut state), Verdict::ToTeam);
    }
    assert!(send(&plan, &ours, &mut state).is_some());
    for bytes in [&ours, &frame(OTHER, TEAM)] {
        assert_eq!(receive(&plan, 0, bytes, &mut state), Verdict::Drop);
    }
    let tagged = [&GROUP.0[..], &TEAM.0, &[0x81, 0, 0, 5, 8, 0], &[0; 46]].concat();
    assert_eq!(receive(&plan, 0, &tagged, &mut state), Verdict::ToTeam, "another VLAN");
    state.now = Time::ZERO + Duration::from_secs(299);
    assert_eq!(receive(&plan, 0, &ours, &mut state), Verdict::Drop);
    assert_eq!(state.sources.known(state.now), [(TEAM, 0)]);
    state.now = Time::ZERO + Duration::from_secs(300);
    assert_eq!(state.sources.known(state.now), []);
    assert_eq!(receive(&plan, 0, &ours, &mut state), Verdict::ToTeam, "forgotten");
}

#[test]
fn a_source_is_renewed_each_second() {
    let (plan, mut state) = (plan(&[0]), PlanState::new(0));
    for millis in [0, 999, 1_000, 1_500] {
        state.now = Time::ZERO + Duration::from_millis(millis);
        send(&plan, &frame(OTHER, TEAM), &mut state);
    }
    let known = |millis: u64| state.sources.known(Time::ZERO + Duration::from_millis(millis)).len();
    assert_eq!((known(300_999), known(301_000)), (1, 0));
}

#[test]
fn gratuitous_arp_says_that_a_host_has_moved_unless_it_is_ours() {
    let (plan, mut state) = (plan(&[0, 1]), PlanState::new(0));
    send(&plan, &frame(OTHER, TEAM), &mut state);
    assert_eq!(receive(&plan, 1, &gratuitous(TEAM), &mut state), Verdict::Drop, "a group's, not the active member");
    assert_eq!(state.sources.known(state.now).len(), 1);
    assert_eq!(receive(&plan, 0, &gratuitous(TEAM), &mut state), Verdict::ToTeam);
    assert_eq!(state.sources.known(state.now), [], "it moved");
    assert_eq!(receive(&plan, 1, &frame(OTHER, TEAM), &mut state), Verdict::ToTeam);
    send(&plan, &gratuitous(TEAM), &mut state);
    for (millis, expected) in [(4_999, Verdict::Drop), (5_000, Verdict::ToTeam)] {
        state.now = Time::ZERO + Duration::from_millis(millis);
        assert_eq!(receive(&plan, 0, &gratuitous(TEAM), &mut state), expected, "{millis} ms");
    }
}

#[test]
fn what_is_gratuitous_is_broadcast_and_whole() {
    let plan = plan(&[0]);
    let whole = gratuitous(TEAM);
    let with = |places: &[(usize, u8)]| {
        let mut bytes = whole.clone();
        places.iter().for_each(|&(place, byte)| bytes[place] = byte);
        bytes
    };
    let asks_for_another = [(41, 8)];
    let tagged = [&whole[..12], &[0x81, 0, 0, 0], &whole[12..]].concat();
    let twice = [&whole[..12], &[0x81, 0, 0, 0, 0x81, 0, 0, 0], &whole[12..]].concat();
    let cases = [
        (whole.clone(), true),
        (with(&[(21, 2), (41, 8)]), true),
        (tagged, true),
        (with(&asks_for_another), false),
        (with(&[(21, 3)]), false),
        (with(&[(20, 1)]), false),
        (with(&[(17, 1)]), false),
        (with(&[(0, 0xfe)]), false),
        (with(&[(13, 0)]), false),
        (whole[..41].to_vec(), false),
        (twice, false),
    ];
    for (bytes, moves) in cases {
        let mut state = PlanState::new(0);
        send(&plan, &frame(OTHER, TEAM), &mut state);
        let expected = if moves { Verdict::ToTeam } else { Verdict::Drop };
        assert_eq!(receive(&plan, 0, &bytes, &mut state), expected, "{bytes:02x?}");
    }
}

#[test]
fn so_many_sources_and_no_more_are_remembered() {
    let (plan, mut state) = (plan(&[0]), PlanState::new(0));
    let mac = |number: usize| Mac([2, 1, 0, 0, (number >> 8) as u8, number as u8]);
    for number in 0..=MAX_SOURCES {
        state.now = Time::ZERO + Duration::from_millis(number as u64);
        send(&plan, &frame(OTHER, mac(number)), &mut state);
    }
    let known = state.sources.known(state.now);
    assert_eq!(known.len(), MAX_SOURCES);
    assert!(!known.contains(&(mac(0), 0)), "the oldest gave way");
    send(&plan, &frame(OTHER, GROUP), &mut state);
    assert!(!state.sources.known(state.now).contains(&(GROUP, 0)), "a group is no source");
}

#[test]
fn a_plan_that_does_not_note_sources_notes_none() {
    let (plan, mut state) = (Plan { notes_sources: false, ..plan(&[0]) }, PlanState::new(0));
    send(&plan, &gratuitous(TEAM), &mut state);
    assert_eq!(state.sources.known(state.now), []);
}

#[test]
fn another_member_takes_over_for_one_without_carrier() {
    let failover = Some(Failover { order: ids(&[0, 1, 2]), ..Failover::default() });
    let (plan, mut state) = (Plan { failover, ..plan(&[0, 1, 2]) }, PlanState::new(0));
    assert_eq!(send(&plan, &frame(OTHER, source(6)), &mut state), Some(0));
    state.failover.without_carrier = MemberSet::one(id(0));
    // The order without that member, by the bucket.
    assert_eq!(send(&plan, &frame(OTHER, source(6)), &mut state), Some(1));
    assert_eq!(state.loads.members[6], Some(id(0)), "the bucket is still its own");
    let group = frame(GROUP, OTHER);
    assert_eq!(receive(&plan, 1, &group, &mut state), Verdict::ToTeam, "in place of the active one");
    assert_eq!(receive(&plan, 2, &group, &mut state), Verdict::Drop);
    assert_eq!(receive(&plan, 1, &frame(GROUP, source(6)), &mut state), Verdict::Drop, "a reflection all the same");
    state.failover.without_carrier = MemberSet::EMPTY;
    assert_eq!(receive(&plan, 1, &group, &mut state), Verdict::Drop);
}
