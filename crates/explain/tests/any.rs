//! Any facts can be explained, and told.

use nicteam_bundles::{Counters, Kind};
use nicteam_explain::Weight;
use proptest::prelude::*;

use crate::common::World;

/// Names of modes, and what is none.
const MODES: [&str; 10] = [
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-alb",
    "balance-tcp",
    "balance-slb",
    "stripe",
    "?",
];

fn counters() -> impl Strategy<Value = Counters> {
    let count = prop_oneof![Just(0_u64), 0..1000_u64, Just(u64::MAX)];
    proptest::collection::vec(count, 6).prop_map(|counts| Counters {
        rx_packets: counts[0],
        tx_packets: counts[1],
        rx_errors: counts[2],
        rx_drops: counts[3],
        tx_errors: counts[4],
        tx_drops: counts[5],
        ..Counters::default()
    })
}

proptest! {
    #[test]
    fn any_facts_are_explained(
        links in 0..4_usize,
        mode in proptest::sample::select(&MODES[..]),
        policy in proptest::sample::select(&["layer2", "layer3+4", "vlan+srcmac", "??"][..]),
        flows in proptest::collection::vec((1..5_u8, 1..5_u8, 0..4_usize, 0..4_usize), 0..20),
        bits in any::<[bool; 6]>(),
        counted in proptest::collection::vec((counters(), prop_oneof![Just(0.0), 0.0..2e9]), 4),
        speed in prop_oneof![Just(None), Just(Some(0)), Just(Some(1000)), Just(Some(u32::MAX))],
        speaks in any::<bool>(),
    ) {
        let mut world = if speaks { World::aggregate(links) } else { World::of(mode, links) };
        world.bundle.mode = mode.to_owned();
        world = world.policy(policy).flows(&flows);
        for (place, (counted, bps)) in counted.into_iter().enumerate() {
            world = world.carries(place, bps, bps);
            world.rates.devices.get_mut(&format!("eth{place}")).unwrap().counted = counted;
        }
        if links > 0 {
            let member = world.member(links - 1);
            [member.up, member.carrier, member.active, member.admin_up] = [bits[0], bits[1], bits[2], bits[3]];
            member.speed_mbps = speed;
        }
        if bits[4] {
            world.headers = None;
        }
        if bits[5] {
            world.bundle.kind = Kind::OpenVSwitch;
            world.bundle.mtu = None;
        }
        let explanation = world.explained();
        let is_wrong = explanation.findings.iter().any(|of| of.weight != Weight::Notice);
        prop_assert_eq!(explanation.is_good, !is_wrong);
        prop_assert!(explanation.findings.windows(2).all(|pair| pair[0].weight <= pair[1].weight));
    }
}
