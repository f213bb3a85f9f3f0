//! What the live tests share: a way to leave without root, and a pair of namespaces with a link.

use nicteam_sys::netlink::{Link, Netlink, VethEnd};
use nicteam_sys::netns::{self, NetNs};
use std::os::fd::AsFd;

/// True, with a word to stderr, if this machine does not let us make namespaces.
pub fn skipped() -> bool {
    let skip = !netns::is_network_root();
    if skip {
        eprintln!("SKIPPED: needs CAP_NET_ADMIN and CAP_SYS_ADMIN");
    }
    skip
}

/// Two namespaces with a veth pair `eth0`/`eth0` between them; dropping it removes all.
#[allow(dead_code, reason = "not every test file needs a cable")]
pub struct Cable {
    pub a: NetNs,
    pub b: NetNs,
}

#[allow(dead_code, reason = "not every test file needs a cable")]
impl Cable {
    /// True packets if `gso_max_segs` is 1; both ends down.
    pub fn new(gso_max_segs: Option<u32>) -> Cable {
        let cable = Cable { a: NetNs::new().unwrap(), b: NetNs::new().unwrap() };
        let end = |ns, index| VethEnd { name: "eth0", index: Some(index), mac: None, netns: Some(ns), gso_max_segs };
        let (a, b) = (end(cable.a.as_fd(), 101), end(cable.b.as_fd(), 102));
        Netlink::open().unwrap().add_veth(&a, &b, 1500).unwrap();
        cable
    }

    /// Addresses 10.0.0.1 and 10.0.0.2, both ends up.
    pub fn up(&self) {
        for (ns, index, address) in [(&self.a, 101, "10.0.0.1"), (&self.b, 102, "10.0.0.2")] {
            let mut netlink = netlink_in(ns);
            netlink.add_address(index, address.parse().unwrap(), 24, false).unwrap();
            netlink.set_up(index, true).unwrap();
        }
    }
}

/// A netlink socket of a namespace.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn netlink_in(ns: &NetNs) -> Netlink {
    ns.run(Netlink::open).unwrap().unwrap()
}

/// A device that must be there.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn link(netlink: &mut Netlink, name: &str) -> Link {
    netlink.link(name).unwrap().unwrap_or_else(|| panic!("no device {name}"))
}
