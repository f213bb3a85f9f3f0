//! Impaired links, live: what is declared is what frames meet.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nicteam_netlink::Netlink;
use nicteam_sys::netns::NetNs;
use nicteam_testnet::{Host, eventually, may_make_networks};

use crate::common::lab::{Folder, children_of, is_alive};

/// A link that does nothing, one that delays, and one that loses.
const FILE: &str = r#"
title = "Three impaired links"
defaults.granularity = "packets"
[hosts]
a = {}
b = {}
c = {}
d = {}
e = {}
f = {}
[impairments]
line = {}
far = { delay = "5ms" }
lossy = { loss = "5%" }
[[links]]
between = ["a", "b"]
impair = "line"
[[links]]
between = ["c", "d"]
impair = "far"
[[links]]
between = ["e", "f"]
impair = "lossy"
impair_back = "line"
[workloads.copy]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "r"
workloads = "copy"
"#;

/// The topology of [`FILE`], held by a lab of its own; both go with this value.
struct Lab {
    process: Child,
    /// With the file, and the socket that a killed lab leaves.
    _folder: Folder,
    /// Each host, by its letter.
    hosts: Vec<(String, Host)>,
    /// Every process of the lab's.
    agents: Vec<u32>,
}

impl Lab {
    fn up(name: &str) -> Lab {
        let folder = Folder::new(&format!("impaired-{name}"));
        std::fs::write(folder.path("lab.toml"), FILE).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_nicteam"))
            .args(["lab", "up", "--json"])
            .arg(folder.path("lab.toml"))
            .env("XDG_RUNTIME_DIR", &folder.0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let built: serde_json::Value = serde_json::from_str(&said).unwrap();
        let host = |(name, pid): (&String, &serde_json::Value)| {
            let netns = NetNs::of_process(pid.as_u64().unwrap() as u32).unwrap();
            let netlink = netns.run(Netlink::open).unwrap().unwrap();
            (name.clone(), Host { netns, netlink })
        };
        let hosts = built["pids"].as_object().unwrap().iter().map(host).collect();
        let agents = children_of(process.id());
        Lab { process, _folder: folder, hosts, agents }
    }

    fn host(&mut self, name: &str) -> &mut Host {
        &mut self.hosts.iter_mut().find(|(known, _)| known == name).unwrap().1
    }

    /// Sockets of two hosts, each connected to the other.
    fn sockets(&mut self, one: &str, other: &str) -> [UdpSocket; 2] {
        let place = |name: &str| name.as_bytes()[0] - b'a' + 1;
        let address = |name: &str| SocketAddr::from(([10, 0, 0, place(name)], 5001));
        [(one, other), (other, one)].map(|(name, peer)| {
            let socket = self.host(name).udp(address(name));
            socket.connect(address(peer)).unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            socket
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Round trips of as many datagrams, one after the other.
fn round_trips(sockets: &[UdpSocket; 2], count: usize) -> Vec<Duration> {
    let [one, other] = sockets;
    let mut buffer = [0; 16];
    let mut trips = Vec::new();
    eventually("the round trips", || {
        let start = Instant::now();
        one.send(&[0; 16]).unwrap();
        if other.recv(&mut buffer).is_ok() {
            other.send(&buffer).unwrap();
            trips.extend(one.recv(&mut buffer).ok().map(|_| start.elapsed()));
        }
        trips.len() >= count
    });
    trips.sort_unstable();
    trips
}

/// How many of so many datagrams arrive.
fn arrivals(from: &UdpSocket, to: &UdpSocket, count: u32) -> u32 {
    let newest = AtomicU32::new(0);
    let receive = || {
        let (mut arrived, mut buffer) = (0, [0; 16]);
        to.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        while let Ok(length) = to.recv(&mut buffer) {
            // A round trip that came too late for its measurement has another length.
            if let Some(number) = buffer[..length].first_chunk().filter(|_| length == 4) {
                arrived += 1;
                newest.store(u32::from_be_bytes(*number), Ordering::Relaxed);
            }
        }
        arrived
    };
    std::thread::scope(|scope| {
        let received = scope.spawn(receive);
        for number in 0..count {
            // A socket's buffer holds a few hundred: one that is full would count as a lossy link.
            let start = Instant::now();
            while number > newest.load(Ordering::Relaxed) + 100 && start.elapsed() < Duration::from_millis(500) {
                std::thread::sleep(Duration::from_millis(1));
            }
            from.send(&number.to_be_bytes()).unwrap();
        }
        received.join().unwrap()
    })
}

#[test]
fn delay_and_loss_are_as_declared() {
    if !may_make_networks() {
        return;
    }
    let mut lab = Lab::up("declared");
    let (line, far, lossy) = (lab.sockets("a", "b"), lab.sockets("c", "d"), lab.sockets("e", "f"));
    let (clean, delayed) = (round_trips(&line, 40), round_trips(&far, 40));
    assert!(delayed[0] >= Duration::from_millis(10), "a round trip of {:?} over twice 5 ms", delayed[0]);
    // The shortest of many: a busy machine makes some longer.
    let ratio = delayed[0].as_secs_f64() / clean[0].as_secs_f64();
    assert!(ratio > 2.0, "{:?} beside {:?} without delay", delayed[0], clean[0]);

    // The neighbours know each other now, or the first frames would wait for that.
    round_trips(&lossy, 1);
    const SENT: u32 = 4000;
    assert_eq!(arrivals(&line[0], &line[1], SENT), SENT);
    assert_eq!(arrivals(&lossy[1], &lossy[0], SENT), SENT, "nothing is declared for the way back");
    let lost = SENT - arrivals(&lossy[0], &lossy[1], SENT);
    // Five standard deviations of a binomial distribution.
    let (mean, deviation) = (f64::from(SENT) * 0.05, (f64::from(SENT) * 0.05 * 0.95).sqrt());
    assert!((f64::from(lost) - mean).abs() <= 5.0 * deviation, "{lost} of {SENT} lost, not about {mean}");
}

#[test]
fn a_cut_is_seen_at_both_ends_and_killing_the_lab_leaves_nothing() {
    if !may_make_networks() {
        return;
    }
    let mut lab = Lab::up("cut");
    for (near, far) in [("a", "b"), ("d", "c")] {
        let sockets = lab.sockets(near, far);
        assert!(lab.host(far).link("eth0").carrier);
        for _ in 0..2 {
            lab.host(near).set_up("eth0", false);
            eventually("the loss of carrier at the other end", || !lab.host(far).link("eth0").carrier);
            lab.host(near).set_up("eth0", true);
            eventually("the return of carrier", || {
                lab.host(far).link("eth0").carrier && lab.host(near).link("eth0").carrier
            });
            round_trips(&sockets, 3);
        }
        // Both ends down; the one that comes back first has no carrier.
        lab.host(near).set_up("eth0", false);
        lab.host(far).set_up("eth0", false);
        lab.host(near).set_up("eth0", true);
        eventually("no carrier towards an end that is down", || !lab.host(near).link("eth0").carrier);
        lab.host(far).set_up("eth0", true);
        round_trips(&sockets, 3);
    }
    assert_eq!(lab.agents.len(), 7, "six hosts and what stands between them");
    lab.process.kill().unwrap();
    lab.process.wait().unwrap();
    eventually("the end of all agents", || !lab.agents.iter().any(|pid| is_alive(*pid)));
}
