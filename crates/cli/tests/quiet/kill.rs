//! Killing the process that set a team up loses no frame on the eBPF
//! dataplane, and a restarted one takes the team over: on hosts, on bridge
//! ports, IPv4 and IPv6, in every mode. On the packet dataplane the team stops
//! with its process; the next one takes it over and gives its members back.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use crate::common::TeamProcess;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

/// Cables between a host and the switch.
const CABLES: usize = 4;
/// Probes a second.
const PROBE_HZ: u32 = 1000;

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
                let index = 1000 + 2 * (side * CABLES + n) as u32;
                cable(host, &format!("eth{n}"), &mut switch, &format!("s{side}-{n}"), index);
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

/// Sends numbered datagrams from one host to the other; the numbers that never came.
fn lost_probes(network: &mut Network, version: &str) -> Vec<u32> {
    let address = |side: usize| -> IpAddr {
        if version == "IPv4" { format!("10.1.0.{}", side + 1) } else { format!("fd01::{}", side + 1) }.parse().unwrap()
    };
    let socket = |host: &Host, side: usize| host.udp(SocketAddr::new(address(side), 7000));
    let (sender, receiver) = (socket(&network.hosts[0], 0), socket(&network.hosts[1], 1));
    sender.connect(receiver.local_addr().unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    // The first exchange resolves addresses, which loses what came before.
    let mut buffer = [0; 4];
    let met = (0..20).any(|_| sender.send(&u32::MAX.to_be_bytes()).is_ok() && receiver.recv(&mut buffer).is_ok());
    assert!(met, "{version}: the hosts do not reach each other");
    let listening = std::thread::spawn(move || {
        let mut seen = std::collections::BTreeSet::new();
        let mut buffer = [0; 4];
        while receiver.recv(&mut buffer).is_ok() {
            seen.insert(u32::from_be_bytes(buffer));
        }
        seen
    });
    let start = Instant::now();
    let wait_for = move |number: u32| {
        let due = start + Duration::from_secs(1) / PROBE_HZ * number;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    };
    let total = 8 * PROBE_HZ / 10;
    let sending = std::thread::spawn(move || {
        for number in 0..total {
            wait_for(number);
            sender.send(&number.to_be_bytes()).unwrap();
        }
    });
    wait_for(2 * PROBE_HZ / 10);
    network.kill_teams();
    wait_for(5 * PROBE_HZ / 10);
    network.start_teams();
    sending.join().unwrap();
    let seen = listening.join().unwrap();
    (0..total).filter(|number| !seen.contains(number)).collect()
}

#[test]
fn a_killed_team_forwards_on_and_is_taken_over() {
    if !may_make_networks() {
        return;
    }
    if let (Kind::Packet, Some(reason)) = nicteam_dataplane::probe() {
        eprintln!("SKIPPED: no eBPF dataplane: {reason}");
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
    if !may_make_networks() {
        return;
    }
    if let (Kind::Packet, Some(reason)) = nicteam_dataplane::probe() {
        eprintln!("SKIPPED: no eBPF dataplane: {reason}");
        return;
    }
    let (mut host, mut switch, mut far) = (Host::new(), Host::quiet(), Host::new());
    switch.netlink.add_bridge("br0").unwrap();
    let bridge = switch.index("br0");
    for (index, (device, port)) in [("eth0", "s0"), ("eth1", "s1"), ("eth0", "s2")].into_iter().enumerate() {
        let end = if port == "s2" { &mut far } else { &mut host };
        cable(end, device, &mut switch, port, 1000 + 2 * index as u32);
        let port = switch.index(port);
        switch.netlink.set_master(port, Some(bridge)).unwrap();
    }
    switch.set_up("br0", true);
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
    cable(&mut host, "eth0", &mut far, "eth0", 1000);
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
