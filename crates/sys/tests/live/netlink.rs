//! Devices and addresses, made and read in namespaces of the tests' own.

use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsFd;

use crate::common::{A, B, cabled};
use nicteam_netlink::{Change, Learned, Link, Monitor, VethEnd};
use nicteam_sys::packet::Batch;
use nicteam_testnet::{Host, Switch, eventually, may_make_networks, settle};

#[test]
fn a_veth_pair_has_what_was_asked_for_at_both_ends() {
    if !may_make_networks() {
        return;
    }
    let (mut home, mut far) = (Host::new(), Host::new());
    let (mac_a, mac_b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let a = VethEnd { name: "a-0", index: Some(41), mac: Some(mac_a), netns: None, gso_max_segs: Some(1) };
    let b =
        VethEnd { name: "eth0", index: Some(77), mac: Some(mac_b), netns: Some(far.netns.as_fd()), gso_max_segs: None };
    home.netlink.add_veth(&a, &b, 9000).unwrap();

    let near = home.link("a-0");
    assert_eq!((near.index, near.mac, near.mtu, near.gso_max_segs), (41, mac_a, 9000, 1));
    assert_eq!((near.kind.as_str(), near.peer, near.master, near.up), ("veth", Some(77), None, false));
    let other = far.netlink.link("eth0").unwrap().unwrap();
    assert_eq!((other.index, other.mac, other.mtu, other.peer), (77, mac_b, 9000, Some(41)));
    assert!(other.gso_max_segs > 1);

    let error = home.netlink.add_veth(&a, &b, 9000).unwrap_err();
    assert_eq!(error.to_string(), "cannot make the veth pair a-0/eth0: File exists (os error 17)");
    home.netlink.delete(41).unwrap();
    assert_eq!(home.netlink.link("a-0").unwrap(), None);
    assert_eq!(far.netlink.link("eth0").unwrap(), None, "both ends go together");
}

#[test]
fn a_device_runs_while_both_ends_are_up() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    a.set_up("eth0", true);
    assert!(!a.link("eth0").running);
    b.set_up("eth0", true);
    eventually("the kernel sends by it", || a.link("eth0").running);
    b.set_up("eth0", false);
    eventually("the kernel sends no more by it", || !a.link("eth0").running);
}

#[test]
fn an_end_can_live_where_the_socket_is_not() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(Some(1));
    for (host, index) in [(&mut a, A), (&mut b, B)] {
        let device = host.link("eth0");
        assert_eq!((device.index, device.gso_max_segs), (index, 1));
    }
}

#[test]
fn settings_of_a_device_are_read_back() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    a.netlink.set_mac(A, [2, 9, 9, 9, 9, 9]).unwrap();
    a.netlink.set_mtu(A, 1400).unwrap();
    a.netlink.set_gso_max(A, 20_000, 7).unwrap();
    a.netlink.set_up(A, true).unwrap();
    let device = a.link("eth0");
    assert_eq!((device.mac, device.mtu), ([2, 9, 9, 9, 9, 9], 1400));
    assert_eq!((device.gso_max_size, device.gso_max_segs), (20_000, 7));
    assert!(device.up && !device.carrier, "the other end is down");
    b.netlink.set_up(B, true).unwrap();
    assert!(a.link("eth0").carrier);
    a.netlink.set_up(A, false).unwrap();
    assert!(!a.link("eth0").up);
}

#[test]
fn refusals_name_the_operation_and_the_kernels_reason() {
    if !may_make_networks() {
        return;
    }
    let (mut a, _b) = cabled(None);
    let error = a.netlink.set_mtu(A, 1).unwrap_err();
    assert_eq!(error.errno(), Some(libc::EINVAL));
    assert!(error.to_string().starts_with("cannot set the MTU of device 101 to 1 (mtu less than"), "{error}");
    let error = a.netlink.delete(4711).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENODEV));
    // The socket is fit for use after a refusal.
    assert_eq!(a.netlink.links().unwrap().len(), 2);
}

#[test]
fn a_bridge_learns_and_speaks_no_protocol_of_its_own() {
    if !may_make_networks() {
        return;
    }
    let (mut a, _b) = cabled(None);
    a.netlink.add_bridge("br0").unwrap();
    let bridge = a.link("br0");
    assert_eq!(bridge.kind, "bridge");
    a.netlink.set_master(A, Some(bridge.index)).unwrap();
    assert_eq!(a.link("eth0").master, Some(bridge.index));
    a.netlink.set_master(A, None).unwrap();
    assert_eq!(a.link("eth0").master, None);
    let read = |name: &str| {
        let path = format!("/sys/class/net/br0/bridge/{name}");
        a.netns.run(|| in_own_sysfs(|| std::fs::read_to_string(&path).map(|text| text.trim().to_owned()))).unwrap()
    };
    for (name, value) in [("stp_state", "0"), ("multicast_snooping", "0")] {
        assert_eq!(read(name).unwrap(), value, "{name}");
    }
}

#[test]
fn addresses_are_added_and_listed_by_device() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    let (v4, v6): (IpAddr, IpAddr) = ("10.1.2.3".parse().unwrap(), "fd00::3".parse().unwrap());
    a.netlink.set_no_ipv6_address(A).unwrap();
    b.netlink.set_up(B, true).unwrap();
    a.netlink.set_up(A, true).unwrap();
    assert_eq!(a.netlink.addresses(A).unwrap(), [], "no link-local address by itself");
    a.netlink.add_address(A, v4, 24, false).unwrap();
    a.netlink.add_address(A, v6, 64, true).unwrap();
    assert_eq!(a.netlink.addresses(A).unwrap(), [(v4, 24), (v6, 64)]);
    assert!(a.netlink.addresses(1).unwrap().contains(&("127.0.0.1".parse().unwrap(), 8)));
    // Without duplicate address detection the address serves at once.
    assert!(a.netns.run(|| std::net::UdpSocket::bind((v6, 0)).is_ok()).unwrap());
    let error = a.netlink.add_address(A, v4, 24, false).unwrap_err();
    assert!(error.to_string().starts_with("cannot add 10.1.2.3/24 to device 101"), "{error}");
    assert_eq!(error.errno(), Some(libc::EEXIST));
}

#[test]
fn dumps_of_many_parts_are_whole() {
    if !may_make_networks() {
        return;
    }
    let mut a = Host::new();
    for number in 0..40 {
        a.netlink.add_bridge(&format!("br{number}")).unwrap();
    }
    let links = a.netlink.links().unwrap();
    assert_eq!(links.iter().filter(|link| link.kind == "bridge").count(), 40);
}

#[test]
fn a_monitor_tells_of_links_and_addresses() {
    if !may_make_networks() {
        return;
    }
    let (mut a, _b) = cabled(None);
    let mut monitor = a.netns.run(Monitor::open).unwrap().unwrap();
    assert_eq!(monitor.changes().unwrap(), []);

    a.netlink.set_mtu(A, 1300).unwrap();
    let is_seen = |change: &Change| matches!(change, Change::Link(Link { index: A, mtu: 1300, .. }));
    assert!(monitor.changes().unwrap().iter().any(is_seen));
    a.netlink.add_address(A, "10.0.0.1".parse().unwrap(), 24, false).unwrap();
    assert!(monitor.changes().unwrap().contains(&Change::Addresses(A)));

    // A port that leaves its bridge is not a device that is gone.
    a.netlink.add_bridge("br0").unwrap();
    let bridge = a.link("br0").index;
    a.netlink.set_master(A, Some(bridge)).unwrap();
    a.netlink.set_master(A, None).unwrap();
    let changes = monitor.changes().unwrap();
    assert!(!changes.contains(&Change::LinkGone(A)), "{changes:?}");
    let master = |change: &Change| matches!(change, Change::Link(l) if l.index == A && l.master == Some(bridge));
    assert!(changes.iter().any(master), "{changes:?}");

    a.netlink.delete(A).unwrap();
    assert!(monitor.changes().unwrap().contains(&Change::LinkGone(A)));
}

#[test]
fn a_monitor_that_overflows_says_so_and_goes_on() {
    if !may_make_networks() {
        return;
    }
    let mut a = Host::new();
    a.netlink.add_bridge("br0").unwrap();
    let index = a.link("br0").index;
    let mut monitor = a.netns.run(Monitor::open).unwrap().unwrap();
    // More than the socket holds; each change is over a kilobyte there.
    for round in 0..4000 {
        a.netlink.set_mtu(index, 1300 + round % 2).unwrap();
    }
    assert!(monitor.changes().unwrap().contains(&Change::Lost));
    a.netlink.set_mtu(index, 1234).unwrap();
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

#[test]
fn an_address_that_changes_its_port_is_a_move() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
    switch.join(&mut a, "eth0", "a");
    switch.join(&mut b, "eth0", "b");
    let sockets = [a.packet_socket("eth0"), b.packet_socket("eth0")];
    settle(&sockets[0], &sockets[1]);
    let mut learned = switch.host.netns.run(Learned::open).unwrap().unwrap();
    let (to_all, protocol) = ([0xff; 6], [0x88, 0xb5]);
    let from_one = |number: u8| [&to_all[..], &[2, 0, 0, 0, 1, number], &protocol, &[0; 46]].concat();
    let mut moved_after = |sends: &[(usize, u8)]| {
        for &(socket, number) in sends {
            assert!(sockets[socket].send_frame(&from_one(number)));
            // The bridge announces an address before it forwards the frame; when the frame arrives, the message was
            // sent.
            eventually("the frame at the other port", || {
                let mut batch = Batch::new();
                sockets[1 - socket].receive(&mut batch).unwrap();
                batch.frames().any(|received| received.bytes == from_one(number))
            });
        }
        learned.moves().unwrap()
    };
    moved_after(&[(0, 1), (1, 2)]);
    assert_eq!(moved_after(&[(0, 1), (1, 2), (0, 1)]), 0, "each stays where it is");
    assert_eq!(moved_after(&[(1, 1), (0, 1)]), 2, "there and back");
}

/// The kernel's table of neighbours is one for all network namespaces; more than it holds are reserved here.
#[test]
fn reserved_neighbours_do_not_count_and_are_found_as_ever() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    a.address("eth0", &[("10.0.0.1", 16), ("fd00::1", 64)]);
    b.address("eth0", &[("10.0.0.2", 16), ("fd00::2", 64)]);
    let most: u32 =
        std::fs::read_to_string("/proc/sys/net/ipv4/neigh/default/gc_thresh3").unwrap().trim().parse().unwrap();
    let many = (0..most + 100).map(|n| IpAddr::from((0x0a00_0100_u32 + n).to_be_bytes()));
    let far: [IpAddr; 2] = [[10, 0, 0, 2].into(), "fd00::2".parse().unwrap()];
    for address in far.into_iter().chain(many) {
        a.netlink.reserve_neighbour(A, address).unwrap();
    }
    let learned = |host: &mut Host| host.netlink.neighbours().unwrap().iter().filter(|it| it.is_learned()).count();
    assert_eq!(learned(&mut a), 0, "nobody has been asked");
    for address in far {
        let asked =
            a.netns.run(|| UdpSocket::bind((["0.0.0.0", "::"][usize::from(address.is_ipv6())], 0))).unwrap().unwrap();
        eventually("the neighbour answers", || {
            let _ = asked.send_to(b"?", (address, 9));
            a.netlink.neighbours().unwrap().iter().any(|it| it.address() == Some(address) && it.is_learned())
        });
        // What is there stays.
        a.netlink.reserve_neighbour(A, address).unwrap();
    }
    assert_eq!(learned(&mut a), 2);
}
