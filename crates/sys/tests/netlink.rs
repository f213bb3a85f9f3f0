//! Devices and addresses, made and read in namespaces of the tests' own.

mod common;

use std::net::IpAddr;
use std::os::fd::AsFd;

use common::{Cable, link, netlink_in, skipped};
use nicteam_sys::netlink::{Change, Link, Monitor, VethEnd};
use nicteam_sys::netns::NetNs;

#[test]
fn a_veth_pair_has_what_was_asked_for_at_both_ends() {
    if skipped() {
        return;
    }
    let (home, far) = (NetNs::new().unwrap(), NetNs::new().unwrap());
    let (mac_a, mac_b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let a = VethEnd { name: "a-0", index: Some(41), mac: Some(mac_a), netns: None, gso_max_segs: Some(1) };
    let b = VethEnd { name: "eth0", index: Some(77), mac: Some(mac_b), netns: Some(far.as_fd()), gso_max_segs: None };
    let (mut netlink, mut far_netlink) = (netlink_in(&home), netlink_in(&far));
    netlink.add_veth(&a, &b, 9000).unwrap();

    let near = link(&mut netlink, "a-0");
    assert_eq!((near.index, near.mac, near.mtu, near.gso_max_segs), (41, mac_a, 9000, 1));
    assert_eq!((near.kind.as_str(), near.peer, near.master, near.up), ("veth", Some(77), None, false));
    let other = link(&mut far_netlink, "eth0");
    assert_eq!((other.index, other.mac, other.mtu, other.peer), (77, mac_b, 9000, Some(41)));
    assert!(other.gso_max_segs > 1);

    let error = netlink.add_veth(&a, &b, 9000).unwrap_err();
    assert_eq!(error.to_string(), "cannot make the veth pair a-0/eth0: File exists (os error 17)");
    netlink.delete(41).unwrap();
    assert_eq!(netlink.link("a-0").unwrap(), None);
    assert_eq!(far_netlink.link("eth0").unwrap(), None, "both ends go together");
}

#[test]
fn an_end_can_live_where_the_socket_is_not() {
    if skipped() {
        return;
    }
    let cable = Cable::new(Some(1));
    for (ns, index) in [(&cable.a, 101), (&cable.b, 102)] {
        let device = link(&mut netlink_in(ns), "eth0");
        assert_eq!((device.index, device.gso_max_segs), (index, 1));
    }
}

#[test]
fn settings_of_a_device_are_read_back() {
    if skipped() {
        return;
    }
    let cable = Cable::new(None);
    let mut netlink = netlink_in(&cable.a);
    netlink.set_mac(101, [2, 9, 9, 9, 9, 9]).unwrap();
    netlink.set_mtu(101, 1400).unwrap();
    netlink.set_gso_max(101, 20_000, 7).unwrap();
    netlink.set_up(101, true).unwrap();
    let device = link(&mut netlink, "eth0");
    assert_eq!((device.mac, device.mtu), ([2, 9, 9, 9, 9, 9], 1400));
    assert_eq!((device.gso_max_size, device.gso_max_segs), (20_000, 7));
    assert!(device.up && !device.carrier, "the other end is down");
    netlink_in(&cable.b).set_up(102, true).unwrap();
    assert!(link(&mut netlink, "eth0").carrier);
    netlink.set_up(101, false).unwrap();
    assert!(!link(&mut netlink, "eth0").up);
}

#[test]
fn refusals_name_the_operation_and_the_kernels_reason() {
    if skipped() {
        return;
    }
    let cable = Cable::new(None);
    let mut netlink = netlink_in(&cable.a);
    let error = netlink.set_mtu(101, 1).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EINVAL));
    assert!(error.to_string().starts_with("cannot set the MTU of device 101 to 1 (mtu less than"), "{error}");
    let error = netlink.delete(4711).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENODEV));
    // The socket is fit for use after a refusal.
    assert_eq!(netlink.links().unwrap().len(), 2);
}

#[test]
fn a_bridge_learns_and_speaks_no_protocol_of_its_own() {
    if skipped() {
        return;
    }
    let cable = Cable::new(None);
    let mut netlink = netlink_in(&cable.a);
    netlink.add_bridge("br0").unwrap();
    let bridge = link(&mut netlink, "br0");
    assert_eq!(bridge.kind, "bridge");
    netlink.set_master(101, Some(bridge.index)).unwrap();
    assert_eq!(link(&mut netlink, "eth0").master, Some(bridge.index));
    netlink.set_master(101, None).unwrap();
    assert_eq!(link(&mut netlink, "eth0").master, None);
    let read = |name: &str| {
        let path = format!("/sys/class/net/br0/bridge/{name}");
        cable.a.run(|| in_own_sysfs(|| std::fs::read_to_string(&path).map(|text| text.trim().to_owned()))).unwrap()
    };
    for (name, value) in [("stp_state", "0"), ("multicast_snooping", "0")] {
        assert_eq!(read(name).unwrap(), value, "{name}");
    }
}

#[test]
fn addresses_are_added_and_listed_by_device() {
    if skipped() {
        return;
    }
    let cable = Cable::new(None);
    let mut netlink = netlink_in(&cable.a);
    let (v4, v6): (IpAddr, IpAddr) = ("10.1.2.3".parse().unwrap(), "fd00::3".parse().unwrap());
    netlink.set_no_ipv6_address(101).unwrap();
    netlink_in(&cable.b).set_up(102, true).unwrap();
    netlink.set_up(101, true).unwrap();
    assert_eq!(netlink.addresses(101).unwrap(), [], "no link-local address by itself");
    netlink.add_address(101, v4, 24, false).unwrap();
    netlink.add_address(101, v6, 64, true).unwrap();
    assert_eq!(netlink.addresses(101).unwrap(), [(v4, 24), (v6, 64)]);
    assert!(netlink.addresses(1).unwrap().contains(&("127.0.0.1".parse().unwrap(), 8)));
    // Without duplicate address detection the address serves at once.
    assert!(cable.a.run(|| std::net::UdpSocket::bind((v6, 0)).is_ok()).unwrap());
    let error = netlink.add_address(101, v4, 24, false).unwrap_err();
    assert!(error.to_string().starts_with("cannot add 10.1.2.3/24 to device 101"), "{error}");
    assert_eq!(error.errno(), Some(libc::EEXIST));
}

#[test]
fn dumps_of_many_parts_are_whole() {
    if skipped() {
        return;
    }
    let ns = NetNs::new().unwrap();
    let mut netlink = netlink_in(&ns);
    for number in 0..40 {
        netlink.add_bridge(&format!("br{number}")).unwrap();
    }
    let links = netlink.links().unwrap();
    assert_eq!(links.iter().filter(|link| link.kind == "bridge").count(), 40);
}

#[test]
fn a_monitor_tells_of_links_and_addresses() {
    if skipped() {
        return;
    }
    let cable = Cable::new(None);
    let mut netlink = netlink_in(&cable.a);
    let mut monitor = cable.a.run(Monitor::open).unwrap().unwrap();
    assert_eq!(monitor.changes().unwrap(), []);

    netlink.set_mtu(101, 1300).unwrap();
    let is_seen = |change: &Change| matches!(change, Change::Link(Link { index: 101, mtu: 1300, .. }));
    assert!(monitor.changes().unwrap().iter().any(is_seen));
    netlink.add_address(101, "10.0.0.1".parse().unwrap(), 24, false).unwrap();
    assert!(monitor.changes().unwrap().contains(&Change::Addresses(101)));

    // A port that leaves its bridge is not a device that is gone.
    netlink.add_bridge("br0").unwrap();
    let bridge = link(&mut netlink, "br0").index;
    netlink.set_master(101, Some(bridge)).unwrap();
    netlink.set_master(101, None).unwrap();
    let changes = monitor.changes().unwrap();
    assert!(!changes.contains(&Change::LinkGone(101)), "{changes:?}");
    let master = |change: &Change| matches!(change, Change::Link(l) if l.index == 101 && l.master == Some(bridge));
    assert!(changes.iter().any(master), "{changes:?}");

    netlink.delete(101).unwrap();
    assert!(monitor.changes().unwrap().contains(&Change::LinkGone(101)));
}

#[test]
fn a_monitor_that_overflows_says_so_and_goes_on() {
    if skipped() {
        return;
    }
    let ns = NetNs::new().unwrap();
    let mut netlink = netlink_in(&ns);
    netlink.add_bridge("br0").unwrap();
    let index = link(&mut netlink, "br0").index;
    let mut monitor = ns.run(Monitor::open).unwrap().unwrap();
    // More than the socket holds; each change is over a kilobyte there.
    for round in 0..4000 {
        netlink.set_mtu(index, 1300 + round % 2).unwrap();
    }
    assert!(monitor.changes().unwrap().contains(&Change::Lost));
    netlink.set_mtu(index, 1234).unwrap();
    let is_seen = |change: &Change| matches!(change, Change::Link(Link { mtu: 1234, .. }));
    assert!(monitor.changes().unwrap().iter().any(is_seen));
}

/// Runs `f` on this thread with a sysfs that shows this thread's network namespace.
fn in_own_sysfs<R>(f: impl FnOnce() -> std::io::Result<R>) -> std::io::Result<R> {
    use nix::mount::{MsFlags, mount};
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), None::<&str>)?;
    f()
}
