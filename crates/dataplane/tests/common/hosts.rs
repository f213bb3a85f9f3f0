//! Hosts with a team of veth cables.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use nicteam_dataplane::{BpfDataplane, Choice, Dataplane, Kind, Port, Programs, TeamDevice};
use nicteam_sys::packet::PacketSocket;
use nicteam_team::{Choose, Plan};
use nicteam_testnet::{Host, cable, settle};
use nicteam_wire::Mac;

use super::{id, plan};

/// Cables between the hosts of a [`pair`].
pub const CABLES: usize = 4;
/// Where the hosts' UDP sockets listen.
pub const UDP_PORT: u16 = 7000;
/// An answer that takes longer is lost.
const LOST_MS: u64 = 3000;

/// A host with a team device that has carrier, and the devices that are to join.
pub struct TeamHost {
    pub host: Host,
    pub team: TeamDevice,
    pub ports: Vec<Port>,
    number: u8,
}

/// Two of them with addresses, not yet with a dataplane.
pub fn pair() -> (TeamHost, TeamHost) {
    let (mut a, mut b) = (Host::new(), Host::new());
    for place in 0..CABLES {
        cable(&mut a, &member(place), &mut b, &member(place));
    }
    let (mut a, mut b) = (TeamHost::new(a, 1, CABLES), TeamHost::new(b, 2, CABLES));
    a.add_addresses();
    b.add_addresses();
    (a, b)
}

/// The name of the device at a place.
pub fn member(place: usize) -> String {
    format!("m{place}")
}

/// A plan for a [`pair`] in which everybody receives.
pub fn pair_plan(choose: Choose) -> Plan {
    plan(1, choose, CABLES)
}

/// Opens the eBPF dataplane.
pub fn bpf(team: &TeamDevice) -> Box<BpfDataplane> {
    BpfDataplane::open(team, Programs::WithoutStripe).map(Box::new).unwrap()
}

/// Opens the packet dataplane.
pub fn packet(team: &TeamDevice) -> Box<dyn Dataplane> {
    nicteam_dataplane::open(team, Choice::Force(Kind::Packet), Programs::WithoutStripe).unwrap()
}

/// The team's address in host 1, 2, ...
pub fn team_mac(host: u8) -> Mac {
    Mac([2, 0, 0, 0, 1, host])
}

impl TeamHost {
    /// Makes the team device `team` in a host that has the devices `m0`, `m1`, ...
    pub fn new(mut host: Host, number: u8, members: usize) -> TeamHost {
        let (team, adopted) = TeamDevice::create_or_adopt(&mut host.netlink, "team", team_mac(number), 1500).unwrap();
        assert!(!adopted);
        let ports = (0..members).map(|place| port(&mut host, place)).collect();
        team.set_carrier(&mut host.netlink, true).unwrap();
        host.set_up("team", true);
        TeamHost { host, team, ports, number }
    }

    /// Runs `f` in the host.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.host.netns.run(f).unwrap()
    }

    /// Opens a dataplane, takes every device in, and applies a plan.
    pub fn start<D: Dataplane + ?Sized>(&self, open: impl FnOnce(&TeamDevice) -> Box<D> + Send, plan: &Plan) -> Box<D> {
        self.run(|| {
            let mut dataplane = open(&self.team);
            self.ports.iter().for_each(|port| dataplane.attach(port).unwrap());
            dataplane.apply(plan).unwrap();
            dataplane
        })
    }

    /// Takes a dataplane down properly.
    pub fn stop<D: Dataplane + ?Sized>(&self, dataplane: Box<D>) {
        self.run(|| dataplane.remove().unwrap());
    }

    /// A packet socket on the team device, where the stack is.
    pub fn stack(&self) -> PacketSocket {
        self.run(|| PacketSocket::open(self.team.index).unwrap())
    }

    /// Waits until the team device and the end behind it carry frames.
    pub fn settle(&self) {
        let behind = self.run(|| PacketSocket::open(self.team.peer_index).unwrap());
        settle(&self.stack(), &behind);
    }

    /// Puts the team under a bridge whose other port is a cable; the far end of
    /// that cable, and a socket there. The kernel takes the tag off a frame that
    /// comes that way and keeps it beside it.
    pub fn bridge(&mut self) -> (Host, PacketSocket) {
        let mut outside = Host::quiet();
        cable(&mut self.host, "port", &mut outside, "outside");
        let far = outside.packet_socket("outside");
        settle(&self.host.packet_socket("port"), &far);
        self.host.netlink.add_bridge("bridge").unwrap();
        let bridge = self.host.index("bridge");
        for port in [self.team.index, self.host.index("port")] {
            self.host.netlink.set_master(port, Some(bridge)).unwrap();
        }
        self.host.set_up("bridge", true);
        (outside, far)
    }

    /// A socket that both families reach.
    pub fn udp(&self) -> UdpSocket {
        let socket = self.run(|| UdpSocket::bind(("::", UDP_PORT)).unwrap());
        socket.set_read_timeout(Some(Duration::from_millis(LOST_MS))).unwrap();
        socket
    }

    pub fn v4(&self) -> SocketAddr {
        // What a socket of both families calls an IPv4 address.
        let IpAddr::V4(address) = v4(self.number) else { unreachable!("v4() is IPv4") };
        SocketAddr::from((address.to_ipv6_mapped(), UDP_PORT))
    }

    pub fn v6(&self) -> SocketAddr {
        SocketAddr::from((v6(self.number), UDP_PORT))
    }

    /// IPv4 packets that the stack received so far.
    pub fn ipv4_received(&self) -> u64 {
        let text = self.run(|| std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap());
        let mut lines = text.lines().filter(|line| line.starts_with("Ip:"));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let mut pairs = names.split(' ').zip(values.split(' '));
        pairs.find(|&(name, _)| name == "InReceives").unwrap().1.parse().unwrap()
    }

    fn add_addresses(&mut self) {
        for (address, prefix) in [(v4(self.number), 24), (v6(self.number), 64)] {
            self.host.netlink.add_address(self.team.index, address, prefix, true).unwrap();
        }
    }
}

fn port(host: &mut Host, place: usize) -> Port {
    let name = member(place);
    let index = host.index(&name);
    host.netlink.set_no_ipv6_address(index).unwrap();
    Port { id: id(place), name, index }
}

fn v4(host: u8) -> IpAddr {
    IpAddr::from([10, 9, 0, host])
}

fn v6(host: u8) -> IpAddr {
    IpAddr::from([0xfd00, 9, 0, 0, 0, 0, 0, u16::from(host)])
}

/// `count` questions to `to` and answers, one after the other; each must come.
pub fn talk(from: &UdpSocket, answerer: &UdpSocket, to: SocketAddr, count: u32) {
    let mut buffer = [0; 64];
    for number in 0..count {
        let question = number.to_be_bytes();
        from.send_to(&question, to).unwrap();
        let (len, back) = answerer.recv_from(&mut buffer).unwrap_or_else(|e| panic!("question {number} lost: {e}"));
        assert_eq!(buffer[..len], question);
        answerer.send_to(&question, back).unwrap();
        let (len, _) = from.recv_from(&mut buffer).unwrap_or_else(|e| panic!("answer {number} lost: {e}"));
        assert_eq!(buffer[..len], question);
    }
}
