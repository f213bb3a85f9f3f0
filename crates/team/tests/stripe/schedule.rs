//! By which path which frame goes.

use std::time::Duration;

use nicteam_team::{Action, Verdict};
use nicteam_wire::{Frame, Mac};

use crate::stripe::lan::{Lan, frame, id};

/// What a full frame takes at 100 Mbit/s.
const WIRE_NS: u64 = (1514 + 24) * 80;

#[test]
fn like_links_carry_alike() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0; 4], &[1000; 4]), lan.add(&[0; 4], &[1000; 4]));
    lan.run(Duration::from_millis(200));
    let counted = lan.traffic(a, b, 4000);
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3].map(|place| ((place, place), 1000)));
}

#[test]
fn unlike_links_carry_by_their_rates() {
    let mut lan = Lan::new();
    let rates = [100, 100, 10, 1000];
    let (a, b) = (lan.add(&[0; 4], &rates), lan.add(&[0; 4], &rates));
    lan.run(Duration::from_millis(200));
    // As many as the lead allows: 90 ms on all links together.
    let counted = lan.traffic(a, b, 9000);
    for ((member, _), frames) in counted {
        let fair = 9000.0 * f64::from(rates[member]) / 1210.0;
        assert!((frames as f64 / fair - 1.0).abs() < 0.02, "member {member}: {frames} frames, {fair} are its share");
    }
}

#[test]
fn a_busy_receiver_is_left_for_a_free_one() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0; 2], &[1000; 2]), lan.add(&[0; 2], &[1000, 100]));
    lan.run(Duration::from_millis(200));
    let counted = lan.traffic(a, b, 1100);
    let to_fast: usize = counted.iter().filter(|((_, to), _)| *to == 0).map(|(_, frames)| frames).sum();
    assert!((990..=1010).contains(&to_fast), "{counted:?}");
}

#[test]
fn who_alone_cannot_fill_the_fastest_receiver_uses_all_once_others_send_there() {
    let mut lan = Lan::new();
    let server = lan.add(&[0; 2], &[100, 60]);
    let clients: Vec<usize> = (0..3).map(|_| lan.add(&[0], &[100])).collect();
    lan.run(Duration::from_millis(200));
    // Each as fast as its link; of the last half, the part that the slow member gets.
    let slow_part = |lan: &mut Lan, clients: &[usize]| {
        let mut to = [0; 2];
        for number in 0..2000 {
            for &client in clients {
                let sent = lan.traffic(client, server, 1);
                sent.into_keys().filter(|_| number >= 1000).for_each(|(_, place)| to[place] += 1);
            }
            lan.run(Duration::from_nanos(WIRE_NS));
        }
        f64::from(to[1]) / f64::from(to[0] + to[1])
    };
    let (alone, together) = (slow_part(&mut lan, &clients[..1]), slow_part(&mut lan, &clients));
    assert!(alone == 0.0, "{alone}");
    assert!((together / (60.0 / 160.0) - 1.0).abs() < 0.05, "{together}");
    let stripe = lan.stripe(clients[0]);
    assert!(stripe.peers.iter().any(|peer| peer.team == lan.host(server).mac && peer.keeps_flows));
    // And as before once the others are silent.
    lan.run(Duration::from_secs(5));
    assert_eq!(slow_part(&mut lan, &clients[..1]), 0.0);
}

#[test]
fn peers_share_our_members() {
    let mut lan = Lan::new();
    let a = lan.add(&[0; 4], &[1000; 4]);
    let others: Vec<usize> = (0..4).map(|_| lan.add(&[0], &[1000])).collect();
    lan.run(Duration::from_millis(200));
    let mut by_member = [0; 4];
    for _ in 0..100 {
        for &other in &others {
            lan.traffic(a, other, 1).into_iter().for_each(|((member, _), frames)| by_member[member] += frames);
        }
    }
    assert_eq!(by_member, [100; 4]);
}

#[test]
fn what_is_striped_is_put_together_again() {
    let mut lan = Lan::new();
    let (a, b) = (lan.add(&[0; 4], &[1000; 4]), lan.add(&[0; 4], &[1000; 4]));
    lan.run(Duration::from_millis(200));
    let (from, to) = (lan.host(a).mac, lan.host(b).mac);
    let mut bytes = frame(to, from, 100);
    for _ in 0..8 {
        let host = lan.host_mut(a);
        let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut host.state);
        let Action::Stripe { member, src, dst, .. } = action else { panic!("{action:?}") };
        bytes[..6].copy_from_slice(&dst.0);
        bytes[6..12].copy_from_slice(&src.0);
        let verdict = lan.host(b).plan.receive(id(usize::from(dst.0[5])), &Frame::parse(&bytes).unwrap());
        let whole = member == id(0) && verdict == Verdict::ToTeam;
        assert!(whole || verdict == Verdict::ToTeamAs { src: from, dst: to }, "{member}: {verdict:?}");
        bytes = frame(to, from, 100);
    }
}

#[test]
fn strangers_and_groups_are_served_as_by_balance_alb() {
    let mut lan = Lan::new();
    let (a, _) = (lan.add(&[0; 4], &[1000; 4]), lan.add(&[0; 4], &[1000; 4]));
    lan.run(Duration::from_millis(200));
    let host = lan.host_mut(a);
    for dst in [Mac([2, 9, 9, 9, 9, 9]), Mac::BROADCAST] {
        let bytes = frame(dst, host.mac, 100);
        let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut host.state);
        assert!(matches!(action, Action::Send(members) if members.iter().count() == 1), "{action:?}");
    }
    // What others send through the team, as under a bridge, keeps its addresses.
    let bytes = frame(lan.host(1).mac, Mac([2, 8, 8, 8, 8, 8]), 100);
    let host = lan.host_mut(a);
    let action = host.plan.choose(&Frame::parse(&bytes).unwrap(), &mut host.state);
    assert!(matches!(action, Action::Send(_)), "{action:?}");
}
