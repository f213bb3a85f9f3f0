//! What the live tests share: hosts with two cables between them, and teams on them.
#![allow(dead_code, reason = "not every test file needs all of it")]

pub mod aggregate;
pub mod openvswitch;
pub mod stream;

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use nicteam_daemon::{Error, Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_team::{Config, Event};
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

/// Two hosts with two cables and a team each.
pub struct Pair {
    pub a: Host,
    pub b: Host,
    pub teams: Vec<RunningTeam>,
    pub notices: mpsc::Receiver<Notice>,
}

/// Two hosts and a plain learning bridge, into which each has so many links: its
/// eth0 and on, whose other ends are the bridge's a0 and on, or b0 and on.
pub fn switched(links: u32) -> (Host, Host, Host) {
    let (mut a, mut b, mut switch) = (Host::new(), Host::new(), Host::new());
    switch.netlink.add_bridge("br").unwrap();
    let bridge = switch.index("br");
    for (host, name, first) in [(&mut a, "a", 1000), (&mut b, "b", 1100)] {
        for n in 0..links {
            cable(host, &format!("eth{n}"), &mut switch, &format!("{name}{n}"), first + 2 * n);
            switch.netlink.set_master(first + 2 * n + 1, Some(bridge)).unwrap();
        }
    }
    switch.set_up("br", true);
    (a, b, switch)
}

/// A team of eth0 and eth1 with these options.
pub fn spec(options: &[(&str, &str)], kind: Kind) -> TeamSpec {
    let mut config = Config::default();
    for (name, value) in options {
        config.set(name, value).unwrap();
    }
    TeamSpec {
        name: "team0".to_owned(),
        config,
        members: vec!["eth0".to_owned(), "eth1".to_owned()],
        mac: None,
        mtu: None,
        dataplane: Choice::Force(kind),
    }
}

/// Starts a team in a host; what it tells goes to `notices`.
pub fn start_telling(host: &Host, spec: TeamSpec, notices: mpsc::Sender<Notice>) -> Result<RunningTeam, Error> {
    let notify = move |notice| {
        let _ = notices.send(notice);
    };
    host.netns.run(|| RunningTeam::start(spec, Box::new(notify))).unwrap()
}

/// The same; nobody hears what it tells.
pub fn start(host: &Host, spec: TeamSpec) -> Result<RunningTeam, Error> {
    start_telling(host, spec, mpsc::channel().0)
}

impl Pair {
    pub fn new(options: &[(&str, &str)], kind: Kind) -> Pair {
        let (mut a, mut b) = cabled();
        let (sender, notices) = mpsc::channel();
        let teams =
            vec![start_telling(&a, spec(options, kind), sender).unwrap(), start(&b, spec(options, kind)).unwrap()];
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        Pair { a, b, teams, notices }
    }

    /// Sockets that reach each other.
    pub fn sockets(&self) -> (UdpSocket, UdpSocket) {
        let address = |n: u8| SocketAddr::from(([10, 2, 0, n], 7000));
        let (a, b) = (self.a.udp(address(1)), self.b.udp(address(2)));
        a.connect(address(2)).unwrap();
        b.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        (a, b)
    }

    /// The events that the first team told since.
    pub fn events(&self) -> Vec<Event> {
        let event = |notice| match notice {
            Notice::Event(event) => Some(event),
            Notice::Trouble(_) => None,
        };
        self.notices.try_iter().filter_map(event).collect()
    }

    /// The troubles that the first team told since.
    pub fn troubles(&self) -> Vec<String> {
        let trouble = |notice| match notice {
            Notice::Event(_) => None,
            Notice::Trouble(error) => Some(error.to_string()),
        };
        self.notices.try_iter().filter_map(trouble).collect()
    }
}

/// Two hosts, eth0 to eth0 and eth1 to eth1.
pub fn cabled() -> (Host, Host) {
    let (mut a, mut b) = (Host::new(), Host::new());
    cable(&mut a, "eth0", &mut b, "eth0", 1000);
    cable(&mut a, "eth1", &mut b, "eth1", 1002);
    (a, b)
}

/// What a member gets back, of these devices.
pub fn identities(host: &mut Host, devices: &[&str]) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let identity = |device: &&str| {
        let link = host.link(device);
        let filters = (link.all_multicast, link.promiscuous);
        (link.name, link.mac, link.mtu, link.up, link.addr_gen_mode, link.alias, filters)
    };
    devices.iter().map(identity).collect()
}

/// Datagrams pass, sooner or later.
#[track_caller]
pub fn assert_reach((a, b): &(UdpSocket, UdpSocket), when: &str) {
    let mut buffer = [0; 8];
    eventually(when, || a.send(b"probe").is_ok() && b.recv(&mut buffer).is_ok());
}

/// Runs a test on every dataplane that this machine has.
pub fn on_each_dataplane(test: impl Fn(Kind)) {
    if !may_make_networks() {
        return;
    }
    match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => test(Kind::Bpf),
        (Kind::Packet, reason) => eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default()),
    }
    test(Kind::Packet);
}
