//! Many teams on a segment, idle or invented: what they cost those that are there.

use std::time::Duration;

use nicteam_team::stripe::{MAX_NEIGHBOURS, MAX_PEERS};
use nicteam_wire::{Frame, Hello, HelloKind, HelloMember, Mac};

use crate::stripe::lan::Lan;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// So many hosts with two gigabit members each on one segment, all of whose processors are late at times.
fn crowd(hosts: usize) -> Lan {
    let mut lan = Lan::new();
    lan.jitter = ms(3);
    for _ in 0..hosts {
        lan.add(&[0; 2], &[1000; 2]);
    }
    lan
}

/// The plans that each host made.
fn plans(lan: &Lan) -> Vec<u64> {
    lan.hosts().map(|host| host.plan.generation).collect()
}

#[test]
fn idle_teams_make_no_plans_however_many_they_are() {
    for hosts in [5, 25] {
        let mut lan = crowd(hosts);
        lan.run(Duration::from_secs(10));
        let before = plans(&lan);
        lan.run(Duration::from_secs(30));
        let most = plans(&lan).iter().zip(before).map(|(after, before)| after - before).max().unwrap();
        assert!(most <= 3, "{hosts} hosts: one made {most} plans in 30 s in which nothing happened");
    }
}

#[test]
fn who_else_has_traffic_is_no_concern_of_those_who_have_none() {
    let mut lan = crowd(13);
    lan.run(Duration::from_secs(10));
    let before = plans(&lan);
    for _ in 0..2 {
        for _ in 0..100 {
            lan.run(ms(20));
            lan.traffic(0, 1, 1);
            lan.traffic(0, 2, 1);
        }
        lan.run(Duration::from_secs(8));
    }
    let made: Vec<u64> = plans(&lan).iter().zip(before).map(|(after, before)| after - before).collect();
    assert!(made[3..].iter().all(|&made| made <= 1), "{made:?} plans");
    // The three themselves: who shares what.
    assert!(made[..3].iter().all(|&made| made <= 20), "{made:?} plans");
}

#[test]
fn a_new_peer_costs_each_other_team_the_same_however_many_they_are() {
    for hosts in [4, 24] {
        let mut lan = crowd(hosts);
        lan.run(Duration::from_secs(20));
        lan.count_anew();
        lan.run(Duration::from_secs(5));
        let said = |lan: &Lan| lan.hosts().map(|host| host.sent.values().sum::<u64>()).collect::<Vec<_>>();
        let usual = said(&lan);
        let before = plans(&lan);
        lan.count_anew();
        let new = lan.add(&[0; 2], &[1000; 2]);
        lan.run(Duration::from_secs(5));
        assert_eq!(lan.stripe(new).peers.len(), hosts);
        assert!(lan.hosts().all(|host| host.stripe().unwrap().peers.iter().all(|peer| peer.paths.len() == 2)));
        let made = plans(&lan).iter().zip(before).map(|(after, before)| after - before).max().unwrap();
        assert!(made <= 6, "{hosts} hosts: one made {made} plans of a new one");
        let more = said(&lan).iter().zip(usual).map(|(after, before)| after.saturating_sub(before)).max().unwrap();
        assert!(more <= 60, "{hosts} hosts: one said {more} hellos more for a new one");
    }
}

/// The address of an invented team's member, lower than any that is there.
fn invented_mac(number: u32, place: u8) -> Mac {
    let [_, _, high, low] = number.to_be_bytes();
    Mac([2, place, 0, 0, high, low])
}

/// What an invented team with two members announces by its first.
fn invented(number: u32, sequence: u32, next_ms: u32) -> Vec<u8> {
    invented_by(0, number, sequence, next_ms)
}

/// The same by this one.
fn invented_by(place: u8, number: u32, sequence: u32, next_ms: u32) -> Vec<u8> {
    let mac = |place: u8| invented_mac(number, place);
    let members = (0..2).map(|place| HelloMember { place, usable: true, mac: mac(place), rate_mbps: 1000 });
    let hello = Hello {
        kind: HelloKind::Announce,
        system: u64::from(number) + 1,
        sequence,
        team: mac(0),
        place,
        stamp: 0,
        next_ms,
        takes_rtags: true,
        rivals: 0,
        members: members.collect(),
    };
    Hello::frame_of(&hello.encode(), Hello::GROUP, mac(place))
}

/// Invented teams with these numbers announce themselves on segment 0, one after the other within `within`.
fn invent(
    lan: &mut Lan,
    numbers: std::ops::Range<u32>,
    sequence: u32,
    within: Duration,
    mut between: impl FnMut(&mut Lan),
) {
    let apart = within / numbers.len().max(1) as u32;
    for number in numbers {
        lan.inject(0, &invented(number, sequence, 25_500));
        lan.run(apart);
        between(lan);
    }
}

/// Two hosts with three members each, the first sending to the second.
fn busy_pair() -> Lan {
    let mut lan = Lan::new();
    lan.add(&[0; 3], &[1000; 3]);
    lan.add(&[0; 3], &[1000; 3]);
    lan.run_busy((0, 1), ms(500), |_| false);
    lan
}

fn paths(lan: &Lan, from: usize, to: usize) -> usize {
    lan.paths_to(from, lan.host(to).mac).len()
}

#[test]
fn invented_teams_push_nobody_out_who_answers() {
    let mut lan = busy_pair();
    for second in 1..=10 {
        invent(&mut lan, 0..100, second, ms(1000), |lan| {
            for (from, to) in [(0, 1), (1, 0)] {
                assert_eq!(paths(lan, from, to), 3, "paths of {from} to {to}");
            }
            lan.traffic(0, 1, 1);
        });
    }
    assert!(lan.hosts().all(|host| host.stripe().unwrap().peers.len() <= MAX_PEERS));
}

#[test]
fn among_invented_teams_a_new_one_and_one_that_starts_anew_are_found() {
    let mut lan = busy_pair();
    (1..=5).for_each(|second| invent(&mut lan, 0..250, second, ms(1000), |_| {}));
    let new = lan.add(&[0; 3], &[1000; 3]);
    (6..=10).for_each(|second| invent(&mut lan, 0..250, second, ms(1000), |_| {}));
    assert_eq!((paths(&lan, 0, new), paths(&lan, new, 0)), (3, 3), "a new one");
    lan.restart(1);
    (11..=15).for_each(|second| invent(&mut lan, 0..250, second, ms(1000), |_| {}));
    assert_eq!((paths(&lan, 0, 1), paths(&lan, 1, 0)), (3, 3), "one that starts anew");
    // And those that are invented anew each time.
    (16..=20).for_each(|second| invent(&mut lan, 250 * second..250 * second + 250, second, ms(1000), |_| {}));
    let newer = lan.add(&[0; 3], &[1000; 3]);
    (21..=30).for_each(|second| invent(&mut lan, 250 * second..250 * second + 250, second, ms(1000), |_| {}));
    assert_eq!((paths(&lan, 0, newer), paths(&lan, newer, 0)), (3, 3), "among ever new ones");
}

#[test]
fn invented_teams_do_not_make_a_silent_link_take_longer_to_find() {
    for offset in 0..5 {
        let mut lan = busy_pair();
        let with_traffic = |lan: &mut Lan| {
            lan.traffic(0, 1, 1);
        };
        for second in 1..=3 {
            invent(&mut lan, 0..250, second, ms(1000), with_traffic);
        }
        invent(&mut lan, 0..10 + offset, 4, ms(10 + u64::from(offset)), with_traffic);
        lan.silence(1, 2, true);
        let left = |lan: &Lan| lan.paths_to(0, lan.host(1).mac).iter().all(|&(_, to)| to != 2);
        let took = lan.run_busy((0, 1), ms(3000), left);
        assert!(took <= ms(30), "{took:?}");
    }
}

#[test]
fn invented_teams_cause_few_plans_and_few_frames() {
    for anew in [false, true] {
        let mut lan = busy_pair();
        let number = |second: u32| if anew { 1000 * second } else { 0 };
        (1..=3).for_each(|second| invent(&mut lan, number(second)..number(second) + 1000, second, ms(1000), |_| {}));
        let before = plans(&lan);
        lan.count_anew();
        (4..=13).for_each(|second| invent(&mut lan, number(second)..number(second) + 1000, second, ms(1000), |_| {}));
        let made = plans(&lan).iter().zip(before).map(|(after, before)| after - before).max().unwrap();
        assert!(made <= 30, "{made} plans in ten seconds");
        let said = lan.hosts().map(|host| host.sent.values().sum::<u64>() / 10).max().unwrap();
        // Probes as above, the first of each of three paths to 100 new teams a second, and announcements.
        assert!(said <= 500 + 50 + 2 * 100 + 300 + 50, "{said} hellos a second");
        assert!(lan.hosts().all(|host| host.team.discovery().unwrap().neighbours().count() <= MAX_NEIGHBOURS));
    }
}

#[test]
fn an_invented_team_ends_whatever_it_says_of_its_next_word() {
    let mut lan = busy_pair();
    invent(&mut lan, 0..100, 1, ms(100), |_| {});
    assert_eq!(lan.host(0).team.discovery().unwrap().neighbours().count(), 101);
    lan.run(Duration::from_secs(11));
    assert_eq!(lan.host(0).team.discovery().unwrap().neighbours().count(), 1);
    assert_eq!(paths(&lan, 0, 1), 3);
}

#[test]
fn who_announces_the_address_of_a_team_that_answers_does_not_become_it() {
    let mut lan = busy_pair();
    let (team, before) = (lan.host(1).mac, plans(&lan));
    for sequence in 1..=50 {
        let mut hello = Hello::of_frame(&Frame::parse(&invented(7, sequence, 1000)).unwrap()).unwrap().unwrap();
        hello.team = team;
        lan.inject(0, &Hello::frame_of(&hello.encode(), Hello::GROUP, hello.members[0].mac));
        lan.run(ms(20));
        lan.traffic(0, 1, 1);
        assert_eq!(paths(&lan, 0, 1), 3);
        assert!(lan.stripe(0).peer(team).unwrap().receivers.iter().all(|receiver| receiver.mac.0[3] == 2));
    }
    assert!(plans(&lan)[0] - before[0] <= 3, "{:?}", plans(&lan));
}

/// One host with two members, and so many teams that answer its probes and announce themselves each 20 s. They were
/// heard once.
struct Thousand {
    lan: Lan,
    teams: u32,
    sequence: u32,
}

/// Between two announcements of teams that are so many.
const ANNOUNCES: Duration = Duration::from_secs(20);

impl Thousand {
    fn new(teams: u32) -> Thousand {
        let mut lan = Lan::new();
        lan.add(&[0; 2], &[1000; 2]);
        let mut thousand = Thousand { lan, teams: 0, sequence: 0 };
        thousand.grow(teams);
        thousand.announce(ANNOUNCES);
        thousand
    }

    fn grow(&mut self, more: u32) {
        let new = self.teams..self.teams + more;
        self.teams = new.end;
        self.lan.add_phantoms(new.flat_map(|number| [invented_mac(number, 0), invented_mac(number, 1)]));
    }

    /// All announce themselves, one after the other.
    fn announce(&mut self, within: Duration) {
        self.sequence += 2;
        for number in 0..self.teams {
            for place in 0..2 {
                let next_ms = ANNOUNCES.as_millis() as u32;
                self.lan.inject(0, &invented_by(place, number, self.sequence + u32::from(place), next_ms));
            }
            self.lan.run(within / self.teams);
        }
    }

    fn plans(&self) -> u64 {
        self.lan.host(0).plan.generation
    }

    fn hellos(&mut self) -> u64 {
        std::mem::take(&mut self.lan.host_mut(0).sent).values().sum()
    }
}

#[test]
fn a_thousand_teams_are_peers_and_quiet_and_one_more_costs_what_it_costs_among_few() {
    let mut cost = Vec::new();
    for teams in [20, 1000] {
        let mut crowd = Thousand::new(teams);
        crowd.announce(ANNOUNCES);
        let striped = |crowd: &Thousand| {
            let stripe = crowd.lan.stripe(0);
            assert!(stripe.peers.iter().all(|peer| peer.paths.len() == 2));
            stripe.peers.len()
        };
        assert_eq!(striped(&crowd), teams as usize);
        let plans = crowd.plans();
        crowd.hellos();
        crowd.announce(ANNOUNCES);
        assert_eq!(crowd.plans() - plans, 0, "{teams} teams that are idle");
        // As many probes of idle paths as the pace allows, in all, and announcements by two members.
        let idle = crowd.hellos();
        assert!(idle <= 20 * 50 + 2 * 20 + 60, "{idle} hellos in 20 s to {teams} that are idle");
        crowd.grow(1);
        let all = std::mem::replace(&mut crowd.teams, teams + 1);
        for place in 0..2 {
            crowd.lan.inject(0, &invented_by(place, all - 1, 1, 20_000));
        }
        crowd.lan.run(Duration::from_secs(2));
        assert_eq!(striped(&crowd), teams as usize + 1);
        cost.push((crowd.plans() - plans, crowd.hellos()));
    }
    let [(few_plans, few), (plans, hellos)] = cost[..] else { panic!("{cost:?}") };
    assert!(plans <= few_plans + 1 && plans <= 5, "plans of one more peer, and hellos in 2 s: {cost:?}");
    assert!(hellos <= few + 2 * 50, "{cost:?}");
}

#[test]
fn where_there_is_not_room_for_all_those_with_traffic_stay() {
    for has_traffic in [true, false] {
        // One team is heard and does not answer, and the last that is known is a host.
        let mut crowd = Thousand::new(MAX_PEERS as u32 - 1);
        let silent = crowd.teams;
        (0..2).for_each(|place| crowd.lan.inject(0, &invented_by(place, silent, 1 + u32::from(place), 20_000)));
        let new = crowd.lan.add(&[0; 2], &[1000; 2]);
        let mac = crowd.lan.host(new).mac;
        crowd.lan.run(Duration::from_secs(5));
        let paths = |crowd: &Thousand| crowd.lan.stripe(0).peer(mac).map(|peer| peer.paths.len());
        assert_eq!(paths(&crowd), Some(2), "it has the place of the one that is silent");
        // Which is known for longer.
        crowd.grow(1);
        for _ in 0..50 {
            if has_traffic {
                crowd.lan.traffic(0, new, 1);
            }
            crowd.lan.run(ms(100));
        }
        let stripe = crowd.lan.stripe(0);
        assert_eq!((stripe.peers.len(), crowd.lan.host(0).team.discovery().unwrap().left_out()), (MAX_PEERS, 1));
        assert_eq!(paths(&crowd), has_traffic.then_some(2));
    }
}

#[test]
fn there_is_room_for_so_many_neighbours_and_no_more() {
    let crowd = Thousand::new(MAX_NEIGHBOURS as u32 + 20);
    let discovery = crowd.lan.host(0).team.discovery().unwrap();
    assert_eq!(discovery.neighbours().count(), MAX_NEIGHBOURS);
    assert!(discovery.overlooked() > 0);
    assert_eq!(crowd.lan.stripe(0).peers.len(), MAX_PEERS);
}
