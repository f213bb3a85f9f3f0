//! What a dataplane does by itself about a member without carrier.

use std::time::Duration;

use nicteam_team::balance::{Eligible, Number};
use nicteam_team::{
    Action, Balance, Choose, Config, Duplex, Effect, Failover, HashPolicy, MemberId, MemberLink, MemberSet, Mode, Plan,
    PlanMember, PlanState, Receive, Rewrite, Team, Time, Verdict,
};
use nicteam_wire::{Frame, Mac};

const TEAM: Mac = Mac([2, 0, 0, 0, 0, 1]);
const OTHER: Mac = Mac([2, 0, 0, 0, 0, 9]);

fn id(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

fn ids(places: &[usize]) -> Vec<MemberId> {
    places.iter().map(|&place| id(place)).collect()
}

fn own(place: usize) -> Mac {
    Mac([2, 0, 0, 0, 8, place as u8])
}

/// Four members, of which the first one receives unless all do; `order` takes over.
fn plan(choose: Choose, order: &[usize]) -> Plan {
    let one = matches!(choose, Choose::One(_) | Choose::Balance(_));
    let receive = |place| if one && place > 0 { Receive::Drop } else { Receive::Deliver };
    let line = |place| PlanMember { id: id(place), receive: receive(place), rewrite: Rewrite::default(), queue_id: 0 };
    let failover = Some(Failover { order: ids(order), ..Failover::default() });
    Plan { generation: 1, choose, members: (0..4).map(line).collect(), lease: None, failover, notes_sources: false }
}

fn lost(places: &[usize]) -> MemberSet {
    places.iter().map(|&place| id(place)).collect()
}

fn frame(dst: Mac, src: Mac, last: u8) -> Vec<u8> {
    let mut bytes = [&dst.0[..], &src.0, &[8, 0, 0x45], &[0; 19]].concat();
    bytes[33] = last;
    bytes
}

fn sent(plan: &Plan, bytes: &[u8], state: &mut PlanState) -> usize {
    let Action::Send(members) = plan.choose(&Frame::parse(bytes).unwrap(), state) else { panic!("not sent") };
    let members: Vec<_> = members.iter().collect();
    assert_eq!(members.len(), 1);
    members[0].index()
}

fn received(plan: &Plan, member: usize, dst: Mac, state: &mut PlanState) -> Verdict {
    plan.receive_once(id(member), &Frame::parse(&frame(dst, OTHER, 0)).unwrap(), state)
}

#[test]
fn a_standby_sends_and_receives_while_the_active_member_has_no_carrier() {
    let plan = plan(Choose::One(id(0)), &[0, 2, 1]);
    let (mut state, bytes) = (PlanState::new(0), frame(OTHER, TEAM, 0));
    for (down, by) in [(&[][..], 0), (&[0], 2), (&[0, 2], 1), (&[2], 0), (&[0, 1, 2], 0), (&[], 0)] {
        state.failover.without_carrier = lost(down);
        assert_eq!(sent(&plan, &bytes, &mut state), by, "{down:?} without carrier");
        for member in 0..4 {
            let verdict = if member == by { Verdict::ToTeam } else { Verdict::Drop };
            // The active member has nobody to receive in its place: it takes what comes.
            let verdict = if member == 0 { Verdict::ToTeam } else { verdict };
            assert_eq!(received(&plan, member, TEAM, &mut state), verdict, "{down:?} without carrier, by {member}");
        }
    }
    let off = Plan { failover: None, ..plan };
    state.failover.without_carrier = lost(&[0]);
    assert_eq!(sent(&off, &bytes, &mut state), 0);
    assert_eq!(received(&off, 2, TEAM, &mut state), Verdict::Drop);
}

#[test]
fn frames_of_a_lost_member_spread_over_the_others() {
    let turns = Choose::RoundRobin { members: ids(&[0, 1, 2, 3]), packets_per_member: 1, igmp: id(0) };
    let hash = Choose::Hash { policy: HashPolicy::SrcDstIp, table: ids(&[0, 1, 2, 3]) };
    for choose in [turns, hash] {
        let plan = plan(choose, &[0, 1, 2, 3]);
        let mut state = PlanState::new(0);
        let mut by = [0; 4];
        let healthy: Vec<usize> = (0..=255).map(|last| sent(&plan, &frame(OTHER, TEAM, last), &mut state)).collect();
        state = PlanState::new(0);
        state.failover.without_carrier = lost(&[1]);
        for last in 0..=255 {
            let member = sent(&plan, &frame(OTHER, TEAM, last), &mut state);
            by[member] += 1;
            let before = healthy[usize::from(last)];
            assert!(before == 1 || member == before, "a frame of a member with carrier moved");
        }
        assert_eq!(by[1], 0);
        assert!(by.iter().enumerate().all(|(place, &frames)| place == 1 || (80..=90).contains(&frames)), "{by:?}");
    }
}

#[test]
fn a_member_is_left_after_downdelay_and_used_again_after_updelay() {
    let ms = |ms| Time::ZERO + Duration::from_millis(ms);
    let mut plan = plan(Choose::One(id(0)), &[0, 1]);
    plan.failover = Some(Failover {
        order: ids(&[0, 1]),
        downdelay: Duration::from_millis(100),
        updelay: Duration::from_millis(300),
    });
    let mut state = PlanState::new(0);
    let bytes = frame(OTHER, TEAM, 0);
    let mut at = |now, down: &[usize]| {
        state.now = ms(now);
        state.failover.without_carrier = lost(down);
        sent(&plan, &bytes, &mut state)
    };
    // Counted from the first frame that met it.
    assert_eq!([at(0, &[]), at(50, &[0]), at(149, &[0]), at(150, &[0])], [0, 0, 0, 1]);
    assert_eq!([at(200, &[]), at(499, &[]), at(500, &[]), at(501, &[])], [1, 1, 0, 0]);
    // A short loss is none, and a short return is none.
    assert_eq!([at(600, &[0]), at(699, &[]), at(700, &[0]), at(799, &[0]), at(800, &[0])], [0, 0, 0, 0, 1]);
    assert_eq!([at(900, &[]), at(1000, &[0]), at(1001, &[]), at(1300, &[]), at(1301, &[])], [1, 1, 1, 1, 0]);
    // With nobody else it does not wait.
    assert_eq!([at(2000, &[0]), at(2100, &[0]), at(2101, &[0, 1])], [0, 1, 1]);
    assert_eq!([at(2201, &[0, 1]), at(2202, &[1])], [0, 0], "`updelay` runs, and it is the only one");
    // A new plan starts without any memory.
    state.now = ms(3000);
    state.failover.without_carrier = lost(&[]);
    let next = Plan { generation: 2, ..plan };
    assert_eq!(sent(&next, &bytes, &mut state), 0);
}

#[test]
fn who_sends_for_the_active_member_sends_from_the_teams_address() {
    let balance = Balance {
        eligible: Eligible::Alb,
        number: Number::Hash(HashPolicy::SrcDstIp),
        table: ids(&[0, 1, 2]),
        active: id(0),
        counted: false,
        punt: None,
    };
    let mut plan = plan(Choose::Balance(balance), &[0, 2, 1]);
    for place in 1..3 {
        plan.members[place].rewrite.src = Some(own(place));
        plan.members[place].receive = Receive::Own { own: own(place), team: TEAM };
    }
    let mut state = PlanState::new(0);
    assert_eq!(plan.rewrite_of(id(0), id(2), &mut state).src, Some(own(2)));
    state.failover.without_carrier = lost(&[0]);
    assert_eq!(plan.rewrite_of(id(0), id(2), &mut state), Rewrite::default());
    assert_eq!(plan.rewrite_of(id(0), id(1), &mut state).src, Some(own(1)));
    assert_eq!(plan.rewrite_of(id(2), id(2), &mut state).src, Some(own(2)), "its own frames");
    assert_eq!(received(&plan, 2, TEAM, &mut state), Verdict::ToTeam);
    assert_eq!(received(&plan, 1, TEAM, &mut state), Verdict::Drop);
    // What is for the own address of a lost member is the active one's, and nobody else's.
    state.failover.without_carrier = lost(&[1]);
    let as_team = Verdict::ToTeamAs { src: OTHER, dst: TEAM };
    assert_eq!(received(&plan, 0, own(1), &mut state), as_team);
    assert_eq!(received(&plan, 2, own(1), &mut state), Verdict::Drop);
    assert_eq!(received(&plan, 0, own(2), &mut state), Verdict::ToTeam, "that member has carrier");
    assert_eq!(received(&plan, 2, own(2), &mut state), as_team);
}

/// What the plan of a team with these members says.
fn order(config: Config, carriers: &[bool]) -> Option<Vec<usize>> {
    let mut team = Team::new(config, TEAM, Time::ZERO).unwrap();
    for (place, &carrier) in carriers.iter().enumerate() {
        let link = MemberLink { carrier, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
        team.add_member(&format!("eth{place}"), link, Time::ZERO).unwrap();
        while let Some(effect) = team.poll_effect() {
            drop::<Effect>(effect);
        }
    }
    let failover = team.plan().failover.clone();
    failover.map(|failover| failover.order.iter().map(|id| id.index()).collect())
}

#[test]
fn the_order_is_that_in_which_the_team_would_choose() {
    let backup = Config { mode: Mode::ActiveBackup, ..Config::default() };
    assert_eq!(order(backup.clone(), &[true; 3]), Some(vec![0, 1, 2]));
    let prio = [("eth1".to_owned(), -1)].into();
    let primary = Some("eth2".to_owned());
    assert_eq!(order(Config { primary, prio, ..backup.clone() }, &[true; 4]), Some(vec![2, 0, 3, 1]));
    // One that is down is the last one to be tried.
    assert_eq!(order(backup.clone(), &[false, true, true]), Some(vec![1, 2, 0]));
    assert_eq!(order(Config::default(), &[false, true, true]), Some(vec![1, 2]), "balance-rr");
    let tlb = Config { mode: Mode::BalanceTlb, ..Config::default() };
    assert_eq!(order(tlb, &[true, false, true]), Some(vec![0, 2]));
    assert_eq!(order(Config { mode: Mode::Broadcast, ..Config::default() }, &[true; 2]), None);
    assert_eq!(order(Config { carrier_failover: false, ..backup.clone() }, &[true; 2]), None);
    assert_eq!(order(Config { miimon_ms: 0, ..backup }, &[true; 2]), None, "nobody asked for carrier");
}
