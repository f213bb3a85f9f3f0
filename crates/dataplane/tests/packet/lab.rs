//! A host with a team, and the far ends of its members in another namespace.

use std::net::IpAddr;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_dataplane::{Choice, Counters, Dataplane, Kind, Port, TeamDevice, open};
use nicteam_sys::netlink::{Netlink, VethEnd};
use nicteam_sys::netns::{self, NetNs};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::{Choose, MemberId, Plan, PlanMember, Receive, Rewrite};

use crate::frames::{self, Random};

/// Everything that hangs is given up after this; no outcome depends on it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The team's address.
pub const TEAM_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// Team `team0` with members `m0`, `m1`, ... in `host`; their far ends `f0`, `f1`, ... in `far`.
pub struct Lab {
    pub host: NetNs,
    pub far: NetNs,
    pub device: TeamDevice,
    pub ports: Vec<Port>,
    pub far_ports: Vec<u32>,
}

impl Lab {
    /// `None`, and a word of explanation, where namespaces are not allowed.
    pub fn new(members: usize) -> Option<Lab> {
        match (namespace(), namespace()) {
            (Ok(host), Ok(far)) => Some(Lab::build(host, far, members)),
            (Err(error), _) | (_, Err(error)) => {
                eprintln!("SKIPPED: {error}");
                None
            }
        }
    }

    fn build(host: NetNs, far: NetNs, members: usize) -> Lab {
        let ports: Vec<Port> =
            (0..members).map(|i| Port { id: member(i), name: format!("m{i}"), index: 100 + i as u32 }).collect();
        let far_ports: Vec<u32> = (0..members as u32).map(|i| 200 + i).collect();
        let device = team_device(&host);
        host.run(|| {
            let mut netlink = Netlink::open().unwrap();
            for (i, port) in ports.iter().enumerate() {
                let far_name = format!("f{i}");
                let far_end = VethEnd { netns: Some(far.as_fd()), ..end(&far_name, far_ports[i]) };
                netlink.add_veth(&end(&port.name, port.index), &far_end, 1500).unwrap();
                netlink.set_up(port.index, true).unwrap();
            }
        })
        .unwrap();
        far.run(|| {
            let mut netlink = Netlink::open().unwrap();
            far_ports.iter().for_each(|&index| netlink.set_up(index, true).unwrap());
        })
        .unwrap();
        let lab = Lab { host, far, device, ports, far_ports };
        lab.settle();
        lab
    }

    /// The packet dataplane with every member and this plan.
    pub fn start(&self, plan: &Plan) -> Box<dyn Dataplane> {
        start(&self.host, &self.device, &self.ports, plan)
    }

    /// Takes the dataplane down properly.
    pub fn stop(&self, dataplane: Box<dyn Dataplane>) {
        self.host.run(move || dataplane.remove()).unwrap().unwrap();
    }

    /// A packet socket on the team device, where the stack is.
    pub fn stack(&self) -> PacketSocket {
        self.host.run(|| PacketSocket::open(self.device.index)).unwrap().unwrap()
    }

    /// Packet sockets on the far ends.
    pub fn far_sockets(&self) -> Vec<PacketSocket> {
        let open = || self.far_ports.iter().map(|&index| PacketSocket::open(index).unwrap()).collect();
        self.far.run(open).unwrap()
    }

    /// Waits until every pair carries frames both ways: until the kernel has
    /// taken notice of a carrier, a device swallows what it is given.
    fn settle(&self) {
        let open = |indexes: Vec<u32>| indexes.into_iter().map(|index| PacketSocket::open(index).unwrap());
        let near: Vec<_> =
            self.host.run(|| open(self.ports.iter().map(|port| port.index).collect()).collect()).unwrap();
        let team: Vec<_> = self.host.run(|| open(vec![self.device.index, self.device.peer_index]).collect()).unwrap();
        for (a, b) in near.iter().zip(&self.far_sockets()).chain([(&team[0], &team[1])]) {
            settle(a, b);
            settle(b, a);
        }
    }

    /// Gives the team device 10.9.0.1/24.
    pub fn address_team(&self) {
        address(&self.host, self.device.index, [10, 9, 0, 1].into());
    }
}

/// Sends until the last frame sent arrives: then none is on its way.
fn settle(from: &PacketSocket, to: &PacketSocket) {
    let (mut batch, mut random) = (Batch::new(), Random(0));
    let mut number = 0;
    eventually("a pair carries frames", || {
        number += 1;
        from.send_frame(&frames::random(&mut random, number));
        (0..10).any(|_| {
            thread::sleep(Duration::from_micros(100));
            to.receive(&mut batch).unwrap();
            batch.frames().any(|received| frames::number(received.bytes) == number)
        })
    });
}

/// A namespace in which nobody speaks unasked.
pub fn namespace() -> Result<NetNs, nicteam_sys::Error> {
    let namespace = NetNs::new()?;
    namespace.run(|| {
        netns::sysctl("ipv6/conf/all/disable_ipv6", "1")?;
        netns::sysctl("ipv6/conf/default/disable_ipv6", "1")
    })??;
    Ok(namespace)
}

/// The pair of veth ends that is a team device, up.
pub fn team_device(host: &NetNs) -> TeamDevice {
    let device = TeamDevice { name: "team0".into(), index: 50, peer_name: "team0-dp".into(), peer_index: 51 };
    host.run(|| {
        let mut netlink = Netlink::open().unwrap();
        let stack = VethEnd { mac: Some(TEAM_MAC), ..end(&device.name, device.index) };
        netlink.add_veth(&stack, &end(&device.peer_name, device.peer_index), 1500).unwrap();
        netlink.set_up(device.index, true).unwrap();
        netlink.set_up(device.peer_index, true).unwrap();
    })
    .unwrap();
    device
}

/// Opens a packet dataplane in a host, attaches, applies.
pub fn start(host: &NetNs, device: &TeamDevice, ports: &[Port], plan: &Plan) -> Box<dyn Dataplane> {
    host.run(|| {
        let mut dataplane = open(device, Choice::Force(Kind::Packet)).unwrap();
        ports.iter().for_each(|port| dataplane.attach(port).unwrap());
        dataplane.apply(plan).unwrap();
        dataplane
    })
    .unwrap()
}

pub fn end(name: &str, index: u32) -> VethEnd<'_> {
    VethEnd { name, index: Some(index), mac: None, netns: None, gso_max_segs: None }
}

pub fn address(host: &NetNs, index: u32, address: IpAddr) {
    host.run(|| Netlink::open().unwrap().add_address(index, address, 24, true).unwrap()).unwrap();
}

pub fn member(place: usize) -> MemberId {
    MemberId::new(place).unwrap()
}

/// A plan for `members` that all receive.
pub fn plan(members: usize, choose: Choose) -> Plan {
    let line = |i| PlanMember { id: member(i), receive: Receive::Deliver, rewrite: Rewrite::default() };
    Plan { generation: 1, choose, members: (0..members).map(line).collect() }
}

pub fn counters(dataplane: &dyn Dataplane, place: usize) -> Counters {
    let all = dataplane.counters().unwrap();
    all.into_iter().find(|(id, _)| *id == member(place)).unwrap().1
}

/// Waits until it is so.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "given up waiting: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}
