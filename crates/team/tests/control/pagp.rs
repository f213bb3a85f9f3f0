//! PAgP of a switch: heard in every mode, told once, forgotten.

use std::time::Duration;

use nicteam_team::{Config, Effect, Event, MemberId, Mode, PagpHeard, Team, Time};
use nicteam_wire::{Mac, Pagp, PagpPort};

use super::world::link;

const SWITCH: Mac = Mac([0, 0x0a, 0x8a, 0, 0, 1]);

fn hello(auto: bool, name: &str) -> Vec<u8> {
    let local = PagpPort { device: SWITCH, ..PagpPort::default() };
    let (device_name, port_name) = (name.to_owned(), "Gi0/1".to_owned());
    Pagp { auto, local, device_name, port_name, ..Pagp::default() }.frame(SWITCH)
}

/// A team of two members, its effects drained.
fn team(mode: Mode) -> (Team, [MemberId; 2]) {
    let mut team = Team::new(Config { mode, ..Config::default() }, Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).unwrap();
    let ids = ["m0", "m1"].map(|name| {
        let id = team.add_member(name, link(true), Time::ZERO).unwrap();
        drain(&mut team);
        id
    });
    (team, ids)
}

/// What the team reports of PAgP.
fn drain(team: &mut Team) -> Vec<PagpHeard> {
    let effects = std::iter::from_fn(|| team.poll_effect());
    effects
        .filter_map(|effect| if let Effect::Event(Event::Pagp(heard)) = effect { Some(heard) } else { None })
        .collect()
}

#[test]
fn each_mode_hears_it_and_tells_it_once_a_member() {
    for mode in Mode::ALL {
        let (mut team, [first, second]) = team(mode);
        assert!(team.listens().pagp, "{mode}");
        let plan = team.plan().clone();
        let mut told = Vec::new();
        for second_s in 0..60 {
            let now = Time::from_millis(second_s * 1000);
            for member in [first, second] {
                team.handle_frame(member, &hello(false, "sw"), now);
                told.extend(drain(&mut team));
            }
        }
        let members: Vec<MemberId> = told.iter().map(|heard| heard.member).collect();
        assert_eq!(members, [first, second], "{mode}");
        assert_eq!(
            (told[0].switch().as_str(), told[0].mode(), told[0].port_name.as_str()),
            ("sw", "desirable", "Gi0/1")
        );
        assert_eq!(team.pagp(Time::from_millis(60_000)), told);
        assert_eq!(*team.plan(), plan, "{mode}: nothing else follows");
    }
}

#[test]
fn it_is_forgotten_in_silence_and_with_its_member() {
    let (mut team, [first, second]) = team(Mode::BalanceXor);
    for member in [first, second] {
        team.handle_frame(member, &hello(true, ""), Time::ZERO);
        let told = drain(&mut team);
        // Without a name the switch is known by its address.
        assert_eq!((told[0].mode(), told[0].switch()), ("auto", SWITCH.to_string()));
    }
    team.remove_member(second, Time::ZERO).unwrap();
    drain(&mut team);
    let members =
        |team: &Team, ms| team.pagp(Time::from_millis(ms)).iter().map(|heard| heard.member).collect::<Vec<_>>();
    assert_eq!(members(&team, 105_000), [first], "three and a half slow hellos");
    assert!(members(&team, 105_001).is_empty());
    // Of one that has left nothing is kept.
    team.handle_frame(second, &hello(true, ""), Time::from_millis(1));
    assert!(drain(&mut team).is_empty() && members(&team, 2) == [first]);
    // What was silent is told again, and another mode of the port, too.
    for (ms, auto) in [(200_000, true), (201_000, false)] {
        team.handle_frame(first, &hello(auto, ""), Time::from_millis(ms));
        assert_eq!(drain(&mut team).len(), 1, "at {ms} ms");
    }
}

#[test]
fn what_else_comes_to_that_group_says_nothing() {
    let (mut team, [first, _]) = team(Mode::Ad);
    let mut cdp = hello(false, "sw");
    cdp[20..22].copy_from_slice(&0x2000_u16.to_be_bytes());
    for frame in [&cdp[..], &hello(false, "sw")[..60]] {
        team.handle_frame(first, frame, Time::ZERO + Duration::from_secs(1));
        assert!(drain(&mut team).is_empty());
    }
    assert!(team.pagp(Time::ZERO).is_empty());
}

#[test]
fn the_cure_is_the_mode_s() {
    let cure = |mode: &Mode, lacp| (mode.name(), mode.traits().channel_group(lacp));
    let cures: Vec<_> = Mode::ALL.iter().map(|mode| cure(mode, false)).collect();
    for (mode, group) in [
        ("balance-rr", Some("on")),
        ("balance-xor", Some("on")),
        ("broadcast", Some("on")),
        ("802.3ad", Some("active")),
        ("active-backup", None),
        ("balance-tlb", None),
        ("balance-alb", None),
        ("stripe", None),
        ("ovs-active-backup", None),
        ("ovs-balance-slb", None),
        ("ovs-balance-tcp", Some("active")),
    ] {
        assert!(cures.contains(&(mode, group)), "{mode}: {cures:?}");
    }
    assert_eq!(cure(&Mode::OvsBalanceSlb, true).1, Some("active"));
}
