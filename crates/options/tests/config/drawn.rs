//! Drawn configurations: what is printed is taken back, and no text is a panic.

use std::collections::BTreeMap;

use nicteam_lacp::{AdSelect, LacpRate};
use nicteam_options::{
    ArpAllTargets, ArpMonitoring, ArpValidate, BondOptions, Config, DetectMode, FailOverMac, HashPolicy, LacpMode,
    LacpOptions, MAX_QUEUE_ID, Mode, PrimaryReselect, StripePlain,
};
use nicteam_options::{Classes, Transport};
use nicteam_wire::Mac;
use proptest::prelude::*;

use super::with;

proptest! {
    #[test]
    fn what_is_printed_is_taken_back(config in any_config()) {
        let mut copy = Config::default();
        for (name, value) in config.options() {
            copy.set(name, &value).unwrap();
        }
        prop_assert_eq!(copy, config);
    }

    #[test]
    fn no_text_panics(name in ".{0,40}", value in ".{0,40}", place in 0..Config::OPTIONS.len()) {
        let mut config = Config::default();
        for name in [&name, Config::OPTIONS[place].name] {
            if let Err(error) = config.set(name, &value) {
                prop_assert!(!error.to_string().is_empty());
                let _ = error.hint();
            }
        }
        let _ = config.check();
    }
}

fn any_arp() -> impl Strategy<Value = ArpMonitoring> {
    let interval_ms = prop_oneof![Just(0), 0..=i32::MAX as u32];
    let ip = prop::collection::btree_set(1..=223_u8, 0..=16)
        .prop_map(|bytes| bytes.into_iter().map(|byte| [byte, 0, 0, 1].into()).collect());
    let ip6 = prop::collection::btree_set(1..=999_u16, 0..=16)
        .prop_map(|words| words.into_iter().map(|word| [0xfe80, 0, 0, 0, 0, 0, 0, word].into()).collect());
    let choices = (prop::sample::select(&ArpValidate::ALL[..]), prop::sample::select(&ArpAllTargets::ALL[..]));
    (interval_ms, ip, ip6, choices, 1..=255_u32).prop_map(
        |(interval_ms, ip_targets, ip6_targets, choices, missed_max)| ArpMonitoring {
            interval_ms,
            ip_targets,
            ip6_targets,
            validate: choices.0,
            all_targets: choices.1,
            missed_max,
        },
    )
}

/// Rates for the same devices.
fn queue_rates(queues: &BTreeMap<String, u16>) -> BTreeMap<String, u32> {
    queues.iter().map(|(device, queue)| (device.clone(), u32::from(*queue))).collect()
}

/// Classes of these numbers.
fn any_classes(number: u32, ports: impl Iterator<Item = u16>) -> Classes {
    let all = number.is_multiple_of(7);
    let dscp = (0..number % 5).map(|n| ((number + 11 * n) % 64) as u8);
    let transport = |port: u16| if port.is_multiple_of(2) { Transport::Tcp } else { Transport::Udp };
    match all {
        true => Classes { all, ..Classes::default() },
        false => Classes { all, dscp: dscp.collect(), ports: ports.map(|port| (transport(port), port)).collect() },
    }
}

fn any_config() -> impl Strategy<Value = Config> {
    let choices = (
        prop::sample::select(&Mode::ALL[..]),
        prop::sample::select(&HashPolicy::ALL[..]),
        prop::sample::select(&PrimaryReselect::ALL[..]),
        prop::option::of("[a-z][a-z0-9.-]{0,14}"),
    );
    let times = (0..=i32::MAX as u32, 0..=i32::MAX as u32, 0..=i32::MAX as u32, 0..=300_000_u32);
    let counts = (0..=65_535_u32, 0..=i32::MAX as u32, 0..=255_u32, 1..=i32::MAX as u32, any::<bool>(), any::<bool>());
    let prio = prop::collection::btree_map("[a-z][a-z0-9.-]{0,14}", prop_oneof![..=-1_i32, 1_i32..], 0..4);
    let queue = prop::collection::btree_map("[a-z][a-z0-9.-]{0,14}", 1..=MAX_QUEUE_ID, 0..4);
    let key = prop::option::of("[!-eg-~][!-~]{15,63}");
    let failover = (prop::sample::select(&FailOverMac::ALL[..]), any::<bool>(), 0..=255_u32, prio, queue, key);
    (choices, times, counts, any_arp(), failover, any_lacp(), any_bond()).prop_map(
        |(choices, times, counts, arp, failover, lacp, bond)| Config {
            mode: choices.0,
            xmit_hash_policy: choices.1,
            hash_buckets: times.0 % 257,
            primary_reselect: choices.2,
            primary: choices.3,
            miimon_ms: if arp.is_on() { 0 } else { times.0 },
            updelay_ms: times.1,
            downdelay_ms: times.2,
            peer_notif_delay_ms: times.3,
            packets_per_slave: counts.0,
            min_links: counts.1,
            num_grat_arp: counts.2,
            arp,
            fail_over_mac: failover.0,
            all_slaves_active: failover.1,
            carrier_failover: counts.4,
            resend_igmp: failover.2,
            prio: failover.3,
            active_slave: None,
            stripe_rate_mbps: queue_rates(&failover.4),
            redundant: any_classes(counts.0, failover.4.values().copied()),
            stripe_key: with(&[("stripe_key", failover.5.as_deref().unwrap_or_default())]).stripe_key,
            stripe_key_old: with(&[("stripe_key_old", failover.5.as_deref().unwrap_or_default())]).stripe_key_old,
            queue_id: failover.4,
            stripe_interval_ms: 1 + times.1 % 1000,
            sack_delay_ms: times.2 % 101,
            stripe_plain: StripePlain::ALL[times.2 as usize % 3],
            tcp_min_rtt_wlen_s: (times.1 % 3 > 0).then_some(times.1 % 86_401),
            lp_interval_s: counts.3,
            tlb_dynamic_lb: counts.4,
            rlb_ipv6: counts.5,
            lacp,
            bond,
        },
    )
}

fn any_bond() -> impl Strategy<Value = BondOptions> {
    let choices = (prop::sample::select(&LacpMode::ALL[..]), prop::sample::select(&DetectMode::ALL[..]));
    let numbers = (0..=i32::MAX as u32, 0..=i32::MAX as u32);
    (choices, numbers, any::<bool>()).prop_map(|(choices, numbers, lacp_fallback_ab)| BondOptions {
        lacp: choices.0,
        detect_mode: choices.1,
        hash_basis: numbers.0,
        rebalance_interval_ms: numbers.1,
        lacp_fallback_ab,
    })
}

fn any_lacp() -> impl Strategy<Value = LacpOptions> {
    let choices = (
        prop::sample::select(vec![LacpRate::Slow, LacpRate::Fast]),
        prop::sample::select(&AdSelect::ALL[..]),
        prop::option::of(any::<[u8; 5]>().prop_map(|rest| Mac([2, rest[0], rest[1], rest[2], rest[3], rest[4]]))),
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let prios = prop::collection::btree_map("[a-z][a-z0-9.-]{0,14}", 0..255_u16, 0..4);
    let ms = || 0..=i32::MAX as u32;
    // The default of no mode.
    let numbers = (1..u16::MAX - 1, 0..=1023_u16, prios, ms(), ms(), ms());
    (choices, switches, numbers).prop_map(|(choices, switches, numbers)| LacpOptions {
        rate: choices.0,
        select: choices.1,
        actor_system: choices.2,
        active: switches.0,
        coupled_control: switches.1,
        strict: switches.2,
        broadcast_neighbor: switches.3,
        actor_sys_prio: Some(numbers.0),
        user_port_key: numbers.1,
        actor_port_prio: numbers.2,
        aggregate_wait_ms: numbers.3,
        wait_to_restore_ms: numbers.4,
        lease_ms: numbers.5,
    })
}
