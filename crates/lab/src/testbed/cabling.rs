//! Cables between network namespaces, which no node can lay by itself.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use nicteam_experiment::Cable;
use nicteam_netlink::shape::Granularity;
use nicteam_netlink::{Netlink, VethEnd};
use nicteam_node::Error;
use nicteam_sys::netns::NetNs;

/// First interface index of cable ends: beyond what a fresh namespace gives by itself.
const FIRST_INDEX: u32 = 1000;

/// Lays cables.
#[derive(Debug)]
pub(super) struct Cabling {
    nodes: BTreeMap<String, (NetNs, Netlink)>,
    max_packets: u32,
}

/// One end of a cable to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct CableEnd<'a> {
    pub(super) node: &'a str,
    pub(super) device: &'a str,
    pub(super) index: u32,
}

/// What is said of a cable's two ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Largest IP packets, bytes.
    pub(super) mtus: [u32; 2],
    /// Receive queues; none: the kernel's choice.
    pub(super) rx_queues: [Option<u32>; 2],
    /// True if the ends send no GSO frames.
    pub(super) without_offloads: bool,
}

impl Cabling {
    /// Between nodes that are still to be named.
    pub(super) fn new(granularity: Granularity) -> Cabling {
        Cabling { nodes: BTreeMap::new(), max_packets: granularity.max_packets() }
    }

    /// Names a node, which is this process's network namespace.
    pub(super) fn add(&mut self, node: &str, pid: u32) -> Result<(), Error> {
        let netns = NetNs::of_process(pid)?;
        let netlink = netns.run(Netlink::open)??;
        self.nodes.insert(node.to_owned(), (netns, netlink));
        Ok(())
    }

    /// Lays a cable: both ends have an index of their own on this machine,
    /// without which carrier loss would be noticed up to a second late.
    pub(super) fn lay(&mut self, cable: &Cable, wire: &Wire, first_index: u32) -> Result<(), Error> {
        let a = CableEnd { node: &cable.a.node, device: &cable.a.device, index: first_index };
        let b = CableEnd { node: &cable.b.node, device: &cable.b.device, index: first_index + 1 };
        self.lay_between(a, b, wire)
    }

    /// Lays a cable between two ends. Both are down.
    pub(super) fn lay_between(&mut self, a: CableEnd<'_>, b: CableEnd<'_>, wire: &Wire) -> Result<(), Error> {
        let far = self.node(b.node)?.0.as_fd().try_clone_to_owned();
        let far = far.map_err(|error| nicteam_sys::Error::new("keep a handle on a namespace", error))?;
        let gso_max_segs = Some(if wire.without_offloads { 1 } else { self.max_packets });
        let near = VethEnd { name: a.device, index: Some(a.index), mac: None, netns: None, gso_max_segs };
        let other = VethEnd { name: b.device, index: Some(b.index), netns: Some(far.as_fd()), ..near.clone() };
        Ok(self.node(a.node)?.1.add_veth_receiving_by(&near, &other, wire.mtus, wire.rx_queues)?)
    }

    fn node(&mut self, name: &str) -> Result<&mut (NetNs, Netlink), Error> {
        let absent = || Error::Agent { node: name.to_owned(), message: "is not in the topology".to_owned() };
        self.nodes.get_mut(name).ok_or_else(absent)
    }
}

/// Index of the first end of a cable; the second's is the next.
pub(super) fn first_index(cable: u32) -> u32 {
    FIRST_INDEX + 2 * cable
}
