//! A team on a host over time: failover, carrier, what members get back.

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use nicteam_daemon::{Error, Notice, RunningTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_team::{Config, Event};
use nicteam_testnet::{Host, cable, eventually, may_make_networks};

/// Two hosts with two cables and a team each.
struct Pair {
    a: Host,
    b: Host,
    teams: Vec<RunningTeam>,
    events: mpsc::Receiver<Event>,
}

/// A team of eth0 and eth1 with these options.
fn spec(options: &[(&str, &str)], kind: Kind) -> TeamSpec {
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

/// Starts a team in a host; its events go to `events`.
fn start(host: &Host, spec: TeamSpec, events: mpsc::Sender<Event>) -> Result<RunningTeam, Error> {
    let notify = move |notice| {
        if let Notice::Event(event) = notice {
            let _ = events.send(event);
        }
    };
    host.netns.run(|| RunningTeam::start(spec, Box::new(notify))).unwrap()
}

impl Pair {
    fn new(options: &[(&str, &str)], kind: Kind) -> Pair {
        let (mut a, mut b) = cabled();
        let (sender, events) = mpsc::channel();
        let (unheard, _) = mpsc::channel();
        let teams =
            vec![start(&a, spec(options, kind), sender).unwrap(), start(&b, spec(options, kind), unheard).unwrap()];
        a.address("team0", &[("10.2.0.1", 24)]);
        b.address("team0", &[("10.2.0.2", 24)]);
        Pair { a, b, teams, events }
    }

    /// Sockets that reach each other.
    fn sockets(&self) -> (UdpSocket, UdpSocket) {
        let address = |n: u8| SocketAddr::from(([10, 2, 0, n], 7000));
        let (a, b) = (self.a.udp(address(1)), self.b.udp(address(2)));
        a.connect(address(2)).unwrap();
        b.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        (a, b)
    }
}

/// Two hosts, eth0 to eth0 and eth1 to eth1.
fn cabled() -> (Host, Host) {
    let (mut a, mut b) = (Host::new(), Host::new());
    cable(&mut a, "eth0", &mut b, "eth0", 1000);
    cable(&mut a, "eth1", &mut b, "eth1", 1002);
    (a, b)
}

/// Datagrams pass, sooner or later.
#[track_caller]
fn assert_reach((a, b): &(UdpSocket, UdpSocket), when: &str) {
    let mut buffer = [0; 8];
    eventually(when, || a.send(b"probe").is_ok() && b.recv(&mut buffer).is_ok());
}

/// Runs a test on every dataplane that this machine has.
fn on_each_dataplane(test: impl Fn(Kind)) {
    if !may_make_networks() {
        return;
    }
    match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => test(Kind::Bpf),
        (Kind::Packet, reason) => eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default()),
    }
    test(Kind::Packet);
}

#[test]
fn a_cut_cable_moves_the_traffic() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "active-backup"), ("primary", "eth0")], kind);
        let sockets = pair.sockets();
        assert_reach(&sockets, "the first datagram");
        while pair.events.try_recv().is_ok() {}
        pair.b.set_up("eth0", false);
        assert_reach(&sockets, "a datagram after the cut");
        let report = pair.teams[0].report().unwrap();
        let active: Vec<bool> = report.members.iter().map(|member| member.status.active).collect();
        assert_eq!(active, [false, true], "{kind}");
        assert_eq!(report.members[0].status.link_failures, 1);
        let mut active_changes = pair.events.try_iter().filter(|event| matches!(event, Event::Active { .. }));
        assert!(active_changes.next().is_some(), "{kind}: nobody was told");
        pair.b.set_up("eth0", true);
        eventually("the primary's return", || pair.teams[0].report().unwrap().members[0].status.active);
        assert_reach(&sockets, "a datagram after the return");
    });
}

#[test]
fn the_stack_sees_carrier_while_a_member_is_up() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-rr"), ("miimon", "10")], kind);
        assert!(pair.a.link("team0").carrier, "{kind}");
        pair.b.set_up("eth0", false);
        pair.b.set_up("eth1", false);
        eventually("the loss of carrier", || !pair.a.link("team0").carrier);
        pair.b.set_up("eth1", true);
        eventually("carrier", || pair.a.link("team0").carrier);
        assert_reach(&pair.sockets(), "a datagram by the member that is left");
    });
}

#[test]
fn members_follow_the_mtu_of_the_team() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-xor")], kind);
        let index = pair.a.index("team0");
        pair.a.netlink.set_mtu(index, 1400).unwrap();
        eventually("the members' MTU", || pair.a.link("eth0").mtu == 1400 && pair.a.link("eth1").mtu == 1400);
    });
}

#[test]
fn a_removed_team_gives_its_members_back() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let before = [a.link("eth0"), a.link("eth1")];
        let (unheard, _) = mpsc::channel();
        let with_mtu = TeamSpec { mtu: Some(1400), ..spec(&[("mode", "balance-rr")], kind) };
        let team = start(&a, with_mtu, unheard).unwrap();
        assert_eq!(a.link("eth1").mac, before[0].mac, "{kind}: members carry the team's address");
        assert_eq!(a.link("eth1").mtu, 1400);
        assert_eq!(a.link("team0").mtu, 1400);
        team.remove().unwrap();
        for link in before {
            let after = a.link(&link.name);
            assert_eq!((after.mac, after.mtu, after.up), (link.mac, link.mtu, link.up), "{kind}");
        }
        assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: the device is left");
        assert!(a.netlink.link("team0-dp").unwrap().is_none(), "{kind}: the end behind it is left");
    });
}

#[test]
fn a_member_that_vanishes_is_let_go() {
    on_each_dataplane(|kind| {
        let mut pair = Pair::new(&[("mode", "balance-rr")], kind);
        let index = pair.a.index("eth0");
        pair.a.netlink.delete(index).unwrap();
        eventually("one member", || pair.teams[0].report().unwrap().members.len() == 1);
        eventually("one member at the far end", || {
            let report = pair.teams[1].report().unwrap();
            report.members.iter().filter(|member| member.status.active).count() == 1
        });
        assert_reach(&pair.sockets(), "a datagram by the member that is left");
    });
}

#[test]
fn what_cannot_be_a_team_is_refused_and_nothing_is_left() {
    on_each_dataplane(|kind| {
        let (mut a, _b) = cabled();
        let (unheard, _) = mpsc::channel();
        let mut refuse = |spec: TeamSpec, words: &str| {
            let error = start(&a, spec, unheard.clone()).unwrap_err().to_string();
            assert!(error.contains(words), "{kind}: {error}");
            assert!(a.netlink.link("team0").unwrap().is_none(), "{kind}: a device is left");
        };
        let good = || spec(&[], kind);
        refuse(TeamSpec { members: vec!["nope".to_owned()], ..good() }, "no device `nope`");
        refuse(TeamSpec { members: Vec::new(), ..good() }, "no members");
        refuse(TeamSpec { members: vec!["eth0".to_owned(), "eth0".to_owned()], ..good() }, "member already");
        refuse(TeamSpec { name: "far-too-long-a-name".to_owned(), ..good() }, "cannot be a team's name");
        refuse(TeamSpec { name: "eth1".to_owned(), ..good() }, "exists and is no team");
    });
}
