//! ofproto-dpif.at: rebalancing after link state changes; another interval.

use super::net::{Net, Options, STRANGER, frame, ms, segment, source};
use nicteam_team::hash::slb;
use nicteam_wire::Mac;

const SLB: Options<'_> = &[("mode", "ovs-balance-slb")];
const TCP: Options<'_> =
    &[("mode", "ovs-balance-tcp"), ("lacp", "active"), ("lacp-time", "fast"), ("bond-rebalance-interval", "1000")];

/// 256 connections, 65,500 bytes each.
fn load(net: &mut Net) {
    for port in 0..256 {
        let mut bytes = segment(source(5), port);
        bytes.resize(65_500, 0);
        bytes[16..18].copy_from_slice(&(65_500u16 - 14).to_be_bytes());
        net.send(&bytes).unwrap();
    }
}

/// Buckets that carried something, by member.
fn loaded(net: &Net) -> Vec<usize> {
    net.bond().members.iter().map(|member| member.buckets.len()).collect()
}

/// Big sources that all are the first member's.
fn unbalanced(options: Options<'_>) -> (Net, Vec<Mac>) {
    let mut net = Net::new(&[SLB, options].concat(), 2);
    let sources: Vec<Mac> = (0..8).map(source).collect();
    let first = nicteam_team::MemberId::new(0).unwrap();
    for source in &sources {
        net.change(|team, now| team.migrate(slb::bucket(*source, 0, 0), first, now)).unwrap();
    }
    (net, sources)
}

/// A megabyte of each source; by which members they left.
fn send(net: &mut Net, sources: &[Mac]) -> Vec<usize> {
    let one = |source: &Mac| {
        let mut bytes = frame(*source, STRANGER);
        bytes.resize(1_000_000, 0);
        net.send(&bytes).unwrap()
    };
    sources.iter().map(one).collect()
}

#[test]
fn buckets_return_after_link_state_changes() {
    let mut net = Net::pair(TCP, 2);
    load(&mut net);
    net.run(ms(1_100));
    assert!(loaded(&net)[1] > 0, "the second carries some: {:?}", loaded(&net));
    net.cable(1, false);
    net.run(ms(200));
    assert_eq!(loaded(&net)[1], 0, "all are the first one's");
    assert!((0..256).all(|port| net.send(&segment(source(5), port)) == Some(0)));
    net.cable(1, true);
    net.run(ms(3_000));
    assert_eq!(net.enabled(), [0, 1]);
    load(&mut net);
    net.run(ms(1_100));
    assert!(loaded(&net)[1] > 0, "some were shifted to the second: {:?}", loaded(&net));
}

#[test]
fn load_goes_to_the_member_that_has_less_each_ten_seconds() {
    let (mut net, sources) = unbalanced(&[]);
    assert_eq!(send(&mut net, &sources), [0; 8]);
    net.run(ms(9_000));
    assert_eq!(send(&mut net, &sources), [0; 8]);
    net.run(ms(1_000));
    let after = send(&mut net, &sources);
    assert_eq!(after.iter().filter(|by| **by == 1).count(), 4, "{after:?}");
    // Balanced: nothing moves any more.
    net.run(ms(10_000));
    assert_eq!(send(&mut net, &sources), after);
}

/// `bond-rebalance-interval`: the new one counts at once; less than a second is a second, and 0 none.
#[test]
fn another_interval() {
    for (interval, ms_to_next) in [("2000", Some(2_000)), ("1", Some(1_000)), ("0", None)] {
        let (mut net, sources) = unbalanced(&[]);
        net.run(ms(500));
        send(&mut net, &sources);
        net.set(&[("bond-rebalance-interval", interval)]);
        assert_eq!(net.bond().next_rebalance, ms_to_next.map(ms), "{interval}");
        assert_eq!(send(&mut net, &sources), [0; 8], "{interval}: another interval moves nothing");
        net.run(ms(ms_to_next.unwrap_or(100_000)));
        let moved = send(&mut net, &sources).iter().filter(|by| **by == 1).count();
        assert_eq!(moved, if ms_to_next.is_some() { 4 } else { 0 }, "{interval}");
    }
}

/// The members' loads halve with each run, so a source that was big once is not for ever.
#[test]
fn what_is_long_gone_counts_little() {
    let (mut net, sources) = unbalanced(&[("bond-rebalance-interval", "1000")]);
    send(&mut net, &sources[..1]);
    net.run(ms(1_000));
    let kilobytes = |net: &Net| net.bond().members[0].buckets.iter().map(|(_, bytes)| bytes / 1000).sum::<u64>();
    assert_eq!(kilobytes(&net), 500);
    net.run(ms(1_000));
    assert_eq!(kilobytes(&net), 250);
    net.run(ms(20_000));
    assert_eq!(kilobytes(&net), 0);
}
