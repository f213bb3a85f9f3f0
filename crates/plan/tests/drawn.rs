//! Links used with random addresses, against every case of small ones.

use std::net::IpAddr;

use nicteam_options::HashPolicy;
use nicteam_options::HashPolicy::{Layer34, SrcDstMac, SrcIp, SrcMac};
use nicteam_plan::hash::drawn::{Drawn, Flow, Host, Links, links_used, used};
use nicteam_wire::Mac;

const TCP: u8 = 6;

fn host(address: &str, prefix: u8) -> Host {
    Host { address: address.parse().unwrap(), prefix }
}

/// One flow from each of so many hosts to the last one.
fn to_the_last(senders: usize) -> Vec<Flow> {
    (0..senders)
        .map(|from| Flow {
            from,
            to: senders,
            macs: [from, senders],
            ports: [40_000 + from as u16, 5001],
            protocol: TCP,
            vlan: None,
        })
        .collect()
}

fn links(policy: HashPolicy, buckets: u32, count: usize) -> Links {
    Links { policy, buckets, count }
}

/// The same number of cases for each value of the senders' last bytes.
fn every_case(links: Links, senders: usize, values: u8) -> Drawn {
    let flows = to_the_last(senders);
    let mut cases = vec![0; links.count];
    for case in 0..usize::from(values).pow(senders as u32) {
        let value = |sender: usize| (case / usize::from(values).pow(sender as u32) % usize::from(values)) as u8;
        let address = |last: u8| (Mac([2, 0, 0, 0, 0, last]), IpAddr::from([10, 0, 0, last]));
        let hosts: Vec<_> = (0..senders).map(value).chain([0xa5]).map(address).collect();
        cases[used(links, &hosts, &flows) - 1] += 1;
    }
    Drawn { cases }
}

/// Drawn from many seeds, the shares are those of all cases, within five standard deviations.
#[track_caller]
fn agrees(drawn: &Drawn, all: &Drawn) {
    let seeds = f64::from(drawn.seeds());
    for number in 1..=all.cases.len() {
        let exact = all.share(number);
        let deviation = (exact * (1.0 - exact) / seeds).sqrt();
        let found = drawn.share(number);
        assert!((found - exact).abs() <= 5.0 * deviation, "{number} links: {found} of {seeds}, exactly {exact}");
    }
}

#[test]
fn four_senders_fill_four_links_in_nine_per_cent_of_the_cases() {
    let links = links(SrcDstMac, 0, 4);
    let all = every_case(links, 4, 4);
    // 4, 84, 144 and 24 of 256: as many as there are ways to put four things into four places.
    assert_eq!(all.cases, [4, 84, 144, 24]);
    assert!((all.mean() - 4.0 * (1.0 - 0.75_f64.powi(4))).abs() < 1e-9, "{}", all.mean());
    let hosts = [host("10.0.0.1", 24); 5];
    for seeds in [200, 20_000] {
        let drawn = links_used(links, &hosts, &to_the_last(4), seeds);
        assert_eq!(drawn.seeds(), seeds);
        agrees(&drawn, &all);
    }
    let once = links_used(links, &hosts, &to_the_last(4), 200);
    assert_eq!(once, links_used(links, &hosts, &to_the_last(4), 200), "the same seeds draw the same");
}

#[test]
fn eight_values_over_three_links_are_uneven() {
    let links = links(SrcMac, 8, 3);
    let all = every_case(links, 2, 8);
    assert_eq!(all.cases, [9 + 9 + 4, 64 - 22, 0]);
    agrees(&links_used(links, &[host("10.0.0.1", 24); 3], &to_the_last(2), 20_000), &all);
}

#[test]
fn one_pair_of_hosts_uses_one_link_unless_ports_are_hashed() {
    let flows: Vec<Flow> = (0..64)
        .map(|n| Flow { from: 0, to: 1, macs: [0, 1], ports: [40_000 + n, 5001], protocol: TCP, vlan: None })
        .collect();
    let hosts = [host("fd00::1", 64), host("fd00::2", 64)];
    assert_eq!(links_used(links(SrcDstMac, 0, 4), &hosts, &flows, 50).cases, [50, 0, 0, 0]);
    assert_eq!(links_used(links(Layer34, 0, 4), &hosts, &flows, 50).cases[3], 50);
}

#[test]
fn addresses_are_drawn_within_the_subnet_and_each_once() {
    // Two hosts in a subnet of two have both addresses, in either order; a host of its own keeps its address.
    let pair = [host("10.0.0.1", 30), host("10.0.0.2", 30), host("192.0.2.4", 32)];
    let links = links(SrcIp, 0, 2);
    assert_eq!(links_used(links, &pair, &to_the_last(2), 100).cases, [0, 100]);
    let kept = [host("192.0.2.3", 32), host("192.0.2.5", 32), host("10.0.0.1", 24)];
    assert_eq!(links_used(links, &kept, &to_the_last(2), 100).cases, [100, 0]);
}

#[test]
fn what_cannot_be_is_left_out() {
    let links = links(SrcMac, 0, 2);
    let stranger = Flow { from: 0, to: 9, macs: [0, 9], ports: [1, 1], protocol: TCP, vlan: None };
    let drawn = links_used(links, &[host("10.0.0.1", 24)], &[stranger], 10);
    assert_eq!((drawn.seeds(), drawn.mean(), drawn.share(0), drawn.share(3)), (0, 0.0, 0.0, 0.0));
    let unlike = [host("10.0.0.1", 24), host("fd00::1", 64)];
    assert_eq!(links_used(links, &unlike, &to_the_last(1), 10).seeds(), 0);
    assert!(links_used(Links { count: 0, ..links }, &unlike[..1], &[], 10).cases.is_empty());
}

#[test]
fn one_address_in_several_vlans_is_several_flows() {
    let hosts = [("10.0.0.1", 1), ("10.0.0.2", 2)].map(|(ip, last)| (Mac([2, 0, 0, 0, 0, last]), ip.parse().unwrap()));
    let flows = |vlans: [Option<u16>; 4]| {
        vlans.map(|vlan| Flow { from: 0, to: 1, macs: [0, 1], ports: [1, 2], protocol: TCP, vlan })
    };
    let links = links(HashPolicy::VlanSrcMac, 0, 4);
    assert_eq!(used(links, &hosts, &flows([None; 4])), 1);
    assert_eq!(used(links, &hosts, &flows([None, Some(1), Some(2), Some(3)])), 4);
}
