//! Carrier and speed as the driver tells them.

use crate::common::{A, B, cabled};
use nicteam_sys::ethtool::Ethtool;
use nicteam_testnet::may_make_networks;

#[test]
fn carrier_follows_both_ends_at_once() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    let ethtool = a.netns.run(Ethtool::open).unwrap().unwrap();
    assert!(!ethtool.carrier("eth0").unwrap(), "both ends are down");
    a.netlink.set_up(A, true).unwrap();
    for up in [true, false, true] {
        b.netlink.set_up(B, up).unwrap();
        assert_eq!(ethtool.carrier("eth0").unwrap(), up);
    }
}

#[test]
fn veth_says_ten_gigabit_and_loopback_says_nothing() {
    if !may_make_networks() {
        return;
    }
    let (a, _b) = cabled(None);
    let ethtool = a.netns.run(Ethtool::open).unwrap().unwrap();
    let veth = ethtool.settings("eth0").unwrap();
    assert_eq!((veth.speed_mbps, veth.full_duplex), (Some(10_000), Some(true)));
    assert_eq!(ethtool.settings("lo").unwrap(), Default::default());
}

#[test]
fn a_device_that_finishes_its_frames_leaves_nothing_to_the_other_end() {
    if !may_make_networks() {
        return;
    }
    let (a, _b) = cabled(None);
    let ethtool = a.netns.run(Ethtool::open).unwrap().unwrap();
    let leaves = |name: &str| name.starts_with("tx-");
    let before = ethtool.offloads("eth0").unwrap();
    for name in ["tx-checksum-ip-generic", "tx-tcp-segmentation"] {
        assert!(before.iter().any(|found| found == name), "{before:?}");
    }
    ethtool.finish_frames("eth0").unwrap();
    let after = ethtool.offloads("eth0").unwrap();
    assert!(!after.iter().any(|name| leaves(name)), "{after:?}");
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let ethtool = Ethtool::open().unwrap();
    for name in ["nicteam-none", "a-name-far-too-long-for-a-device"] {
        let error = ethtool.carrier(name).unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENODEV));
        assert!(error.to_string().starts_with(&format!("cannot ask for the carrier of {name}: ")), "{error}");
        assert_eq!(ethtool.settings(name).unwrap_err().errno(), Some(libc::ENODEV));
    }
}
