//! balance-tlb and balance-alb on a host: a server with four members and four
//! clients on one plain bridge.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::common::{on_each_dataplane, spec, start};
use nicteam_daemon::{RunningTeam, TeamSpec};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, Switch, eventually};

const MEMBERS: usize = 4;
/// Questions of each client, and answers to each.
const QUESTIONS: u64 = 200;
/// Frames that are none of them: ARP, neighbour discovery, learning packets.
const OTHERS: u64 = 60;
const PORT: u16 = 7000;
/// Ports of the clients begin here; they are such that layer3+4 spreads them.
const CLIENT_PORT: u16 = 7168;

/// The addresses of a host: the server is 1, the clients are 11 to 14.
fn v4(host: u8) -> IpAddr {
    IpAddr::from([10, 2, 0, host])
}

fn v6(host: u8) -> IpAddr {
    IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(host)])
}

struct Net {
    server: Host,
    switch: Switch,
    clients: Vec<Host>,
    team: RunningTeam,
}

impl Net {
    fn new(options: &[(&str, &str)], kind: Kind) -> Net {
        let (mut server, mut switch) = (Host::new(), Switch::new());
        switch.join_all(&mut server, "eth", "s", MEMBERS);
        let mut clients = Vec::new();
        for number in 0..MEMBERS {
            let mut client = Host::new();
            switch.join(&mut client, "eth0", &format!("c{number}"));
            clients.push(client);
        }
        let members = (0..MEMBERS).map(|member| format!("eth{member}")).collect();
        let team = start(&server, TeamSpec { members, ..spec(options, kind) }).unwrap();
        address(&mut server, "team0", 1);
        for (number, client) in clients.iter_mut().enumerate() {
            address(client, "eth0", 11 + number as u8);
        }
        Net { server, switch, clients, team }
    }

    /// Frames received and sent by each member.
    fn counted(&self) -> Vec<(u64, u64)> {
        let members = self.team.report().unwrap().members;
        members.iter().map(|member| (member.counters.rx_frames, member.counters.tx_frames)).collect()
    }

    /// The clients talk to the server; what each member received and sent meanwhile.
    fn talk(&self, address: fn(u8) -> IpAddr) -> Vec<(u64, u64)> {
        let server = self.server.udp(SocketAddr::new(address(1), PORT));
        let sockets: Vec<UdpSocket> = self
            .clients
            .iter()
            .enumerate()
            .map(|(n, client)| {
                let number = 11 + n as u8;
                let socket =
                    client.udp(SocketAddr::new(address(number), CLIENT_PORT | u16::from(number ^ (2 * n as u8))));
                socket.connect(SocketAddr::new(address(1), PORT)).unwrap();
                socket
            })
            .collect();
        for socket in sockets.iter().chain([&server]) {
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        }
        sockets.iter().for_each(|socket| eventually("the first answer", || ask(socket, &server)));
        let before = self.counted();
        for socket in &sockets {
            for _ in 0..QUESTIONS {
                eventually("an answer", || ask(socket, &server));
            }
        }
        let since = || -> Vec<(u64, u64)> {
            let now = self.counted();
            now.iter().zip(&before).map(|(now, before)| (now.0 - before.0, now.1 - before.1)).collect()
        };
        // A frame is counted after it was sent, so its answer may be here first; an ARP frame or two may be among the sums.
        eventually("every frame is counted", || {
            let sums = since().iter().fold((0, 0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
            sums.0.min(sums.1) >= QUESTIONS * self.clients.len() as u64
        });
        std::thread::sleep(Duration::from_millis(20));
        since()
    }
}

fn address(host: &mut Host, device: &str, number: u8) {
    host.address(device, &[(&v4(number).to_string(), 24), (&v6(number).to_string(), 64)]);
}

/// A question and its answer; false if one was lost.
fn ask(client: &UdpSocket, server: &UdpSocket) -> bool {
    let mut buffer = [0; 8];
    if client.send(b"question").is_err() {
        return false;
    }
    let Ok((_, from)) = server.recv_from(&mut buffer) else { return false };
    server.send_to(b"answer", from).is_ok() && client.recv(&mut buffer).is_ok()
}

/// One client's frames and few others.
fn is_one_clients(frames: u64) -> bool {
    (QUESTIONS..QUESTIONS + OTHERS).contains(&frames)
}

#[test]
fn alb_receives_and_sends_by_every_member() {
    on_each_dataplane(|kind| {
        let net = Net::new(&[("mode", "balance-alb")], kind);
        for family in [v4, v6] {
            let carried = net.talk(family);
            for (member, (received, sent)) in carried.iter().enumerate() {
                assert!(is_one_clients(*received), "{kind}: member {member} received {received}: {carried:?}");
                assert!(is_one_clients(*sent), "{kind}: member {member} sent {sent}: {carried:?}");
            }
        }
        net.team.remove().unwrap();
    });
}

/// The clients that the server asks first hear the team's address, and their members' afterwards.
#[test]
fn alb_clients_that_are_asked_get_members_too() {
    on_each_dataplane(|kind| {
        let net = Net::new(&[("mode", "balance-alb")], kind);
        let server = net.server.udp(SocketAddr::new(v4(1), PORT));
        for number in 0..MEMBERS {
            server.send_to(b"hello", SocketAddr::new(v4(11 + number as u8), PORT)).unwrap();
        }
        let known = |client: &Host| {
            let table = client.netns.run(|| std::fs::read_to_string("/proc/thread-self/net/arp")).unwrap().unwrap();
            table.split_whitespace().find(|word| word.len() == 17).map(str::to_owned)
        };
        eventually("four addresses", || {
            let macs: BTreeSet<String> = net.clients.iter().filter_map(known).collect();
            macs.len() == MEMBERS
        });
        net.team.remove().unwrap();
    });
}

#[test]
fn tlb_sends_by_every_member_and_receives_by_one() {
    on_each_dataplane(|kind| {
        let net = Net::new(&[("mode", "balance-tlb"), ("primary", "eth2"), ("xmit_hash_policy", "layer3+4")], kind);
        let carried = net.talk(v4);
        for (member, (received, sent)) in carried.iter().enumerate() {
            let receives = if member == 2 { MEMBERS as u64 * QUESTIONS..u64::MAX } else { 0..1 };
            assert!(receives.contains(received), "{kind}: member {member} received {received}: {carried:?}");
            assert!(is_one_clients(*sent), "{kind}: member {member} sent {sent}: {carried:?}");
        }
        net.team.remove().unwrap();
    });
}

#[test]
fn alb_clients_follow_when_members_are_lost() {
    on_each_dataplane(|kind| {
        let mut net = Net::new(&[("mode", "balance-alb"), ("miimon", "20")], kind);
        net.talk(v4);
        net.talk(v6);
        // One that is not active, then the active one.
        for lost in ["s3", "s0"] {
            net.switch.set_up(lost, false);
            let down = if lost == "s3" { 3 } else { 0 };
            eventually("the loss", || net.team.report().unwrap().members[down].status.link_failures == 1);
            for family in [v4, v6] {
                let carried = net.talk(family);
                assert_eq!(carried[down], (0, 0), "{kind}: {carried:?}");
            }
        }
        let mac = net.server.link("team0").mac;
        assert!(net.server.link("eth1").mac == mac, "{kind}: the new active member has the team's address");
        net.team.remove().unwrap();
    });
}
