//! A striping team with a key on a hostile wire: random bytes and mutated hellos,
//! LACPDUs, markers and ARP, at 1,000 and at 100,000 frames a second.
//!
//! A sample of a few seconds; `NICTEAM_SOAK_SECONDS` says how long else, at both
//! rates together (`make soak`: an hour). `NICTEAM_SEED` takes other frames.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::teams::{TeamHost, may_test_bpf};
use nicteam_load::cpu;
use nicteam_sys::packet::{BATCH, Batch, Offload, Outgoing, PacketSocket, Received};
use nicteam_sys::sched;
use nicteam_testnet::{Host, SetAtEnd, Switch, eventually};
use nicteam_wire::{Arp, Hello, HelloKind, Lacpdu, Mac, Marker, MarkerKind, PortInfo};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;
use serde_json::Value;

/// Links of each host.
const LINKS: usize = 2;
/// How long the sample floods at each rate, unless `NICTEAM_SOAK_SECONDS` says otherwise.
const SAMPLE: Duration = Duration::from_secs(2);
/// The processor of the team's process, and that of who floods.
const OF_TEAM: usize = 0;
const OF_FLOOD: usize = 1;
/// Between two looks at the team.
const LOOK: Duration = Duration::from_millis(250);
/// Batches of frames that are there at once; one of them is made anew each round.
const POOL: usize = 32;

/// Two hosts with a team each and a plain bridge between them; the first is flooded.
struct Net {
    a: TeamHost,
    b: TeamHost,
    switch: Switch,
    pid: u32,
}

/// What was seen during a flood.
#[derive(Debug, Default)]
struct Seen {
    frames: u64,
    /// Of a processor: the team's process, and one that would take it whole.
    team: f64,
    ordinary: f64,
    /// Datagrams.
    sent: u32,
    lost: Vec<u32>,
    /// Looks at which a path did not work, and what the first of them saw.
    broken: u32,
    example: String,
    plans: u64,
}

impl Net {
    fn new() -> Net {
        let (mut a, mut b, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
        switch.join_all(&mut a, "eth", "a", LINKS);
        switch.join_all(&mut b, "eth", "b", LINKS);
        let (mut a, mut b) = (TeamHost::new(a), TeamHost::new(b));
        for (team, address) in [(&mut a, "10.2.0.1"), (&mut b, "10.2.0.2")] {
            let options = ["-o", "stripe_key=nicteam-hostile-test", "--dataplane", "bpf"];
            team.run(&[&["add", "team0", "--mode", "stripe", "--members", "eth0,eth1"][..], &options].concat());
            team.host.address("team0", &[(address, 24)]);
        }
        let pid = a.status("team0")["pid"].as_u64().unwrap() as u32;
        keep_process_to(pid, OF_TEAM);
        let net = Net { a, b, switch, pid };
        eventually("all paths", || net.all_work());
        net
    }

    fn all_work(&self) -> bool {
        self.broken().is_empty()
    }

    /// What a host says of its peers, for each host that has not all paths.
    fn broken(&self) -> String {
        let hosts = [("a", &self.a), ("b", &self.b)].map(|(name, host)| (name, host.status("team0")));
        let broken = hosts.iter().filter(|(_, status)| !paths_work(status));
        broken.map(|(name, status)| format!("{name}: {}\n", status["peers"])).collect()
    }

    /// Hellos that the first host's member receives.
    fn captured(&mut self, device: &str) -> Vec<Vec<u8>> {
        let socket = self.a.host.packet_socket(device);
        let (mut batch, mut frames) = (Batch::new(), Vec::new());
        eventually("a few hundred hellos", || {
            socket.receive(&mut batch).unwrap();
            let hellos = batch.frames().filter(|frame| frame.bytes[12..14] == [0x88, 0xb5]);
            frames.extend(hellos.map(|frame| frame.bytes.to_vec()));
            frames.len() >= 300
        });
        frames
    }

    /// Floods the first host at this rate, while datagrams go to it and from it.
    fn flooded(&mut self, what: What, seed: u64, frames_per_s: u64, duration: Duration) -> Seen {
        let datagrams = Datagrams::new(&self.a.host, &self.b.host);
        let (done, ordinary, frames) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let (floods, macs): (Vec<PacketSocket>, Vec<Mac>) = (0..LINKS)
            .map(|n| (self.switch.host.packet_socket(&format!("a{n}")), Mac(self.a.host.link(&format!("eth{n}")).mac)))
            .unzip();
        let mut seen = Seen::default();
        thread::scope(|scope| {
            let ends = SetAtEnd(&done);
            // There is traffic, so that probes are among what is captured.
            let sending = scope.spawn(|| datagrams.send(&done));
            let hearing = scope.spawn(|| datagrams.heard(&done));
            let real: Vec<Vec<Vec<u8>>> = (0..LINKS).map(|n| self.captured(&format!("eth{n}"))).collect();
            let (ordinary, frames, done) = (&ordinary, &frames, &done);
            scope.spawn(move || take_a_processor(ordinary, done));
            let flood = Flood { what, random: seed, frames_per_s, real, macs };
            scope.spawn(move || flood.run(&floods, frames, done));
            thread::sleep(LOOK);
            let generation = |status: &Value| status["generation"].as_u64().unwrap();
            let first = self.a.status("team0");
            let measure =
                || (cpu::process_time(self.pid).unwrap().unwrap(), ordinary.load(Relaxed), frames.load(Relaxed));
            let (start, (team, taken, flooded)) = (Instant::now(), measure());
            while start.elapsed() < duration {
                thread::sleep(LOOK);
                let broken = self.broken();
                seen.broken += u32::from(!broken.is_empty());
                if seen.example.is_empty() {
                    seen.example = broken;
                }
            }
            let (elapsed, (team_after, taken_after, flooded_after)) = (start.elapsed().as_secs_f64(), measure());
            seen.plans = generation(&self.a.status("team0")) - generation(&first);
            drop(ends);
            seen.team = (team_after - team).as_secs_f64() / elapsed;
            seen.ordinary = (taken_after - taken) as f64 / 1e9 / elapsed;
            seen.frames = flooded_after - flooded;
            seen.sent = sending.join().unwrap();
            let heard = hearing.join().unwrap();
            seen.lost = (0..seen.sent).filter(|number| !heard.contains(number)).collect();
        });
        eprintln!(
            "{what:?}, {frames_per_s} frames/s for {:.0} s: {} sent; team's process {:.3} of a core, an ordinary one on it {:.3}; \
             {} of {} datagrams lost; {} looks at paths that do not work, {} plans{}{}",
            duration.as_secs_f64(),
            seen.frames,
            seen.team,
            seen.ordinary,
            seen.lost.len(),
            seen.sent,
            seen.broken,
            seen.plans,
            if seen.example.is_empty() { "" } else { "; first " },
            seen.example
        );
        seen
    }
}

#[test]
fn a_hostile_wire_costs_no_path_no_frame_and_little_time() {
    if !may_test_bpf() {
        return;
    }
    if cpu::count() < 2 {
        eprintln!("SKIPPED: needs two processors");
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("NICTEAM_SEED").unwrap_or(0x6e69_6374_6561_6d00);
    let each = number("NICTEAM_SOAK_SECONDS").map_or(SAMPLE, |seconds| Duration::from_secs(seconds.div_ceil(2)));
    let mut net = Net::new();
    let quiet = net.flooded(What::Everything, seed, 0, SAMPLE.min(each));
    let slow = net.flooded(What::Everything, seed ^ 1_000, 1_000, each);
    // A program that was not optimized, on two busy processors, says nothing of what more costs: in a soak alone.
    let more = number("NICTEAM_SOAK_SECONDS").map(|_| {
        let fast = net.flooded(What::Everything, seed ^ 100_000, 100_000, each);
        [fast, net.flooded(What::Hellos, seed, 200_000, SAMPLE)]
    });
    println!("{}", net.a.run(&["show", "team0"]));
    for seen in more.iter().flatten().chain([&slow]) {
        assert_eq!((&seen.lost[..], seen.broken), (&[][..], 0), "seed {seed}: {seen:?}");
    }
    // Beside what probing takes while there is traffic, and in a team that was optimized.
    assert!(cfg!(debug_assertions) || slow.team < quiet.team + 0.05, "seed {seed}: {quiet:?}; {slow:?}");
    // Half of what it has without a flood: the machine may be busy otherwise.
    for seen in more.iter().flatten() {
        assert!(seen.ordinary > quiet.ordinary * 0.5, "seed {seed}: {quiet:?}; {seen:?}");
    }
}

/// True if there is a peer, and all paths to it work.
fn paths_work(status: &Value) -> bool {
    let Some([peer]) = status["peers"].as_array().map(Vec::as_slice) else { return false };
    let paths = peer["paths"].as_array().unwrap();
    paths.len() == LINKS && paths.iter().all(|path| path["works"] == true)
}

/// With what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Random bytes, and mutated frames of all kinds.
    Everything,
    /// Hellos of a legal form to the members' addresses, by another key.
    Hellos,
}

/// Who floods.
struct Flood {
    what: What,
    random: u64,
    frames_per_s: u64,
    /// Hellos that came to each member, and its address.
    real: Vec<Vec<Vec<u8>>>,
    macs: Vec<Mac>,
}

impl Flood {
    /// Sends by all of these, in turn, and counts.
    fn run(mut self, by: &[PacketSocket], sent: &AtomicU64, done: &AtomicBool) {
        sched::keep_to(OF_FLOOD).unwrap();
        let mut pool: Vec<Batch> = (0..POOL).map(|turn| self.batch(turn % by.len())).collect();
        let queue: Vec<Outgoing> = (0..BATCH).map(|place| Outgoing { place, ..Outgoing::default() }).collect();
        let (start, mut turn) = (Instant::now(), 0_usize);
        while !done.load(Relaxed) {
            let due = (start.elapsed().as_micros() as u64 * self.frames_per_s) / 1_000_000;
            if sent.load(Relaxed) >= due {
                thread::sleep(Duration::from_micros(200));
                continue;
            }
            let member = turn % POOL % by.len();
            sent.fetch_add(by[member].send(&pool[turn % POOL], &queue).frames, Relaxed);
            turn += 1;
            if turn % POOL == 0 {
                let anew = turn / POOL % POOL;
                pool[anew] = self.batch(anew % by.len());
            }
        }
    }

    fn batch(&mut self, member: usize) -> Batch {
        let mut batch = Batch::new();
        for _ in 0..BATCH {
            let frame = self.frame(member);
            assert!(batch.push(Received { bytes: &frame, tag: None, offload: Offload::default() }));
        }
        batch
    }

    fn frame(&mut self, member: usize) -> Vec<u8> {
        if self.what == What::Hellos {
            return self.challenge(member);
        }
        let kind = self.below(5);
        let real = match kind {
            0 => return self.noise(member),
            1 => {
                let of_member = self.below(self.real[member].len());
                self.real[member][of_member].clone()
            }
            2 => Lacpdu::new(self.port(), self.port()).frame(self.stranger()),
            3 => {
                let kind = [MarkerKind::Information, MarkerKind::Response][self.below(2)];
                let marker = Marker { kind, port: 1, system: self.stranger(), transaction: self.next() as u32 };
                marker.frame(self.stranger())
            }
            _ => {
                // Of addresses that nobody has: what neighbours believe is no part of this.
                let ip = |random: usize| std::net::Ipv4Addr::new(10, 2, 0, 100 + random as u8);
                let (sender_mac, sender_ip, target_ip) = (self.stranger(), ip(self.below(100)), ip(self.below(100)));
                let operation = 1 + self.below(2) as u16;
                let arp = Arp { operation, sender_mac, sender_ip, target_mac: Mac::default(), target_ip };
                arp.frame(Mac([0xff; 6]), sender_mac, None)
            }
        };
        self.mutated(real)
    }

    fn challenge(&mut self, member: usize) -> Vec<u8> {
        let hello = Hello {
            kind: HelloKind::Challenge,
            system: self.next(),
            sequence: self.next() as u32,
            team: self.stranger(),
            place: 0,
            stamp: self.next(),
            next_ms: 0,
            takes_rtags: true,
            rivals: 0,
            members: Vec::new(),
        };
        Hello::frame_of(&hello.encode_tagged(|_| [7; Hello::TAG]), self.macs[member], self.stranger())
    }

    /// Up to four bytes behind the header are others, or the end is missing.
    fn mutated(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(4) {
            let at = 14 + self.below(frame.len() - 14);
            frame[at] ^= 1 + self.below(255) as u8;
        }
        if self.below(8) == 0 {
            frame.truncate(15 + self.below(frame.len() - 15));
        }
        frame
    }

    /// Random bytes behind addresses that reach the host.
    fn noise(&mut self, member: usize) -> Vec<u8> {
        let groups = [self.macs[member], Mac([0xff; 6]), Hello::GROUP, Mac([1, 0x80, 0xc2, 0, 0, 2])];
        let ethertypes = [0x88b5, 0x8809, 0x0806, 0x86dd, 0x88b7 + self.below(0x700) as u16];
        let ethertype = ethertypes[self.below(ethertypes.len())];
        let mut frame = [groups[self.below(groups.len())].0, self.stranger().0].concat();
        frame.extend_from_slice(&ethertype.to_be_bytes());
        frame.extend((0..self.below(500)).map(|_| self.next() as u8));
        frame
    }

    fn port(&mut self) -> PortInfo {
        PortInfo { system: self.stranger(), key: self.next() as u16, port: self.next() as u16, ..PortInfo::default() }
    }

    /// An address that nobody has.
    fn stranger(&mut self) -> Mac {
        let [a, b, c, d, ..] = self.next().to_be_bytes();
        Mac([0x06, 0x66, a, b, c, d])
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.random;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }
}

/// Numbered datagrams from the second host to the first, a thousand a second.
struct Datagrams {
    from: UdpSocket,
    to: UdpSocket,
    sent: AtomicU32,
}

impl Datagrams {
    fn new(a: &Host, b: &Host) -> Datagrams {
        let address = |n: u8| SocketAddr::from(([10, 2, 0, n], 7000));
        let (from, to) = (b.udp(address(2)), a.udp(address(1)));
        from.connect(address(1)).unwrap();
        setsockopt(&to, sockopt::RcvBufForce, &(16 << 20)).unwrap();
        to.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut buffer = [0; 4];
        // The first exchange resolves addresses.
        eventually("a datagram", || from.send(&u32::MAX.to_be_bytes()).is_ok() && to.recv(&mut buffer).is_ok());
        Datagrams { from, to, sent: AtomicU32::new(0) }
    }

    fn send(&self, done: &AtomicBool) -> u32 {
        while !done.load(Relaxed) {
            self.from.send(&self.sent.load(Relaxed).to_be_bytes()).unwrap();
            self.sent.fetch_add(1, Relaxed);
            thread::sleep(Duration::from_millis(1));
        }
        self.sent.load(Relaxed)
    }

    fn heard(&self, done: &AtomicBool) -> BTreeSet<u32> {
        let (mut heard, mut buffer) = (BTreeSet::new(), [0; 4]);
        loop {
            let no_more = done.load(Relaxed);
            match self.to.recv(&mut buffer) {
                Ok(_) => drop(heard.insert(u32::from_be_bytes(buffer))),
                Err(_) if no_more => return heard,
                Err(_) => {}
            }
        }
    }
}

/// Takes all that the team's processor gives an ordinary thread; nanoseconds of it so far.
fn take_a_processor(taken_ns: &AtomicU64, done: &AtomicBool) {
    sched::keep_to(OF_TEAM).unwrap();
    while !done.load(Relaxed) {
        let until = Instant::now() + Duration::from_millis(5);
        while Instant::now() < until {}
        let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        taken_ns.store(stat.split(' ').next().unwrap().parse().unwrap(), Relaxed);
    }
}

/// Lets all threads of a process run on one processor alone.
fn keep_process_to(pid: u32, processor: usize) {
    let mut one = CpuSet::new();
    one.set(processor).unwrap();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let tid = task.file_name().to_str().unwrap().parse().unwrap();
        sched_setaffinity(Pid::from_raw(tid), &one).unwrap();
    }
}
