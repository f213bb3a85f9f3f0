//! Killing the process that set a team up loses no frame on the eBPF
//! dataplane, and a restarted one takes the team over: on hosts, on bridge
//! ports, IPv4 and IPv6, in every mode. On the packet dataplane the team stops
//! with its process; the next one takes it over and gives its members back.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::common::TeamProcess;
use crate::common::teams::{Probes, may_test_bpf};
use nicteam_testnet::{Host, Switch, cable, eventually, may_make_networks};

/// Cables between a host and the switch.
const CABLES: usize = 4;
/// How long the hosts are without a process that runs a team.
const WITHOUT: Duration = Duration::from_millis(300);

/// Two hosts with a team each, and a switch whose bridge has a team towards each of them.
struct Network {
    hosts: [Host; 2],
    switch: Host,
    mode: &'static str,
    processes: Vec<TeamProcess>,
}

impl Network {
    fn new(mode: &'static str) -> Network {
        let mut hosts = [Host::new(), Host::new()];
        let mut switch = Host::new();
        for (side, host) in hosts.iter_mut().enumerate() {
            for n in 0..CABLES {
                cable(host, &format!("eth{n}"), &mut switch, &format!("s{side}-{n}"));
            }
        }
        let mut network = Network { hosts, switch, mode, processes: Vec::new() };
        network.start_teams();
        network.switch.netlink.add_bridge("br0").unwrap();
        let bridge = network.switch.index("br0");
        network.switch.netlink.set_up(bridge, true).unwrap();
        for side in 0..2 {
            let port = network.switch.index(&format!("to{side}"));
            network.switch.netlink.set_master(port, Some(bridge)).unwrap();
        }
        for (side, host) in network.hosts.iter_mut().enumerate() {
            host.address("team0", &[(&format!("10.1.0.{}", side + 1), 24), (&format!("fd01::{}", side + 1), 64)]);
        }
        network
    }

    /// Starts all four teams, or takes them over.
    fn start_teams(&mut self) {
        let arguments = ["--mode", self.mode, "--dataplane", "bpf"];
        let names = |prefix: &str| (0..CABLES).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
        for host in &self.hosts {
            self.processes.push(TeamProcess::start(host, "team0", &names("eth"), &arguments));
        }
        for side in 0..2 {
            let members = names(&format!("s{side}-"));
            self.processes.push(TeamProcess::start(&self.switch, &format!("to{side}"), &members, &arguments));
        }
    }

    fn kill_teams(&mut self) {
        self.processes.drain(..).for_each(|mut process| process.kill());
    }
}

/// The datagrams from one host to the other that never came while the teams were killed and started again.
fn lost_probes(network: &mut Network, version: &str) -> Vec<u32> {
    let address = |side: usize| -> IpAddr {
        if version == "IPv4" { format!("10.1.0.{}", side + 1) } else { format!("fd01::{}", side + 1) }.parse().unwrap()
    };
    let probes = Probes::new(&network.hosts[0], address(0), &network.hosts[1], address(1));
    let (lost, _) = probes.lost_during(|| {
        network.kill_teams();
        std::thread::sleep(WITHOUT);
        network.start_teams();
    });
    lost
}

#[test]
fn a_killed_team_forwards_on_and_is_taken_over() {
    if !may_test_bpf() {
        return;
    }
    for mode in ["balance-rr", "active-backup", "balance-xor", "broadcast"] {
        let mut network = Network::new(mode);
        for version in ["IPv4", "IPv6"] {
            assert_eq!(lost_probes(&mut network, version), [0; 0], "{mode}, {version}");
        }
        assert!(network.switch.netlink.link("to0").unwrap().unwrap().carrier, "{mode}: the port lost its carrier");
    }
}

/// Its process answers ARP and neighbour discovery; without it they leave by the active member.
#[test]
fn a_killed_balance_alb_team_is_found_by_those_who_have_not_met_it() {
    if !may_test_bpf() {
        return;
    }
    let (mut host, mut switch, mut far) = (Host::new(), Switch::new(), Host::new());
    switch.join_all(&mut host, "eth", "s", 2);
    switch.join(&mut far, "eth0", "s2");
    let addresses = |n: u8| [(format!("10.1.0.{n}"), 24), (format!("10.2.0.{n}"), 24), (format!("fd02::{n}"), 64)];
    let add = |host: &mut Host, device: &str, n: u8| {
        let addresses = addresses(n);
        host.address(device, &addresses.each_ref().map(|(address, prefix)| (address.as_str(), *prefix)));
    };
    let members = ["eth0", "eth1"].map(str::to_owned);
    let mut killed = TeamProcess::start(&host, "team0", &members, &["--mode", "balance-alb", "--dataplane", "bpf"]);
    add(&mut host, "team0", 1);
    add(&mut far, "eth0", 2);
    assert_reach(&host, &far, "10.1.0.1", "10.1.0.2");
    killed.kill();
    assert_reach(&far, &host, "10.2.0.2", "10.2.0.1");
    assert_reach(&host, &far, "fd02::1", "fd02::2");
}

#[test]
fn a_killed_packet_team_is_taken_over_and_gives_its_members_back() {
    if !may_make_networks() {
        return;
    }
    let (mut host, mut far) = (Host::new(), Host::new());
    cable(&mut host, "eth0", &mut far, "eth0");
    far.address("eth0", &[("10.1.0.2", 24), ("10.2.0.2", 24)]);
    let start = |host: &Host| {
        TeamProcess::start(host, "team0", &["eth0".to_owned()], &["--mode", "active-backup", "--dataplane", "packet"])
    };
    let mut killed = start(&host);
    host.address("team0", &[("10.1.0.1", 24)]);
    let index = host.index("team0");
    assert_reach(&host, &far, "10.1.0.1", "10.1.0.2");
    killed.kill();

    let mut next = start(&host);
    assert_eq!(host.index("team0"), index, "the team device is another one");
    assert_reach(&host, &far, "10.1.0.1", "10.1.0.2");

    next.stop();
    assert_eq!(host.netlink.link("team0").unwrap(), None);
    host.address("eth0", &[("10.2.0.1", 24)]);
    assert_reach(&host, &far, "10.2.0.1", "10.2.0.2");
}

/// Datagrams pass both ways, sooner or later.
#[track_caller]
fn assert_reach(a: &Host, b: &Host, a_address: &str, b_address: &str) {
    let socket = |host: &Host, address: &str| {
        let socket = host.udp(SocketAddr::new(address.parse().unwrap(), 7000));
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        socket
    };
    let (a, b) = (socket(a, a_address), socket(b, b_address));
    a.connect(b.local_addr().unwrap()).unwrap();
    b.connect(a.local_addr().unwrap()).unwrap();
    let mut buffer = [0; 8];
    for (from, to) in [(&a, &b), (&b, &a)] {
        eventually("a datagram", || from.send(b"probe").is_ok() && to.recv(&mut buffer).is_ok());
    }
}
