//! Mode stripe, live: two teams and one plain learning bridge between them.

use crate::common::striped::{Striped, peers};
use crate::common::{assert_reach, cabled, on_each_dataplane, spec, start};
use nicteam_daemon::{RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_sys::netns;
use nicteam_testnet::{Host, Switch, datagrams, eventually};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Two hosts with two links each into one switch.
fn net(kind: Kind) -> Striped {
    Striped::new(2, striping(kind))
}

/// Frames that each member of the first team sent.
fn sent(net: &Striped) -> Vec<u64> {
    net.teams[0].handle().status().unwrap().members.iter().map(|member| member.tx_frames).collect()
}

fn striping(kind: Kind) -> TeamSpec {
    spec(&[("mode", "stripe"), ("miimon", "10")], kind)
}

/// Sends datagrams, the next when the last has arrived.
#[track_caller]
fn send_each((from, to): &(UdpSocket, UdpSocket), count: u32) {
    let mut buffer = [0; 8];
    // On a busy machine one that is late is not lost.
    to.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    for number in 0..count {
        from.send(&number.to_be_bytes()).unwrap();
        assert!(to.recv(&mut buffer).is_ok(), "datagram {number} is lost");
    }
    to.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
}

#[test]
fn two_teams_use_all_links_and_leave_a_lost_one() {
    on_each_dataplane(|kind| {
        let mut net = net(kind);
        eventually("two paths", || net.has_paths(2));
        let sockets = net.sockets(7000);
        assert_reach(&sockets, "a datagram");
        // One flow, and all members carry it; their probes are counted with it. A path that seemed
        // longer, since a processor was late, is taken as soon as a probe was quicker.
        eventually("a flow on both members", || {
            let before = sent(&net);
            send_each(&sockets, 200);
            sent(&net).iter().zip(&before).all(|(after, before)| after - before >= 80)
        });

        let shown = show::text(&net.teams[0].handle().status().unwrap());
        let mac = &net.teams[1].handle().status().unwrap().mac;
        assert!(shown.contains(&format!("peer       {mac}: 2 of 2 paths work")), "{kind}: {shown}");
        assert!(shown.contains("hellos     not authenticated"), "{kind}: {shown}");

        // The far end's cable: nobody at the near end sees its carrier go.
        net.switch.set_up("b1", false);
        eventually("the rest carries", || !peers(&net.teams[0]).iter().any(|peer| peer.paths.is_empty()));
        assert_reach(&sockets, "a datagram over what is left");
        net.switch.set_up("b1", true);
        eventually("two paths again", || net.has_paths(2));
        assert_reach(&sockets, "a datagram over both");
    });
}

#[test]
fn who_does_not_stripe_is_reached_and_a_team_that_ends_is_forgotten() {
    on_each_dataplane(|kind| {
        let mut net = net(kind);
        let mut plain = Host::new();
        net.switch.join(&mut plain, "eth0", "plain");
        plain.address("eth0", &[("10.2.0.3", 24)]);
        let (near, far) = (SocketAddr::from(([10, 2, 0, 1], 7100)), SocketAddr::from(([10, 2, 0, 3], 7100)));
        let sockets = datagrams((&net.a, near), (&plain, far));
        assert_reach(&sockets, "a datagram to a plain host");
        eventually("two paths", || net.has_paths(2));
        net.teams.pop().unwrap().remove().unwrap();
        eventually("no paths", || peers(&net.teams[0]).iter().all(|peer| peer.working() == 0));
        eventually("no peers", || peers(&net.teams[0]).is_empty());
        let shown = show::text(&net.teams[0].handle().status().unwrap());
        assert!(shown.contains("peers      none: no other team on this segment uses stripe"), "{kind}: {shown}");
        assert_reach(&sockets, "a datagram to a plain host, as before");
    });
}

/// Two hosts whose members meet in these switches, one a segment, and a plain host at each.
struct Segments {
    hosts: [Host; 2],
    plain: Vec<Host>,
    _switches: [Switch; 3],
    teams: Vec<RunningTeam>,
}

impl Segments {
    /// `places`: by host, the segment of each member.
    fn new(kind: Kind, places: [[usize; 3]; 2], with_plain: bool) -> Segments {
        let mut switches = [(); 3].map(|()| Switch::new());
        let mut hosts = [Host::new(), Host::new()];
        let mut plain = Vec::new();
        for (number, (host, places)) in hosts.iter_mut().zip(places).enumerate() {
            for (n, segment) in places.into_iter().enumerate() {
                switches[segment].join(host, &format!("eth{n}"), &format!("h{number}n{n}"));
            }
        }
        for (n, switch) in switches.iter_mut().enumerate().filter(|(n, _)| with_plain && places[0].contains(n)) {
            let mut host = Host::new();
            switch.join(&mut host, "eth0", "plain");
            host.address("eth0", &[(&format!("10.2.0.{}", 10 + n), 24)]);
            plain.push(host);
        }
        let members = ["eth0", "eth1", "eth2"].map(str::to_owned).to_vec();
        let spec = TeamSpec { members, ..striping(kind) };
        let teams: Vec<RunningTeam> = hosts.iter().map(|host| start(host, spec.clone()).unwrap()).collect();
        for (n, host) in hosts.iter_mut().enumerate() {
            host.address("team0", &[(&format!("10.2.0.{}", 1 + n), 24)]);
        }
        Segments { hosts, plain, _switches: switches, teams }
    }
}

/// Takes so many numbers, and whatever comes on top of them soon; in order.
fn numbers(socket: &UdpSocket, least: usize) -> Vec<u32> {
    let (mut numbers, mut buffer) = (Vec::new(), [0; 4]);
    let mut take = |numbers: &mut Vec<u32>| match socket.recv(&mut buffer) {
        Ok(4) => numbers.push(u32::from_be_bytes(buffer)),
        other => assert!(other.is_err(), "{other:?}"),
    };
    eventually("all numbers", || {
        take(&mut numbers);
        numbers.len() >= least
    });
    (0..3).for_each(|_| take(&mut numbers));
    numbers.sort_unstable();
    numbers
}

#[test]
fn broadcasts_come_once_and_addresses_are_resolved_on_any_segments() {
    on_each_dataplane(|kind| {
        // Three cables, crossed; two switches, with somebody else on each; one switch.
        for (places, plain) in [([[0, 1, 2], [2, 0, 1]], false), ([[0, 0, 1], [0, 1, 1]], true), ([[0; 3]; 2], true)] {
            let net = Segments::new(kind, places, plain);
            let knows = |team: &RunningTeam| matches!(&peers(team)[..], [peer] if peer.working() >= 3);
            eventually("three paths", || net.teams.iter().all(knows));
            let segments = |of: [usize; 3]| of.into_iter().collect::<std::collections::BTreeSet<_>>().len();
            let found = |team: &RunningTeam| team.handle().status().unwrap().segments.len();
            eventually("all segments", || (0..2).all(|n| found(&net.teams[n]) == segments(places[n])));
            // Nobody knows anybody's address yet, and each asks.
            for (from, to) in [(0, 1), (1, 0)] {
                let address = |n: usize| SocketAddr::from(([10, 2, 0, 1 + n as u8], 7200));
                let sockets = datagrams((&net.hosts[from], address(from)), (&net.hosts[to], address(to)));
                assert_reach(&sockets, &format!("{kind}: a datagram, {places:?}"));
            }
            let any = SocketAddr::from(([0, 0, 0, 0], 7300));
            let listeners: Vec<UdpSocket> = net.hosts.iter().chain(&net.plain).map(|host| host.udp(any)).collect();
            for listener in &listeners {
                listener.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            }
            for (from, sender) in listeners.iter().take(2).enumerate() {
                sender.set_broadcast(true).unwrap();
                for number in 0..20_u32 {
                    let all = SocketAddr::from(([10, 2, 0, 255], 7300));
                    sender.send_to(&number.to_be_bytes(), all).unwrap();
                }
                let all: Vec<u32> = (0..20).collect();
                for (to, listener) in listeners.iter().enumerate() {
                    // The stack itself gives a broadcast back to who sent it, once.
                    assert_eq!(numbers(listener, all.len()), all, "{kind}, {places:?}: from {from} to {to}");
                }
            }
        }
    });
}

#[test]
fn a_key_is_shared_or_there_is_no_peer_and_nobody_sees_it() {
    const KEY: &str = "a-key-of-this-test-alone";
    on_each_dataplane(|kind| {
        let net = net(kind);
        let set = |team: usize, key: &str| {
            let changed = net.teams[team].handle().set(vec![("stripe_key".to_owned(), key.to_owned())]).unwrap();
            assert!(!format!("{changed:?}").contains(KEY) && changed.len() == 1, "{changed:?}");
        };
        eventually("two paths", || net.has_paths(2));
        set(0, KEY);
        let parted = || net.teams.iter().all(|team| peers(team).iter().all(|peer| peer.working() == 0));
        eventually("they part", parted);
        let says = |team: usize, words: &str| {
            let problems = net.teams[team].handle().status().unwrap().problems;
            problems.iter().any(|problem| problem.text.contains(words))
        };
        eventually("both say why", || {
            says(0, "has another stripe_key than this team, or none") && says(1, "but this team has no stripe_key")
        });
        set(1, KEY);
        eventually("two paths again", || net.has_paths(2));
        assert_reach(&net.sockets(7000), "a datagram");
        for team in &net.teams {
            let status = team.handle().status().unwrap();
            let shown = show::text(&status) + &show::json(&status);
            assert!(shown.contains("authenticated by stripe_key"), "{kind}: {shown}");
            assert!(!shown.contains(KEY) && shown.contains("(hidden)"), "{kind}: {shown}");
            assert!(status.hellos.is_some_and(|hellos| hellos.authenticated));
            let events = format!("{:?}", team.handle().journal());
            assert!(!events.contains(KEY), "{kind}: {events}");
        }
    });
}

#[test]
fn while_a_team_stripes_tcp_counts_the_last_round_trip() {
    on_each_dataplane(|kind| {
        let (a, _b) = cabled();
        let wlen = || a.netns.run(|| netns::read_sysctl("ipv4/tcp_min_rtt_wlen").unwrap()).unwrap();
        let team = start(&a, striping(kind)).unwrap();
        assert_eq!(wlen(), "0", "{kind}");
        let set = |options: &[(&str, &str)]| {
            let owned = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            team.handle().set(owned).unwrap();
        };
        set(&[("tcp_min_rtt_wlen", "7")]);
        assert_eq!(wlen(), "7", "{kind}");
        set(&[("tcp_min_rtt_wlen", "keep")]);
        assert_eq!(wlen(), "300", "{kind}");
        set(&[("tcp_min_rtt_wlen", "0")]);
        assert_eq!(wlen(), "0", "{kind}");
        team.remove().unwrap();
        assert_eq!(wlen(), "300", "{kind}: the team is gone");
    });
}
