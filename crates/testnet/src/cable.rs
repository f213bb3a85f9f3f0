//! Cables between hosts.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

use nicteam_netlink::VethEnd;

use crate::Host;

/// Joins two hosts by a cable.
#[track_caller]
pub fn cable(a: &mut Host, a_name: &str, b: &mut Host, b_name: &str) {
    let [near, far] = loose_cable(a, a_name, b, b_name, None);
    a.netlink.set_up(near, true).unwrap();
    b.netlink.set_up(far, true).unwrap();
}

/// Joins two hosts by so many: `eth0` to `eth0`, `eth1` to `eth1`, ...
#[track_caller]
pub fn cables(a: &mut Host, b: &mut Host, count: usize) {
    for device in (0..count).map(|n| format!("eth{n}")) {
        cable(a, &device, b, &device);
    }
}

/// A cable with both ends down, and with at most so many packets in a GSO frame; the indexes of its ends.
#[track_caller]
pub fn loose_cable(a: &mut Host, a_name: &str, b: &mut Host, b_name: &str, gso_max_segs: Option<u32>) -> [u32; 2] {
    let indexes = next_indexes();
    let end = VethEnd { name: a_name, index: Some(indexes[0]), mac: None, netns: None, gso_max_segs };
    let far = VethEnd { name: b_name, index: Some(indexes[1]), netns: Some(b.netns.as_fd()), ..end.clone() };
    a.netlink.add_veth(&end, &far, 1500).unwrap();
    indexes
}

/// Joins two devices of one host by a cable, as if both its ends were plugged into the same one.
#[track_caller]
pub fn looped_cable(host: &mut Host, one: &str, other: &str) {
    let indexes = next_indexes();
    let end = VethEnd { name: one, index: Some(indexes[0]), mac: None, netns: None, gso_max_segs: None };
    let far = VethEnd { name: other, index: Some(indexes[1]), ..end.clone() };
    host.netlink.add_veth(&end, &far, 1500).unwrap();
    indexes.into_iter().for_each(|index| host.netlink.set_up(index, true).unwrap());
}

/// On one machine every end needs an index of its own, or carrier loss is seen late.
fn next_indexes() -> [u32; 2] {
    static NEXT: AtomicU32 = AtomicU32::new(1000);
    let first = NEXT.fetch_add(2, Ordering::Relaxed);
    [first, first + 1]
}
