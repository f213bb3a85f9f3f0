//! What the live tests share: hosts with two cables between them, and teams on them.
#![allow(dead_code, reason = "not every test file needs all of it")]

pub mod aggregate;
pub mod stream;
pub mod striped;

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc;

use nicteam_daemon::{Error, Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_team::{Config, Event};
use nicteam_testnet::{Host, Switch, cables, datagrams, may_make_networks};

pub use nicteam_testnet::assert_reach;

/// Two hosts with two cables and a team each.
pub struct Pair {
    pub a: Host,
    pub b: Host,
    pub teams: Vec<RunningTeam>,
    pub notices: mpsc::Receiver<Notice>,
}

/// Two hosts and a switch, into which each has so many links: its eth0 and on,
/// at the switch's ports a0 and on, or b0 and on.
pub fn switched(links: usize) -> (Host, Host, Switch) {
    let (mut a, mut b, mut switch) = (Host::new(), Host::new(), Switch::new());
    switch.join_all(&mut a, "eth", "a", links);
    switch.join_all(&mut b, "eth", "b", links);
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
        team_sockets(&self.a, &self.b, 7000)
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
    cables(&mut a, &mut b, 2);
    (a, b)
}

/// Sockets of two hosts whose teams have the addresses 10.2.0.1 and 10.2.0.2.
pub fn team_sockets(a: &Host, b: &Host, port: u16) -> (UdpSocket, UdpSocket) {
    let address = |n: u8| SocketAddr::from(([10, 2, 0, n], port));
    datagrams((a, address(1)), (b, address(2)))
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
