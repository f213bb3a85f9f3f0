//! A plan that stripes, and frames for it.

use std::time::Duration;

use nicteam_dataplane::BpfDataplane;
use nicteam_team::balance::{Eligible, Number, Punt};
use nicteam_team::stripe::redundant::Classes;
use nicteam_team::stripe::{Path, Peer, Plain, Receiver, Sender};
use nicteam_team::{Action, Balance, Choose, Failover, MemberSet, Plan, PlanState, Receive, Rewrite, Stripe};
use nicteam_wire::{Frame, Mac};

use super::bench::Bench;
use super::{id, ids, plan};

/// Members at both ends.
pub const MEMBERS: usize = 4;
/// Our team.
pub const OWN: Mac = Mac([2, 0, 0, 0, 1, 1]);
/// The peer's.
pub const PEER: Mac = Mac([2, 0, 0, 0, 9, 0]);

/// The address of our member.
pub fn own(place: usize) -> Mac {
    if place == 0 { OWN } else { Mac([2, 0, 0, 0, 2, place as u8]) }
}

/// The address of the peer's.
pub fn theirs(place: usize) -> Mac {
    if place == 0 { PEER } else { Mac([2, 0, 0, 0, 8, place as u8]) }
}

/// Four members of these rates at both ends, a path from each to its like.
pub fn striping(rates_mbps: [u32; MEMBERS]) -> Plan {
    let places = 0..MEMBERS;
    let sender = |place| Sender { id: id(place), mac: own(place), rate_mbps: rates_mbps[place], lost_token: 0 };
    let receiver = |place| Receiver {
        mac: theirs(place),
        rate_mbps: rates_mbps[place],
        share_mbps: rates_mbps[place],
        lost_token: 0,
    };
    let path = |place| Path { sender: place, receiver: place, delay_us: 0 };
    let peer = Peer {
        team: PEER,
        system: 1,
        takes_rtags: true,
        keeps_flows: false,
        sharers: 1,
        receivers: places.clone().map(receiver).collect(),
        group_from: None,
        others: vec![Mac([2, 0, 0, 0, 8, 99])],
        paths: places.clone().map(path).collect(),
    };
    let other = Balance {
        eligible: Eligible::Alb,
        number: Number::Destination,
        table: ids(MEMBERS),
        active: id(0),
        counted: false,
        punt: Some(Punt { from: OWN, neighbours: true }),
    };
    let stripe = Stripe {
        team: OWN,
        senders: places.clone().map(sender).collect(),
        peers: vec![peer].into(),
        group: MemberSet::one(id(0)),
        redundant: Classes::default(),
        sack_delay: Duration::ZERO,
        plain: Plain::default(),
        other,
    };
    let mut plan = Plan { failover: Some(Failover::default()), ..plan(1, Choose::Stripe(stripe), MEMBERS) };
    for place in 1..MEMBERS {
        plan.members[place].receive = Receive::Own { own: own(place), team: OWN };
        plan.members[place].rewrite = Rewrite { src: Some(own(place)), dst: None };
    }
    plan
}

/// An IPv4 frame, with a number in it.
pub fn ipv4(dst: Mac, src: Mac, number: u16) -> Vec<u8> {
    let mut frame = [dst.0, src.0].concat();
    frame.extend_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, number as u8]);
    frame.extend_from_slice(&number.to_be_bytes());
    frame.resize(1000, 0);
    frame
}

/// A frame with other addresses.
pub fn with_macs(frame: &[u8], dst: Mac, src: Mac) -> Vec<u8> {
    [&dst.0, &src.0, &frame[12..]].concat()
}

/// By which members the plan, and the program, send so many frames of so many bytes.
pub fn choices(
    bench: &Bench,
    dataplane: &BpfDataplane,
    plan: &Plan,
    state: &mut PlanState,
    frames: u16,
    bytes: usize,
) -> [[i32; MEMBERS]; 2] {
    let [mut planned, mut done] = [[0; MEMBERS]; 2];
    for number in 0..frames {
        let frame = ipv4(PEER, OWN, number)[..bytes].to_vec();
        let action = plan.choose(&Frame::parse(&frame).unwrap(), state);
        let Action::Stripe { member, .. } = action else { panic!("{action:?}") };
        planned[member.index()] += 1;
        let run = bench.team.run(|| dataplane.dry_run_behind(&frame, 1).unwrap());
        let src = Frame::parse(&run.frame).unwrap().src();
        done[(0..MEMBERS).find(|&place| src == own(place)).unwrap()] += 1;
    }
    [planned, done]
}

/// The address of another peer's member; of the first, its team's, too.
pub fn theirs_of(number: u16, place: usize) -> Mac {
    let [high, low] = number.to_be_bytes();
    Mac([2, 1, high, low, 0, place as u8])
}

/// The plan with so many other peers, alike but for their addresses.
pub fn with_peers(mut plan: Plan, peers: u16) -> Plan {
    let Choose::Stripe(stripe) = &mut plan.choose else { unreachable!() };
    let peer = |number: u16| {
        let mut peer = Peer { team: theirs_of(number, 0), others: Vec::new(), ..stripe.peers[0].clone() };
        for (place, receiver) in peer.receivers.iter_mut().enumerate() {
            receiver.mac = theirs_of(number, place);
        }
        peer
    };
    stripe.peers = (0..peers).map(peer).collect::<Vec<_>>().into();
    plan
}
