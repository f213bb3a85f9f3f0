//! 802.3ad: two teams with cables between them.

use nicteam_team::lacp::Reason;
use nicteam_team::{
    Action, Choose, Config, Effect, LinkState, Listen, MemberLink, PlanState, Receive, Team, Time, Verdict,
};
use nicteam_wire::{Frame, Mac};

use crate::control::pair::Pair;
use crate::control::world::{id, link, ms};

const FAST: &[(&str, &str)] = &[("mode", "802.3ad"), ("lacp_rate", "fast"), ("miimon", "100")];

fn config(options: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in FAST.iter().chain(options) {
        config.set(name, value).unwrap();
    }
    config
}

/// Teams with these options beside [`FAST`], each with so many gigabit members.
fn pair_of(a: &[(&str, &str)], b: &[(&str, &str)], members: usize) -> Pair {
    Pair::new([config(a), config(b)], members)
}

#[test]
fn two_teams_agree_and_spread() {
    let mut pair = pair_of(&[], &[], 3);
    assert_eq!(pair.both(), [vec![], vec![]], "before the aggregate wait is over");
    pair.run(ms(2500));
    assert_eq!(pair.both(), [vec![0, 1, 2], vec![0, 1, 2]]);
    assert_eq!(pair.carriers(), [true, true]);
    for team in [pair.team(0), pair.team(1)] {
        for member in team.members() {
            let port = member.lacp.unwrap();
            assert!(member.active && port.why_not.is_none(), "{port:?}");
            assert_eq!(port.actor.state.0, 63, "healthy, active, fast");
        }
        let lines = &team.plan().members;
        assert!(lines.iter().all(|line| line.receive == Receive::Deliver));
        assert_eq!(team.lacp().unwrap().active_aggregator().unwrap().partner_system, team_mac_of_the_other(team));
    }
    let effects = pair.world.nodes().flat_map(|host| &host.log);
    let told = effects.filter_map(|(_, effect)| match effect {
        Effect::Event(event) => Some(event.to_string()),
        _ => None,
    });
    let told: Vec<String> = told.collect();
    assert!(told.iter().any(|words| words == "member 0: partner is 02:00:00:00:00:0b"), "{told:?}");
    assert!(told.iter().any(|words| words == "carrier"), "{told:?}");
}

fn team_mac_of_the_other(team: &Team) -> Mac {
    let own = team.lacp().unwrap().config().ad_actor_system;
    if own == Mac([2, 0, 0, 0, 0, 0xa]) { Mac([2, 0, 0, 0, 0, 0xb]) } else { Mac([2, 0, 0, 0, 0, 0xa]) }
}

#[test]
fn neighbours_are_told_by_every_port_and_from_each_that_comes_back() {
    let mut pair = pair_of(&[("broadcast_neighbor", "on"), ("num_grat_arp", "2")], &[("num_grat_arp", "2")], 2);
    for host in 0..2 {
        pair.world.node_mut(host).team.handle_addresses(vec![(0, [10, 0, 0, 1].into())]);
    }
    pair.run(ms(3000));
    assert_eq!(pair.both(), [vec![0, 1], vec![0, 1]]);
    assert!(matches!(pair.plan(0).choose, Choose::HashOrAll { .. }));
    assert!(matches!(pair.plan(1).choose, Choose::Hash { .. }), "as its own options say");
    assert!(pair.announced().iter().all(|(_, team, _)| *team == 0), "{:?}", pair.announced());
    pair.cable(1, false);
    (0..2).for_each(|host| pair.world.node_mut(host).log.clear());
    pair.run(ms(500));
    assert_eq!(pair.announced(), [], "nobody has come");
    pair.cable(1, true);
    pair.run(ms(3000));
    let announced = pair.announced();
    let by = |member| announced.iter().filter(move |(_, _, by)| *by == id(member)).map(|(at, ..)| *at);
    let rounds: Vec<Time> = by(1).collect();
    assert_eq!(rounds, by(0).collect::<Vec<_>>(), "every round by every port");
    assert_eq!(rounds.len(), 2);
    assert_eq!(rounds[1].since(rounds[0]), ms(100), "a miimon apart");
    let mut off = pair.team(0).config().clone();
    off.set("broadcast_neighbor", "off").unwrap();
    pair.change(0, |team, now| team.set_config(off, now)).unwrap();
    assert_eq!((pair.both(), pair.world.in_flight().count()), ([vec![0, 1], vec![0, 1]], 0), "no port notices");
}

#[test]
fn without_an_aggregate_wait_they_spread_at_once() {
    let mut pair = pair_of(&[("aggregate_wait", "0")], &[("aggregate_wait", "0")], 2);
    // Three PDUs a second.
    pair.run(ms(1000));
    assert_eq!(pair.both(), [vec![0, 1], vec![0, 1]]);
}

#[test]
fn a_cut_link_leaves_the_others() {
    let mut pair = pair_of(&[], &[], 3);
    pair.run(ms(2500));
    pair.cable(1, false);
    assert_eq!(pair.both(), [vec![0, 2], vec![0, 2]]);
    assert_eq!(pair.why_not(0, 1), Some(Reason::NoCarrier));
    assert_eq!(pair.plan(0).members[1].receive, Receive::Drop);
    pair.run(ms(500));
    pair.cable(1, true);
    pair.run(ms(2500));
    assert_eq!(pair.both(), [vec![0, 1, 2], vec![0, 1, 2]]);
}

/// DPDK test_link_bonding_mode4.c, test_mode4_rx and test_mode4_tx_burst: 32
/// destinations leave by all four members, then by the three that are left, and
/// frames come in by these alone.
#[test]
fn frames_go_and_come_by_the_members_that_aggregate() {
    let mut pair = pair_of(&[("xmit_hash_policy", "layer2")], &[], 4);
    pair.run(ms(2500));
    let burst = |pair: &Pair| {
        let mut sent = [0; 4];
        for last in 0..32 {
            let header = [[0, 0xff, 0, 0xff, 0, last], [2, 0, 0, 0, 0, 0xa]].concat();
            let bytes = [&header[..], &[8, 0], &[0; 46]].concat();
            match pair.plan(0).choose(&Frame::parse(&bytes).unwrap(), &mut PlanState::new(0)) {
                Action::Send(members) => members.iter().for_each(|member| sent[member.index()] += 1),
                other => panic!("{other:?}"),
            }
        }
        sent
    };
    let heard = |pair: &Pair| {
        let bytes = [&[2, 0, 0, 0, 0, 0xa, 0, 0xff, 0, 0xff, 0, 1, 8, 0][..], &[0; 46]].concat();
        [0, 1, 2, 3].map(|member| pair.plan(0).receive(id(member), &Frame::parse(&bytes).unwrap()) == Verdict::ToTeam)
    };
    let sent = burst(&pair);
    assert!(sent.iter().all(|count| *count > 0) && sent.iter().sum::<u32>() == 32, "{sent:?}");
    assert_eq!(heard(&pair), [true; 4]);
    pair.cable(0, false);
    pair.run(ms(300));
    let sent = burst(&pair);
    assert!(sent[0] == 0 && sent[1..].iter().all(|count| *count > 0) && sent.iter().sum::<u32>() == 32, "{sent:?}");
    assert_eq!(heard(&pair), [false, true, true, true]);
    pair.cable(0, true);
    pair.run(ms(2500));
    assert!(burst(&pair)[0] > 0 && heard(&pair)[0]);
}

#[test]
fn a_cable_that_swallows_frames_is_left_after_the_timeout() {
    let mut pair = pair_of(&[], &[], 2);
    pair.run(ms(2500));
    pair.block(0);
    pair.run(ms(6500));
    assert_eq!(pair.both(), [vec![1], vec![1]]);
    assert_eq!(pair.why_not(0, 0), Some(Reason::PartnerSilent));
    assert_eq!(pair.carriers(), [true, true]);
}

#[test]
fn a_team_without_a_partner_serves_by_one_member_unless_strict() {
    let mut pair = pair_of(&[], &[("lacp_strict", "on")], 2);
    (0..2).for_each(|member| pair.block(member));
    pair.run(ms(10_000));
    assert_eq!(pair.both().map(|table| table.len()), [1, 0]);
    assert_eq!(pair.carriers(), [true, false]);
    assert_eq!(pair.why_not(1, 0), Some(Reason::PartnerSilent));
    // What a switch sends to the team's address by a member that does not serve is taken: LACPDUs leave from that address.
    let own = Mac([2, 0, 0, 0, 0, 0xa]);
    let lines = pair.plan(0).members.iter().map(|line| line.receive).collect::<Vec<_>>();
    assert!(lines.contains(&Receive::Deliver) && lines.contains(&Receive::Own { own, team: own }), "{lines:?}");
    assert!(pair.plan(1).members.iter().all(|line| line.receive == Receive::Drop));
}

#[test]
fn two_passive_teams_stay_silent() {
    let passive = &[("lacp_active", "passive"), ("lacp_strict", "on")];
    let mut pair = pair_of(passive, passive, 2);
    pair.run(ms(60_000));
    assert_eq!((pair.world.flown(), pair.both()), (0, [vec![], vec![]]));
    let mut pair = pair_of(&[], passive, 2);
    pair.run(ms(5000));
    assert_eq!(pair.both(), [vec![0, 1], vec![0, 1]]);
}

#[test]
fn min_links_decides_the_carrier() {
    let mut pair = pair_of(&[("min_links", "2")], &[], 2);
    pair.run(ms(2500));
    assert_eq!(pair.carriers(), [true, true]);
    pair.cable(0, false);
    assert_eq!(pair.carriers(), [false, true]);
}

#[test]
fn members_of_another_speed_stand_by() {
    let mut pair = pair_of(&[], &[], 3);
    let slow = MemberLink { speed_mbps: Some(100), ..link(true) };
    (0..2).for_each(|host| pair.tell(host, 2, slow));
    pair.deliver();
    pair.run(ms(6000));
    assert_eq!(pair.both(), [vec![0, 1], vec![0, 1]]);
    let reason = pair.why_not(0, 2).unwrap().to_string();
    assert_eq!(reason, "speeds differ: 100 Mbit/s here, 1000 Mbit/s in the active aggregator");
    assert!(!pair.team(0).members()[2].active);
}

#[test]
fn delays_hold_before_lacp_hears_of_a_link() {
    let mut pair = pair_of(&[("downdelay", "300"), ("updelay", "400")], &[], 2);
    pair.run(ms(2500));
    pair.tell(0, 0, link(false));
    assert_eq!(pair.table(0), [0, 1], "while it is failing");
    pair.run(ms(300));
    pair.tell(0, 0, link(false));
    assert_eq!(pair.table(0), [1]);
    pair.tell(0, 0, link(true));
    assert_eq!((pair.state(0, 0), pair.why_not(0, 0)), (Some(LinkState::Back), Some(Reason::NoCarrier)));
}

#[test]
fn members_come_and_go() {
    let mut pair = pair_of(&[], &[], 2);
    pair.run(ms(2500));
    pair.leave(0, 0);
    assert_eq!(pair.table(0), [1]);
    pair.leave(0, 1);
    assert_eq!((pair.table(0), pair.carriers()[0]), (vec![], false));
    pair.join(0, "eth7");
    pair.deliver();
    pair.run(ms(5000));
    assert_eq!(pair.table(0), [0]);
}

#[test]
fn options_reach_the_ports() {
    let options = &[
        ("ad_actor_system", "02:00:00:00:00:77"),
        ("ad_actor_sys_prio", "7"),
        ("ad_user_port_key", "5"),
        ("actor_port_prio", "eth1:9"),
        ("lacp_active", "off"),
    ];
    let pair = pair_of(options, &[], 2);
    let ports: Vec<_> = pair.team(0).members().into_iter().map(|member| member.lacp.unwrap().actor).collect();
    assert_eq!((ports[0].port_priority, ports[1].port_priority, ports[1].port), (255, 9, 2));
    assert_eq!((ports[0].system, ports[0].system_priority), (Mac([2, 0, 0, 0, 0, 0x77]), 7));
    // Gigabit, full duplex.
    assert_eq!(ports[0].key, 5 << 6 | 4 << 1 | 1);
    assert!(!ports[0].state.has(nicteam_wire::LacpState::ACTIVITY));
}

#[test]
fn options_change_while_it_runs() {
    let mut pair = pair_of(&[], &[], 2);
    pair.run(ms(2500));
    let change = |pair: &mut Pair, options: &[(&str, &str)]| {
        pair.change(0, |team, now| team.set_config(config(options), now)).unwrap();
        pair.deliver();
    };
    change(&mut pair, &[("xmit_hash_policy", "layer3+4"), ("lacp_rate", "slow")]);
    assert_eq!(pair.table(0), [0, 1], "no member is lost");
    change(&mut pair, &[("lacp_rate", "slow"), ("actor_port_prio", "eth1:3")]);
    assert_eq!(pair.table(0), [0], "the partner has to agree to the new priority first");
    pair.run(ms(5000));
    assert_eq!(pair.both(), [vec![0, 1], vec![0, 1]]);
    let ports: Vec<_> = pair.team(0).members().into_iter().map(|member| member.lacp.unwrap().actor).collect();
    assert_eq!((ports[1].port_priority, ports[1].state.has(nicteam_wire::LacpState::TIMEOUT)), (3, false));
    change(&mut pair, &[("min_links", "3")]);
    assert_eq!(pair.carriers(), [false, true]);
    assert!(pair.change(0, |team, now| team.set_config(Config::default(), now)).is_err(), "another mode");
    for member in 0..2 {
        pair.leave(0, member);
    }
    pair.change(0, |team, now| team.set_config(Config::default(), now)).unwrap();
    pair.join(0, "eth0");
    assert!(pair.team(0).lacp().is_none() && pair.carriers()[0]);
}

#[test]
fn only_this_mode_listens() {
    let listens = |options: &[(&str, &str)]| {
        let mut config = Config::default();
        options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
        let mut team = Team::new(config, Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).unwrap();
        let listens = team.listens();
        team.handle_frame(id(0), &[0; 200], Time::ZERO);
        assert_eq!((team.poll_effect(), team.lacp().is_none()), (None, true), "a frame of no member");
        listens
    };
    // In every mode the team listens for PAgP, to report it.
    let pagp = Listen { pagp: true, ..Listen::default() };
    assert_eq!(listens(&[("mode", "802.3ad")]), Listen { slow: true, ..pagp });
    assert_eq!(listens(&[("mode", "balance-xor")]), pagp);
}
