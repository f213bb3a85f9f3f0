//! Two hosts, each with a team of four veth cables to the other.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use nicteam_dataplane::{Dataplane, Port, TeamDevice};
use nicteam_sys::netlink::{Netlink, VethEnd};
use nicteam_sys::netns::NetNs;
use nicteam_team::{Choose, Plan};
use nicteam_wire::Mac;

use super::{id, plan};

/// Cables between the hosts.
pub const CABLES: usize = 4;
/// Where the hosts' UDP sockets listen.
pub const UDP_PORT: u16 = 7000;
/// An answer that takes longer is lost.
const LOST_MS: u64 = 3000;

/// A host with a team device that has carrier and addresses.
pub struct Host {
    pub netns: NetNs,
    pub team: TeamDevice,
    pub ports: Vec<Port>,
    number: u8,
}

/// Two of them, not yet with a dataplane.
pub fn pair() -> (Host, Host) {
    let (a, b) = (NetNs::new().unwrap(), NetNs::new().unwrap());
    a.run(|| (0..CABLES).for_each(|place| lay_cable(&b, place))).unwrap();
    (Host::new(a, 1), Host::new(b, 2))
}

fn lay_cable(far: &NetNs, place: usize) {
    use std::os::fd::AsFd;
    let name = member(place);
    let index = |host: u32| Some(100 * host + place as u32);
    let near = VethEnd { name: &name, index: index(1), mac: None, netns: None, gso_max_segs: None };
    let far = VethEnd { name: &name, index: index(2), mac: None, netns: Some(far.as_fd()), gso_max_segs: None };
    Netlink::open().unwrap().add_veth(&near, &far, 1500).unwrap();
}

fn member(place: usize) -> String {
    format!("m{place}")
}

impl Host {
    fn new(netns: NetNs, number: u8) -> Host {
        let set_up = || {
            let mut netlink = Netlink::open().unwrap();
            let mac = Mac([2, 0, 0, 0, 1, number]);
            let (team, _) = TeamDevice::create_or_adopt(&mut netlink, "team", mac, 1500).unwrap();
            let ports = (0..CABLES).map(|place| port(&mut netlink, place)).collect();
            team.set_carrier(&mut netlink, true).unwrap();
            netlink.set_up(team.index, true).unwrap();
            for address in [v4(number), v6(number)] {
                netlink.add_address(team.index, address, if address.is_ipv4() { 24 } else { 64 }, true).unwrap();
            }
            (team, ports)
        };
        let (team, ports) = netns.run(set_up).unwrap();
        Host { netns, team, ports, number }
    }

    /// Opens a dataplane with every cable a member that receives.
    pub fn start<D: Dataplane>(&self, open: impl FnOnce(&TeamDevice) -> D + Send, choose: Choose) -> D {
        let start = || {
            let mut dataplane = open(&self.team);
            self.ports.iter().for_each(|port| dataplane.attach(port).unwrap());
            dataplane.apply(&self.plan(choose)).unwrap();
            dataplane
        };
        self.netns.run(start).unwrap()
    }

    pub fn plan(&self, choose: Choose) -> Plan {
        plan(1, choose, CABLES)
    }

    /// A socket that both families reach.
    pub fn udp(&self) -> UdpSocket {
        let socket = self.netns.run(|| UdpSocket::bind(("::", UDP_PORT)).unwrap()).unwrap();
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
        let text = self.netns.run(|| std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap()).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("Ip:"));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let mut pairs = names.split(' ').zip(values.split(' '));
        pairs.find(|&(name, _)| name == "InReceives").unwrap().1.parse().unwrap()
    }
}

fn port(netlink: &mut Netlink, place: usize) -> Port {
    let name = member(place);
    let index = netlink.link(&name).unwrap().unwrap().index;
    netlink.set_no_ipv6_address(index).unwrap();
    netlink.set_up(index, true).unwrap();
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
