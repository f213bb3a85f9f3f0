//! LACP that finds no partner: `lacp-fallback-ab`.

use super::net::{Net, Options, STRANGER, frame, gratuitous, ms, segment, source};
use nicteam_team::openvswitch::Negotiation;
use nicteam_wire::Mac;

const LACP: Options<'_> = &[("lacp", "active"), ("lacp-time", "fast")];
const FALLBACK: Options<'_> = &[("lacp-fallback-ab", "true")];
const MODES: [&str; 3] = ["ovs-active-backup", "ovs-balance-slb", "ovs-balance-tcp"];

fn options<'a>(mode: &'a str, more: Options<'a>) -> Vec<(&'a str, &'a str)> {
    [&[("mode", mode)], LACP, more].concat()
}

/// By which members many sources and connections leave.
fn used(net: &mut Net) -> Vec<usize> {
    let mut used: Vec<usize> =
        (0..=255).filter_map(|number| net.send(&segment(source(number), number.into()))).collect();
    used.sort_unstable();
    used.dedup();
    used
}

#[test]
fn without_it_nothing_passes() {
    for mode in MODES {
        let mut net = Net::new(&options(mode, &[]), 2);
        net.run(ms(20_000));
        assert_eq!(net.negotiation(), Negotiation::Configured, "{mode}");
        assert!(used(&mut net).is_empty(), "{mode}");
        assert!((0..2).all(|member| !net.takes(member, &frame(STRANGER, source(1)))), "{mode}");
    }
}

/// A partner that does not speak, one that begins to, and one that falls silent.
#[test]
fn one_member_serves_until_a_partner_speaks() {
    for mode in &MODES[1..] {
        let mut net = Net::new(&options(mode, FALLBACK), 2);
        net.run(ms(20_000));
        assert_eq!((net.negotiation(), net.enabled()), (Negotiation::Configured, vec![0, 1]), "{mode}");
        let active = net.active().unwrap();
        assert_eq!(used(&mut net), [active], "{mode}: as active-backup");
        for member in 0..2 {
            assert_eq!(net.takes(member, &frame(STRANGER, Mac::BROADCAST)), member == active, "{mode}");
            // balance-slb knows by its sources what must not be taken twice.
            let takes = member == active || *mode == "ovs-balance-slb";
            assert_eq!(net.takes(member, &frame(STRANGER, source(1))), takes, "{mode}");
        }
        // As active-backup it fails over, and teaches the switch.
        net.taught();
        net.cable(active, false);
        let other = 1 - active;
        assert_eq!((net.active(), used(&mut net)), (Some(other), vec![other]), "{mode}");
        assert_eq!(net.taught().len(), 256, "{mode}");
        net.cable(active, true);
        // Now both links carry, by buckets.
        net.start_partner(&options(mode, FALLBACK), 2);
        net.run(ms(5_000));
        assert_eq!((net.negotiation(), net.enabled()), (Negotiation::Negotiated, vec![0, 1]), "{mode}");
        assert_eq!(used(&mut net), [0, 1], "{mode}");
        assert!((0..2).all(|member| net.takes(member, &frame(STRANGER, source(1)))), "{mode}");
        // The partner's LACP ends; its links stay.
        (0..2).for_each(|member| net.block(member, true));
        net.run(ms(20_000));
        assert_eq!(net.negotiation(), Negotiation::Configured, "{mode}");
        let active = net.active().unwrap();
        assert_eq!(used(&mut net), [active], "{mode}: active-backup again");
    }
}

#[test]
fn groups_are_heard_by_the_active_member_alone() {
    let mut net = Net::new(&options("ovs-balance-tcp", FALLBACK), 2);
    net.run(ms(20_000));
    let active = net.active().unwrap();
    for bytes in [frame(STRANGER, Mac::BROADCAST), gratuitous(STRANGER)] {
        assert!(net.takes(active, &bytes));
        assert!(!net.takes(1 - active, &bytes));
    }
}
