//! Mode stripe, live, and a host that knows nothing of it: members that are silent.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::common::{spec, start};
use nicteam_daemon::{Happened, RunningTeam, TeamSpec, show};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, SetAtEnd, Switch, eventually, may_make_networks};

const MEMBERS: usize = 3;
const PLAIN: ([u8; 4], u16) = ([10, 2, 0, 9], 7000);

/// The members' states towards hosts without nicteam.
fn states(team: &RunningTeam) -> Vec<String> {
    let one_sided = team.handle().status().unwrap().one_sided;
    one_sided.map(|of| of.members.into_iter().map(|member| member.state).collect()).unwrap_or_default()
}

/// The addresses of others that a host has in its ARP table.
fn neighbours(host: &Host) -> Vec<String> {
    let table = host.netns.run(|| std::fs::read_to_string("/proc/thread-self/net/arp")).unwrap().unwrap();
    table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Writes a little, often, until it is told to end; the other side reads.
fn stream(from: &Host, to: &Host, end: &AtomicBool, during: impl FnOnce()) {
    let address = SocketAddr::from(PLAIN);
    let listener = to.netns.run(|| TcpListener::bind(address)).unwrap().unwrap();
    let mut sender = from.netns.run(|| TcpStream::connect(address)).unwrap().unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    sender.set_nodelay(true).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut buffer = [0; 65_536];
            while receiver.read(&mut buffer).is_ok_and(|read| read > 0) {}
        });
        scope.spawn(move || {
            while !end.load(Relaxed) {
                sender.write_all(&[7; 20_000]).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let _ending = SetAtEnd(end);
        during();
    });
}

#[test]
fn a_member_that_passes_nothing_is_left_and_used_again() {
    if !may_make_networks() {
        return;
    }
    if let (Kind::Packet, reason) = nicteam_dataplane::probe() {
        return eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default());
    }
    let (mut server, mut plain, mut switch) = (Host::new(), Host::new(), Switch::new());
    switch.join_all(&mut server, "eth", "s", MEMBERS);
    switch.join(&mut plain, "eth0", "plain");
    plain.address("eth0", &[("10.2.0.9", 24)]);
    let members = (0..MEMBERS).map(|n| format!("eth{n}")).collect();
    let spec = TeamSpec { members, ..spec(&[("mode", "stripe"), ("miimon", "10")], Kind::Bpf) };
    let team = start(&server, spec).unwrap();
    server.address("team0", &[("10.2.0.1", 24)]);
    let end = AtomicBool::new(false);
    stream(&server, &plain, &end, || {
        eventually("the host is asked", || {
            let one_sided = team.handle().status().unwrap().one_sided;
            one_sided.is_some_and(|of| of.hosts.iter().any(|host| host.asked && host.addresses == ["10.2.0.9"]))
        });
        assert_eq!(states(&team), ["used"; MEMBERS]);
        // The second and the active one.
        for silent in [1, 0] {
            switch.set_passing(&format!("s{silent}"), false);
            eventually("it is left", || states(&team)[silent] == "silent");
            let status = team.handle().status().unwrap();
            let is_other = |other: usize| other == silent || states(&team)[other] == "used";
            assert!((0..MEMBERS).all(is_other), "{:?}", status.one_sided);
            assert_ne!(status.active, Some(format!("eth{silent}")));
            let shown = show::text(&status);
            assert!(shown.contains(&format!("eth{silent} is left towards hosts without nicteam: for ")), "{shown}");
            assert!(shown.contains("10.2.0.9"), "{shown}");
            switch.set_passing(&format!("s{silent}"), true);
            eventually("it is used again", || states(&team)[silent] == "used");
        }
    });
    assert_eq!(neighbours(&plain), ["10.2.0.1"], "probes leave nothing in the ARP table");
    let texts = team.handle().journal().after(0).into_iter().filter_map(|entry| match entry.happened {
        Happened::OneSided { member, text } => Some(format!("{member} {text}")),
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    assert!(texts.len() >= 4, "{texts:?}");
    assert!(texts[0].starts_with("eth1 is silent: 10.2.0.9 ("), "{texts:?}");
    assert!(texts[1].starts_with("eth1 is used again after "), "{texts:?}");
    team.remove().unwrap();
}
