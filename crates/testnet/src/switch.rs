//! A plain switch.

use crate::{Host, cable};

/// A switch that learns addresses: a host of its own with one bridge, which says nothing by itself.
#[derive(Debug)]
pub struct Switch {
    /// Where its ports are.
    pub host: Host,
    bridge: u32,
}

impl Default for Switch {
    fn default() -> Switch {
        Switch::new()
    }
}

impl Switch {
    /// A switch without ports.
    pub fn new() -> Switch {
        let mut host = Host::quiet();
        host.netlink.add_bridge(BRIDGE).unwrap();
        host.set_up(BRIDGE, true);
        Switch { bridge: host.index(BRIDGE), host }
    }

    /// The index of the bridge, for those who change its ports by a socket of their own.
    pub fn bridge(&self) -> u32 {
        self.bridge
    }

    /// Joins a device of a host to a port by a cable.
    #[track_caller]
    pub fn join(&mut self, host: &mut Host, device: &str, port: &str) {
        cable(host, device, &mut self.host, port);
        self.set_passing(port, true);
    }

    /// Joins so many devices of a host to as many ports: with `eth` and `a`, `eth0` to `a0`, `eth1` to `a1`, ...
    #[track_caller]
    pub fn join_all(&mut self, host: &mut Host, devices: &str, ports: &str, count: usize) {
        for n in 0..count {
            self.join(host, &format!("{devices}{n}"), &format!("{ports}{n}"));
        }
    }

    /// Pulls the cable at a port, or plugs it in: the other end sees it.
    #[track_caller]
    pub fn set_up(&mut self, port: &str, up: bool) {
        self.host.set_up(port, up);
    }

    /// Lets a port pass frames, or nothing at all: its carrier stays, and nobody sees it.
    #[track_caller]
    pub fn set_passing(&mut self, port: &str, passes: bool) {
        let index = self.host.index(port);
        self.host.netlink.set_master(index, passes.then_some(self.bridge)).unwrap();
    }
}

const BRIDGE: &str = "br0";
