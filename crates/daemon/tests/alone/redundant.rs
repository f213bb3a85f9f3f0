//! `redundant`, live: two teams and one plain learning bridge between them, and
//! what its users are promised: nothing lost, nothing twice.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::striped::Striped;
use crate::common::{assert_reach, on_each_dataplane, spec, start};
use nicteam_daemon::{RedundantState, RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_testnet::eventually;

/// Of each team.
const MEMBERS: usize = 2;
/// In the class.
const PORT: u16 = 7000;
const MTU: u32 = 1500;
const TAG: u32 = 6;

/// Two hosts with two links each into one switch, and all paths between them.
fn net(kind: Kind, redundant: &str) -> Striped {
    let net = Striped::new(MEMBERS, striping(kind, redundant));
    net.wait_for_all_paths();
    net
}

impl Striped {
    fn wait_for_all_paths(&self) {
        eventually("all paths work", || self.teams.iter().all(has_all_paths));
    }

    /// Until both know of a fault and have others paths than these. One more
    /// fault before that would be two at a time, on both links.
    fn wait_until_noticed(&self, before: &[BTreeSet<String>]) {
        let know = || self.teams.iter().zip(before).all(|(team, before)| working(team) != *before);
        eventually("the fault is noticed", know);
    }

    fn working(&self) -> Vec<BTreeSet<String>> {
        self.teams.iter().map(working).collect()
    }

    /// Until datagrams are numbered: the plan with the paths is a moment later than they are found.
    fn reach_numbered(&self, sockets: &(UdpSocket, UdpSocket)) {
        eventually("a numbered datagram", || {
            assert_reach(sockets, "a datagram");
            self.counted(0).sent > 0
        });
    }

    /// What a team says of its only peer.
    fn counted(&self, team: usize) -> RedundantState {
        let peers = self.teams[team].handle().status().unwrap().peers;
        let none = RedundantState { sent: 0, received: 0, duplicates: 0 };
        peers.first().and_then(|peer| peer.redundant.clone()).unwrap_or(none)
    }
}

/// The paths to the only peer that work.
fn working(team: &RunningTeam) -> BTreeSet<String> {
    let peers = team.handle().status().unwrap().peers;
    let paths = peers.iter().flat_map(|peer| &peer.paths).filter(|path| path.works);
    paths.map(|path| format!("{} to {}", path.member, path.to)).collect()
}

/// Paths by all members, to all members, and no others, which come and go after a fault: with them
/// the first copy may take a path that no second one is without a common end to.
fn has_all_paths(team: &RunningTeam) -> bool {
    let paths = working(team);
    let ends: BTreeSet<&str> = paths.iter().flat_map(|path| path.split(" to ")).collect();
    ends.len() == 2 * MEMBERS && paths.len() == MEMBERS
}

fn striping(kind: Kind, redundant: &str) -> TeamSpec {
    spec(&[("mode", "stripe"), ("miimon", "10"), ("redundant", redundant)], kind)
}

/// Sends numbers, one each millisecond, until `stop`; how many.
fn send_numbers(socket: &UdpSocket, next: &AtomicU32, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        let number = next.load(Relaxed);
        // Refused while the team has no carrier, which it never is here.
        socket.send(&number.to_be_bytes()).unwrap();
        next.store(number + 1, Relaxed);
        thread::sleep(Duration::from_millis(1));
    }
}

/// What arrives until nothing has for a while after `stop`, and the longest time between two.
fn take_numbers(socket: &UdpSocket, stop: &AtomicBool) -> (Vec<u32>, Duration) {
    let (mut numbers, mut buffer, mut silences) = (Vec::new(), [0; 4], 0);
    let (mut last, mut longest) = (None::<Instant>, Duration::ZERO);
    while silences < 25 {
        match socket.recv(&mut buffer) {
            Ok(_) => {
                numbers.push(u32::from_be_bytes(buffer));
                longest = last.map_or(longest, |last| longest.max(last.elapsed()));
                last = Some(Instant::now());
                silences = 0;
            }
            Err(_) => silences += u32::from(stop.load(Relaxed)),
        }
    }
    (numbers, longest)
}

#[test]
fn nothing_is_lost_or_doubled_when_cables_are_pulled_and_links_fall_silent() {
    on_each_dataplane(|kind| {
        let mut net = net(kind, &format!("udp:{PORT}"));
        let sockets = net.sockets(PORT);
        assert_reach(&sockets, "a datagram");
        while sockets.1.recv(&mut [0; 64]).is_ok() {}
        let (stop, next) = (AtomicBool::new(false), AtomicU32::new(0));
        let mut faults = Vec::new();
        let (mut arrived, longest) = thread::scope(|scope| {
            let sender = scope.spawn(|| send_numbers(&sockets.0, &next, &stop));
            let taker = scope.spawn(|| take_numbers(&sockets.1, &stop));
            let mut note = |what: &str, port: &str| faults.push(format!("{port} {what} at {}", next.load(Relaxed)));
            for port in ["a1", "b1", "a0", "b0"] {
                let before = net.working();
                note("pulled", port);
                net.switch.set_up(port, false);
                net.wait_until_noticed(&before);
                note("plugged in", port);
                net.switch.set_up(port, true);
                net.wait_for_all_paths();
                // The link is up, and the switch passes nothing.
                let before = net.working();
                note("silent", port);
                net.switch.set_passing(port, false);
                net.wait_until_noticed(&before);
                note("heard", port);
                net.switch.set_passing(port, true);
                net.wait_for_all_paths();
            }
            stop.store(true, Relaxed);
            sender.join().unwrap();
            taker.join().unwrap()
        });
        let sent = next.load(Relaxed);
        arrived.sort_unstable();
        let expected: Vec<u32> = (0..sent).collect();
        let lost: Vec<&u32> = expected.iter().filter(|number| arrived.binary_search(number).is_err()).collect();
        let doubled = arrived.len() + lost.len() - expected.len();
        assert!(lost.is_empty() && doubled == 0, "{kind}: of {sent}, {doubled} twice, lost {lost:?}; {faults:?}");

        eprintln!("{kind}: of {sent} datagrams none lost, none twice; at most {longest:?} between two; {faults:?}");

        let (near, far) = (net.counted(0), net.counted(1));
        assert!(near.sent >= u64::from(sent) && far.received == near.sent, "{kind}: {near:?} {far:?}");
        assert!(far.duplicates > far.received / 10 && far.duplicates < far.received, "{kind}: {far:?}");
        let shown = show::text(&net.teams[1].handle().status().unwrap());
        let line = format!("redundant: {} frames sent, {} received", far.sent, far.received);
        assert!(shown.contains(&line), "{kind}: {shown}");
    });
}

#[test]
fn only_its_class_goes_twice_and_the_mtu_has_room() {
    on_each_dataplane(|kind| {
        let net = net(kind, &format!("udp:{PORT}"));
        let (in_class, beside) = (net.sockets(PORT), net.sockets(PORT + 1));
        assert_reach(&beside, "a datagram of no class");
        assert_eq!(net.counted(0).sent, 0, "{kind}");
        net.reach_numbered(&in_class);
        while in_class.1.recv(&mut [0; 64]).is_ok() {}
        let before = net.counted(0).sent;

        let mtu = net.teams[0].handle().status().unwrap().mtu;
        assert_eq!(mtu, MTU - TAG);
        // As long as the MTU allows: with the tag as long as the members' allows.
        let longest = vec![7; mtu as usize - 28];
        in_class.0.send(&longest).unwrap();
        let mut buffer = [0; 2000];
        assert_eq!(in_class.1.recv(&mut buffer).unwrap(), longest.len(), "{kind}");
        assert_eq!(net.counted(0).sent, before + 1, "{kind}");

        // Off: its MTU again, and no tags.
        let handle = net.teams[0].handle();
        handle.set(vec![("redundant".to_owned(), "off".to_owned())]).unwrap();
        assert_eq!(handle.status().unwrap().mtu, MTU);
        assert_reach(&in_class, "a datagram that goes once");
        assert_eq!(net.counted(0).sent, before + 1, "{kind}");
        handle.set(vec![("redundant".to_owned(), "all".to_owned())]).unwrap();
        assert_eq!(handle.status().unwrap().mtu, MTU - TAG);
        assert_reach(&beside, "a datagram of any kind");
        assert!(net.counted(0).sent > before + 1, "{kind}");
    });
}

#[test]
fn gso_frames_of_the_class_are_cut_before() {
    on_each_dataplane(|kind| {
        let mut net = net(kind, &format!("tcp:{PORT}"));
        let listener = net.b.netns.run(|| std::net::TcpListener::bind(("10.2.0.2", PORT)).unwrap()).unwrap();
        const BYTES: usize = 4 << 20;
        let received = thread::spawn(move || {
            let (mut stream, mut all) = (listener.accept().unwrap().0, Vec::with_capacity(BYTES));
            stream.read_to_end(&mut all).unwrap();
            all
        });
        let content: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
        let mut stream = net.a.netns.run(|| std::net::TcpStream::connect(("10.2.0.2", PORT)).unwrap()).unwrap();
        let (first, second) = content.split_at(BYTES / 2);
        stream.write_all(first).unwrap();
        net.switch.set_up("b1", false);
        stream.write_all(second).unwrap();
        drop(stream);
        assert!(received.join().unwrap() == content, "{kind}: other bytes arrived");
        let counted = net.counted(0);
        // Each as long as the MTU allows at most.
        assert!(counted.sent >= (BYTES / MTU as usize) as u64, "{kind}: {counted:?}");
    });
}

#[test]
fn a_team_whose_process_dies_goes_on_and_the_next_one_counts_on() {
    on_each_dataplane(|kind| {
        if kind == Kind::Packet {
            return;
        }
        let mut net = net(kind, "all");
        let sockets = net.sockets(PORT);
        net.reach_numbered(&sockets);
        let before = net.counted(0).sent;
        drop(net.teams.remove(0));
        assert_reach(&sockets, "a datagram without the process");
        net.teams.insert(0, start(&net.a, striping(kind, "all")).unwrap());
        net.wait_for_all_paths();
        let after = net.counted(0);
        assert!(after.sent > before, "{before}, then {after:?}");
        // The plan with the new process's paths is a moment later than they are found.
        eventually("a numbered datagram after it", || {
            assert_reach(&sockets, "a datagram after it");
            net.counted(0).sent > before + 1
        });
        assert_eq!(net.teams[0].handle().status().unwrap().mtu, MTU - TAG);
    });
}
