//! The plan, frame by frame.

use nicteam_machine::{MAX_MEMBERS, MemberId, MemberSet};
use nicteam_options::HashPolicy;
use nicteam_plan::balance::{Eligible, Number};
use nicteam_plan::buckets::{BUCKETS, Key};
use nicteam_plan::{Action, Balance, Buckets, Choose, Plan, PlanMember, PlanState, Receive, Rewrite, Verdict, hash};
use nicteam_wire::Frame;
use proptest::prelude::*;

fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

fn ids(count: usize) -> Vec<MemberId> {
    (0..count).map(id).collect()
}

fn plan(choose: Choose) -> Plan {
    let line = |id| PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default(), queue_id: 0 };
    Plan {
        generation: 1,
        choose,
        members: ids(4).into_iter().map(line).collect(),
        lease: None,
        failover: None,
        notes_sources: false,
    }
}

/// 14 bytes of Ethernet and an IPv4 header of this protocol.
fn ipv4(protocol: u8) -> [u8; 34] {
    let mut bytes = [0; 34];
    bytes[..14].copy_from_slice(&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    bytes[14] = 0x45;
    bytes[23] = protocol;
    bytes
}

/// The single member this plan sends each of `frames` frames by.
fn sequence(plan: &Plan, state: &mut PlanState, frames: usize) -> Vec<usize> {
    let bytes = ipv4(17);
    let frame = Frame::parse(&bytes).unwrap();
    (0..frames).map(|_| only(plan.choose(&frame, state))).collect()
}

fn only(action: Action) -> usize {
    let Action::Send(members) = action else { panic!("{action:?}") };
    let members: Vec<_> = members.iter().collect();
    assert_eq!(members.len(), 1);
    members[0].index()
}

fn round_robin(packets_per_member: u32) -> Plan {
    plan(Choose::RoundRobin { members: ids(3), packets_per_member, igmp: id(2) })
}

#[test]
fn one_all_and_nobody() {
    let bytes = ipv4(17);
    let frame = Frame::parse(&bytes).unwrap();
    let mut state = PlanState::new(0);
    assert_eq!(plan(Choose::Nobody).choose(&frame, &mut state), Action::Drop);
    assert_eq!(Plan::nobody().choose(&frame, &mut state), Action::Drop);
    assert_eq!(plan(Choose::One(id(3))).choose(&frame, &mut state), Action::Send(MemberSet::one(id(3))));
    let all: MemberSet = ids(4).into_iter().collect();
    assert_eq!(plan(Choose::All(all)).choose(&frame, &mut state), Action::Send(all));
    assert_eq!(plan(Choose::All(MemberSet::EMPTY)).choose(&frame, &mut state), Action::Drop);
}

#[test]
fn round_robin_turns_as_the_kernels() {
    // The kernel counts the frame first, so the first goes to the second member.
    assert_eq!(sequence(&round_robin(1), &mut PlanState::new(0), 7), [1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(sequence(&round_robin(2), &mut PlanState::new(0), 8), [0, 1, 1, 2, 2, 0, 0, 1]);
    assert_eq!(sequence(&round_robin(3), &mut PlanState::new(0), 6), [0, 0, 1, 1, 1, 2]);
    let mut state = PlanState::new(0);
    state.round_robin = u32::MAX;
    assert_eq!(sequence(&round_robin(1), &mut state, 3), [0, 1, 2], "the counter wraps");
}

#[test]
fn igmp_stays_on_one_member_and_takes_no_turn() {
    let (igmp, other) = (ipv4(2), ipv4(17));
    let plan = round_robin(1);
    let mut state = PlanState::new(0);
    for _ in 0..3 {
        assert_eq!(only(plan.choose(&Frame::parse(&igmp).unwrap(), &mut state)), 2);
    }
    assert_eq!(only(plan.choose(&Frame::parse(&other).unwrap(), &mut state)), 1);
}

#[test]
fn random_turns_follow_the_seed_and_are_even() {
    let plan = round_robin(0);
    let first = sequence(&plan, &mut PlanState::new(7), 3000);
    assert_eq!(first, sequence(&plan, &mut PlanState::new(7), 3000));
    assert_ne!(first, sequence(&plan, &mut PlanState::new(8), 3000));
    for member in 0..3 {
        let share = first.iter().filter(|&&chosen| chosen == member).count();
        assert!((850..1150).contains(&share), "member {member}: {share} of 3000");
    }
}

#[test]
fn a_hash_finds_its_bucket() {
    let bytes = ipv4(17);
    let frame = Frame::parse(&bytes).unwrap();
    // layer2: 9 ^ 1 ^ 0x0800 = 2056, which is 1 modulo 5.
    assert_eq!(hash::hash(HashPolicy::Layer2, &frame), 2056);
    let table = vec![id(4), id(3), id(2), id(1), id(0)];
    let by_hash = plan(Choose::Hash { policy: HashPolicy::Layer2, table });
    assert_eq!(only(by_hash.choose(&frame, &mut PlanState::new(0))), 3);
    let empty = plan(Choose::Hash { policy: HashPolicy::Layer2, table: Vec::new() });
    assert_eq!(empty.choose(&frame, &mut PlanState::new(0)), Action::Drop);
}

#[test]
fn what_is_received_is_the_teams_the_members_or_nobodys() {
    let mut plan = plan(Choose::One(id(0)));
    plan.members[1].receive = Receive::Drop;
    let mut bytes = ipv4(17);
    for (member, verdict) in [(0, Verdict::ToTeam), (1, Verdict::Drop), (3, Verdict::ToTeam), (9, Verdict::Drop)] {
        assert_eq!(plan.receive(id(member), &Frame::parse(&bytes).unwrap()), verdict, "member {member}");
    }
    bytes[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 2]);
    for member in [0, 1, 9] {
        assert_eq!(plan.receive(id(member), &Frame::parse(&bytes).unwrap()), Verdict::ToMember, "member {member}");
    }
}

#[test]
fn a_queue_goes_before_every_choice() {
    let bytes = ipv4(17);
    let frame = Frame::parse(&bytes).unwrap();
    let mut state = PlanState::new(0);
    let mut plan = round_robin(1);
    plan.members[1].queue_id = 7;
    plan.members[3].queue_id = 16;
    for (queue, expected) in [(7, 1), (16, 3), (7, 1)] {
        assert_eq!(only(plan.choose_queued(queue, &frame, &mut state)), expected);
    }
    assert_eq!(state.round_robin, 0, "such a frame takes nobody's turn");
    for (turn, queue) in [0, 1, 17, u16::MAX].into_iter().enumerate() {
        assert_eq!(only(plan.choose_queued(queue, &frame, &mut state)), (turn + 1) % 3, "queue {queue} is nobody's");
    }
    plan.choose = Choose::Nobody;
    assert_eq!(only(plan.choose_queued(7, &frame, &mut state)), 1);
    assert_eq!(plan.choose_queued(0, &frame, &mut state), Action::Drop);
}

fn any_choose() -> impl Strategy<Value = Choose> {
    let member = (0..MAX_MEMBERS).prop_map(id);
    let members = prop::collection::vec(member.clone(), 0..40);
    let enabled = members.clone();
    prop_oneof![
        Just(Choose::Nobody),
        member.clone().prop_map(Choose::One),
        (prop::sample::select(&HashPolicy::ALL[..]), members.clone())
            .prop_map(|(policy, table)| Choose::Hash { policy, table }),
        (prop::sample::select(&HashPolicy::ALL[..]), members.clone())
            .prop_map(|(policy, table)| Choose::HashOrAll { policy, table }),
        (members, 0..5_u32, member).prop_map(|(members, packets_per_member, igmp)| Choose::RoundRobin {
            members,
            packets_per_member,
            igmp
        }),
        any::<u32>().prop_map(|bits| Choose::All(MemberSet::from_bits(bits))),
        (any_balance(), prop::collection::vec((0..MAX_MEMBERS).prop_map(id), 0..40))
            .prop_map(|(balance, table)| Choose::Balance(Balance { table, ..balance })),
        (any::<bool>(), any::<u32>(), prop::option::of((0..MAX_MEMBERS).prop_map(id)), enabled).prop_map(
            |(by_flow, basis, all, enabled)| {
                let key = if by_flow { Key::Flow { basis } } else { Key::Source { basis } };
                Choose::Buckets(Buckets { key, table: Box::new([all; BUCKETS]), enabled })
            }
        ),
    ]
}

fn any_balance() -> impl Strategy<Value = Balance> {
    let number =
        prop_oneof![Just(Number::Destination), prop::sample::select(&HashPolicy::ALL[..]).prop_map(Number::Hash)];
    let eligible = prop_oneof![Just(Eligible::Tlb), Just(Eligible::Alb)];
    (eligible, number, (0..MAX_MEMBERS).prop_map(id), any::<bool>()).prop_map(|(eligible, number, active, counted)| {
        Balance { eligible, number, table: Vec::new(), active, counted, punt: None }
    })
}

/// The members that a choice can name.
fn named(choose: &Choose) -> MemberSet {
    match choose {
        Choose::Nobody => MemberSet::EMPTY,
        Choose::One(member) => MemberSet::one(*member),
        Choose::Hash { table, .. } | Choose::HashOrAll { table, .. } => table.iter().copied().collect(),
        Choose::RoundRobin { members, igmp, .. } => members.iter().chain([igmp]).copied().collect(),
        Choose::All(members) => *members,
        Choose::Balance(Balance { table, active, .. }) => table.iter().chain([active]).copied().collect(),
        Choose::Buckets(buckets) => buckets.enabled.iter().copied().collect(),
        Choose::Stripe(stripe) => stripe.senders.iter().map(|sender| sender.id).collect(),
    }
}

proptest! {
    #[test]
    fn any_frame_and_plan_give_members_of_the_plan(
        choose in any_choose(),
        bytes in prop::collection::vec(any::<u8>(), 14..100),
        counter in any::<u32>(),
    ) {
        let members = named(&choose);
        let plan = Plan { generation: 1, choose, members: Vec::new(), lease: None, failover: None, notes_sources: false };
        let mut state = PlanState::new(1);
        state.round_robin = counter;
        let frame = Frame::parse(&bytes).unwrap();
        match plan.choose(&frame, &mut state) {
            Action::Send(chosen) => {
                prop_assert!(!chosen.is_empty());
                prop_assert_eq!(chosen.bits() & !members.bits(), 0);
            }
            Action::Drop => {}
            Action::Punt | Action::Withhold | Action::Stripe { .. } | Action::Redundant { .. } => prop_assert!(false, "none of these modes does so"),
        }
    }
}
