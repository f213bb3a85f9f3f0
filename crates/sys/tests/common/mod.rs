//! What the live tests share: a pair of hosts with a link.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::os::fd::AsFd;

use nicteam_netlink::VethEnd;
use nicteam_testnet::Host;

/// Index of `eth0` in the first host of a [`cabled`] pair.
pub const A: u32 = 101;
/// Index of `eth0` in the second.
pub const B: u32 = 102;

/// Two hosts, `eth0` to `eth0`, both ends down; MTU-sized packets if `gso_max_segs` is 1.
pub fn cabled(gso_max_segs: Option<u32>) -> (Host, Host) {
    let (mut a, b) = (Host::new(), Host::new());
    let end = VethEnd { name: "eth0", index: Some(A), mac: None, netns: None, gso_max_segs };
    let far = VethEnd { index: Some(B), netns: Some(b.netns.as_fd()), ..end.clone() };
    a.netlink.add_veth(&end, &far, 1500).unwrap();
    (a, b)
}

/// Gives a [`cabled`] pair the addresses 10.0.0.1 and 10.0.0.2, both ends up.
pub fn address(a: &mut Host, b: &mut Host) {
    a.address("eth0", &[("10.0.0.1", 24)]);
    b.address("eth0", &[("10.0.0.2", 24)]);
}
