//! TAP devices.

use std::fs::OpenOptions;

use nicteam_sys::netlink::Netlink;
use nicteam_sys::netns::NetNs;
use nicteam_sys::tap::Tap;
use nicteam_testnet::may_make_networks;

#[test]
fn a_tap_has_carrier_while_it_is_held_and_goes_with_its_handle() {
    if !may_make_networks() {
        return;
    }
    if let Err(error) = OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        eprintln!("SKIPPED: /dev/net/tun: {error}");
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
        drop(tap);
        assert_eq!(netlink.link("tap0").unwrap(), None);
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
