//! TAP devices.

use std::fs::OpenOptions;

use nicteam_netlink::Netlink;
use nicteam_sys::ethtool::{Ethtool, LinkSettings};
use nicteam_sys::netns::NetNs;
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_sys::tap::Tap;
use nicteam_testnet::may_make_networks;

#[test]
fn a_tap_has_carrier_while_it_is_held_and_goes_with_its_handle() {
    if !may_make_taps() {
        return;
    }
    let check = || {
        let mut netlink = Netlink::open().unwrap();
        let tap = Tap::open("tap0").unwrap();
        let index = netlink.link("tap0").unwrap().unwrap().index;
        netlink.set_up(index, true).unwrap();
        let link = netlink.link("tap0").unwrap().unwrap();
        assert!(link.up && link.carrier, "{link:?}");
        assert_eq!(Tap::open("tap0").unwrap_err().errno(), Some(libc::EBUSY));
        carries_frames(&tap, index);
        drop(tap);
        assert_eq!(netlink.link("tap0").unwrap(), None);
    };
    NetNs::new().unwrap().run(check).unwrap();
}

fn carries_frames(tap: &Tap, index: u32) {
    let socket = PacketSocket::open(index).unwrap();
    let frame = |last: u8| [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5][..], &[last; 50]].concat();
    assert!(tap.send(&frame(7)).unwrap());
    let mut batch = Batch::new();
    socket.receive(&mut batch).unwrap();
    let received: Vec<_> = batch.frames().map(|received| received.bytes.to_vec()).collect();
    assert_eq!(received, [frame(7)]);

    assert!(socket.send_frame(&frame(9)));
    let mut buffer = Vec::with_capacity(2048);
    let mut sent = Vec::new();
    while tap.receive(&mut buffer).unwrap() {
        sent.push(buffer.clone());
    }
    // The stack may speak of itself (IPv6) in between.
    assert!(sent.contains(&frame(9)), "{sent:?}");
    assert!(buffer.is_empty());
}

/// True if there are TAP devices for a test.
fn may_make_taps() -> bool {
    let open = || OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    may_make_networks() && open().map_err(|error| eprintln!("SKIPPED: /dev/net/tun: {error}")).is_ok()
}

#[test]
fn the_speed_of_a_tap_can_be_set() {
    if !may_make_taps() {
        return;
    }
    let check = || {
        let _tap = Tap::open("tap0").unwrap();
        let ethtool = Ethtool::open().unwrap();
        for (speed_mbps, full_duplex) in [(1000, true), (100, false)] {
            ethtool.set_settings("tap0", speed_mbps, full_duplex).unwrap();
            let expected = LinkSettings { speed_mbps: Some(speed_mbps), full_duplex: Some(full_duplex) };
            assert_eq!(ethtool.settings("tap0").unwrap(), expected);
        }
        assert_eq!(ethtool.set_settings("lo", 1000, true).unwrap_err().errno(), Some(libc::EOPNOTSUPP));
    };
    NetNs::new().unwrap().run(check).unwrap();
}

#[test]
fn a_name_that_is_none_is_refused() {
    for name in ["", "sixteen-letters-"] {
        if let Err(error) = Tap::open(name) {
            assert!(matches!(error.errno(), Some(libc::EINVAL | libc::EACCES | libc::ENOENT)), "{error}");
        } else {
            panic!("{name:?} was taken");
        }
    }
}
