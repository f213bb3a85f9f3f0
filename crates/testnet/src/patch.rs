//! Cables that can keep LACPDUs back while both ends have carrier.

use std::process::Command;

use crate::{Host, cable};

/// Two hosts cabled through bridges, one a cable: what is between two ends that
/// see each other's link and not each other's LACPDUs. Each bridge port passes
/// them on or does not (`group_fwd_mask`), so each direction has its own switch.
#[derive(Debug)]
pub struct Patch {
    host: Host,
    cables: u32,
}

impl Patch {
    /// Devices `eth0`, `eth1`, ... of `a` to the devices of `b` that have this
    /// prefix and the same numbers.
    #[track_caller]
    pub fn new(a: &mut Host, b: &mut Host, prefix: &str, cables: u32) -> Patch {
        let mut patch = Patch { host: Host::quiet(), cables };
        for n in 0..cables {
            let [bridge, near, far] = ["br", "a", "b"].map(|name| format!("{name}{n}"));
            cable(a, &format!("eth{n}"), &mut patch.host, &near);
            cable(&mut patch.host, &far, b, &format!("{prefix}{n}"));
            patch.host.netlink.add_bridge(&bridge).unwrap();
            let master = patch.host.index(&bridge);
            for port in [near, far].map(|name| patch.host.index(&name)) {
                patch.host.netlink.set_master(port, Some(master)).unwrap();
            }
            patch.host.set_up(&bridge, true);
            patch.set(n, true, true);
        }
        patch
    }

    /// Whether the LACPDUs of either end of a cable reach the other.
    #[track_caller]
    pub fn set(&self, cable: u32, from_a: bool, from_b: bool) {
        assert!(cable < self.cables, "no cable {cable}");
        for (port, passes) in [(format!("a{cable}"), from_a), (format!("b{cable}"), from_b)] {
            // Bit 2 is 01:80:c2:00:00:02.
            let mask = if passes { "4" } else { "0" };
            let ip = ["link", "set", "dev", &port, "type", "bridge_slave", "group_fwd_mask", mask];
            let done = self.host.netns.run(|| Command::new("ip").args(ip).output()).unwrap().unwrap();
            assert!(done.status.success(), "ip {ip:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }

    /// The same for every cable.
    #[track_caller]
    pub fn set_all(&self, from_a: bool, from_b: bool) {
        (0..self.cables).for_each(|cable| self.set(cable, from_a, from_b));
    }
}
