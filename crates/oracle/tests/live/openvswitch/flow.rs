//! The bucket of every frame in balance-tcp: by which member a bond of Open vSwitch sends it, against [`flow::bucket`].
//!
//! Two bonds of one daemon are each other's LACP partners. What a bucket's member is stands in the daemon's own rules behind the
//! recirculation (`bridge/dump-flows`), by which member a frame left is seen at the far ends of the cables.
//!
//! `NICTEAM_SOAK=1` takes fifty times as many; `NICTEAM_SEED` others.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nicteam_oracle::frames::{Random, TestFrame, frames};
use nicteam_oracle::{is_soak, seed};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::hash::flow;
use nicteam_testnet::{Host, OpenVSwitch, cable, eventually, looped_cable};
use nicteam_wire::Frame;

const SAMPLE: usize = 2_000;
const SOAK: usize = 100_000;
/// Frames in flight at once.
const WINDOW: usize = 64;
/// Then what is missing is sent again: the daemon drops what it looks up for the first time while it is busy with its flows.
const LOST: Duration = Duration::from_millis(500);
/// Of each bond.
const MEMBERS: usize = 5;
/// Differences that are printed.
const SHOWN: usize = 20;

#[test]
fn every_flow_has_the_bucket_that_it_has_in_open_vswitch() {
    let Some(switch) = OpenVSwitch::start_or_skip() else { return };
    let mut random = Random(seed());
    let mut bonds = Bonds::new(switch);
    let count = if is_soak() { SOAK } else { SAMPLE };
    let mut all: Vec<TestFrame> =
        frames(random.bits(), count).into_iter().chain(more(&mut random, count / 10)).collect();
    all.iter_mut().for_each(|frame| clear_dei(&mut frame.bytes));
    let parts = if is_soak() { 4 } else { 2 };
    let mut differences = Vec::new();
    for part in all.chunks(all.len().div_ceil(parts)) {
        let basis = if differences.is_empty() && random.one_in(3) { 0 } else { random.bits() as u32 >> 1 };
        bonds.set_basis(basis);
        let members = bonds.members();
        for window in part.chunks(WINDOW) {
            for (TestFrame { kind, bytes }, theirs) in window.iter().zip(bonds.send(window)) {
                let bucket = flow::bucket(&Frame::parse(bytes).unwrap(), basis);
                if members[&bucket] != theirs {
                    differences.push(format!("{kind}, basis {basis}, ours {bucket}: {bytes:02x?}"));
                }
            }
        }
        assert_eq!(bonds.members(), members, "buckets were moved");
    }
    let count = differences.len();
    differences.truncate(SHOWN);
    assert!(count == 0, "{count} of {} differ, the first:\n{}", all.len(), differences.join("\n"));
    println!("{} frames: the same buckets", all.len());
}

/// Clears the drop eligibility of a tag: the daemon does so, too, and each frame is to be known again.
fn clear_dei(bytes: &mut [u8]) {
    if matches!(bytes[12..14], [0x81, 0x00] | [0x88, 0xa8]) {
        bytes[14] &= 0xef;
    }
}

/// The daemon takes a tag off that says nothing.
fn as_sent(bytes: &[u8]) -> Vec<u8> {
    match Frame::parse_untagged(bytes).unwrap().vlan() {
        Some(tag) if tag.tci == 0 => [&bytes[..12], &bytes[16..]].concat(),
        _ => bytes.to_vec(),
    }
}

/// Makes what is behind addresses and tag.
type Make = fn(&mut Random) -> Vec<u8>;

/// Kinds that no hash of the kernel's tells apart: what Open vSwitch checks lengths of, extension headers, SNAP, ARP.
fn more(random: &mut Random, count: usize) -> Vec<TestFrame> {
    let makes: [(&'static str, Make); 6] = [
        ("length4", |random| {
            let mut packet = ipv4(random, 17, 40);
            packet[2..4].copy_from_slice(&random.pick::<u16>(&[0, 19, 20, 27, 28, 59, 60, 61]).to_be_bytes());
            typed(0x0800, packet)
        }),
        ("short4", |random| {
            let (protocol, length) = (random.pick(&[1, 6, 17, 132]), random.below(24));
            typed(0x0800, ipv4(random, protocol, length))
        }),
        ("length6", |random| {
            let mut packet = ipv6(random, 6, vec![7; 40]);
            packet[4..6].copy_from_slice(&random.pick::<u16>(&[0, 4, 19, 20, 39, 40, 41]).to_be_bytes());
            typed(0x86dd, packet)
        }),
        ("chain6", |random| {
            let (first, body) = chain(random);
            typed(0x86dd, ipv6(random, first, body))
        }),
        ("snap", |random| {
            let packet = ipv4(random, 6, 20);
            let number = random.pick::<u16>(&[0x0800, 0x0800, 0x86dd, 0x0005]).to_be_bytes();
            let organisation = random.pick(&[0, 0, 0, 1]);
            let body = [&[0xaa, 0xaa, 3, 0, 0, organisation][..], &number, &packet].concat();
            typed(body.len() as u16, body)
        }),
        ("arp-like", |random| {
            let head = [0, random.pick(&[1, 1, 1, 2]), 8, 0, 6, random.pick(&[4, 4, 4, 5])];
            let operation = random.pick::<u16>(&[1, 2, 6, 17, 58, 132, 255, 256, 262]).to_be_bytes();
            let length = random.pick(&[20, 20, 20, 19, 30]);
            let ethertype = random.pick(&[0x0806, 0x0806, 0x8035]);
            typed(ethertype, [&head[..], &operation, &random.bytes(length)].concat())
        }),
    ];
    let make = |(kind, make): &(&'static str, Make)| {
        let mut bytes = random.bytes(12);
        (bytes[0], bytes[6]) = (bytes[0] & 0xfe | 2, bytes[6] & 0xfe | 2);
        let behind = make(random);
        let tag = if random.one_in(4) { vec![0x81, 0, 0, random.byte()] } else { Vec::new() };
        TestFrame { kind, bytes: [bytes, tag, behind].concat() }
    };
    makes.iter().cycle().take(count).map(make).collect()
}

/// An EtherType and what is behind it.
fn typed(ethertype: u16, body: Vec<u8>) -> Vec<u8> {
    [ethertype.to_be_bytes().to_vec(), body].concat()
}

fn ipv4(random: &mut Random, protocol: u8, length: usize) -> Vec<u8> {
    let total = (20 + length as u16).to_be_bytes();
    [&[0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, protocol, 0, 0][..], &random.bytes(8), &random.bytes(length)]
        .concat()
}

fn ipv6(random: &mut Random, next: u8, body: Vec<u8>) -> Vec<u8> {
    let length = (body.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, length[0], length[1], next, 64][..], &random.bytes(32), &body].concat()
}

/// Up to eight extension headers of every kind, a protocol, and perhaps an end that is too early.
fn chain(random: &mut Random) -> (u8, Vec<u8>) {
    let mut next = random.pick(&[6, 17, 58, 132, 59]);
    let mut body = random.bytes(20);
    for _ in 0..random.below(9) {
        let kind = random.pick(&[0, 43, 44, 51, 60]);
        let (length, words) = match kind {
            44 => (0, 8),
            51 => (random.below(4) as u8, 0),
            _ => (random.below(3) as u8, 0),
        };
        let bytes = match kind {
            44 => words,
            51 => (usize::from(length) + 2) * 4,
            _ => (usize::from(length) + 1) * 8,
        };
        let mut header = vec![0; bytes.max(8)];
        (header[0], header[1]) = (next, length);
        if kind == 44 && random.one_in(4) {
            header[2..4].copy_from_slice(&random.pick::<u16>(&[1, 8, 0xfff9, 6]).to_be_bytes());
        }
        body = [header, body].concat();
        next = kind;
    }
    if random.one_in(5) {
        body.truncate(random.below(body.len()));
    }
    (next, body)
}

/// Two bonds that are cabled to each other, with a port beside the first.
struct Bonds {
    switch: OpenVSwitch,
    _outside: Host,
    outside: PacketSocket,
    far: Vec<PacketSocket>,
    batch: Batch,
}

impl Bonds {
    fn new(mut switch: OpenVSwitch) -> Bonds {
        let mut outside = Host::quiet();
        cable(&mut switch.host, "in0", &mut outside, "eth0");
        let far = (0..MEMBERS).map(|place| {
            looped_cable(&mut switch.host, &format!("p{place}"), &format!("q{place}"));
            switch.host.packet_socket(&format!("q{place}"))
        });
        let far = far.collect();
        for (bridge, side) in [("near", "p"), ("far", "q")] {
            switch.vsctl(&format!("add-br {bridge} -- set bridge {bridge} datapath_type=netdev"));
            let members: Vec<String> = (0..MEMBERS).map(|place| format!("{side}{place}")).collect();
            let numbers = members.iter().zip(1..);
            let numbers = numbers.map(|(name, number)| format!(" -- set interface {name} ofport_request={number}"));
            switch.vsctl(&format!(
                "add-bond {bridge} bond-{bridge} {} bond_mode=balance-tcp lacp=active other_config:lacp-time=fast \
                 other_config:bond-rebalance-interval=0{}",
                members.join(" "),
                numbers.collect::<String>()
            ));
        }
        switch.vsctl("add-port near in0");
        eventually("both bonds send by all members", || switch.enabled() == 2 * MEMBERS);
        let outside_socket = outside.packet_socket("eth0");
        Bonds { switch, _outside: outside, outside: outside_socket, far, batch: Batch::new() }
    }

    /// Sets `bond-hash-basis`, and sees to it that the buckets have members.
    fn set_basis(&mut self, basis: u32) {
        self.switch.vsctl(&format!("set port bond-near other_config:bond-hash-basis={basis}"));
        eventually("the basis", || self.switch.appctl("bond/show").contains(&format!("bond-hash-basis: {basis}\n")));
        let first = frames(u64::from(basis), 1);
        eventually("rules of all buckets", || {
            self.send(&first);
            self.switch.appctl_with("bridge/dump-flows", &["near"]).matches("dp_hash=").count() == 256
        });
        // Until then its datapath sends by the buckets that were before. The first wait may end with a round that began before.
        (0..2).for_each(|_| drop(self.switch.appctl("revalidator/wait")));
    }

    /// The place of each bucket's member.
    fn members(&self) -> BTreeMap<u8, usize> {
        let flows = self.switch.appctl_with("bridge/dump-flows", &["near"]);
        let rules = flows.lines().filter_map(|line| line.split_once("dp_hash=")?.1.split_once("/0xff,actions=output:"));
        let rules = rules.map(|(bucket, port)| {
            (u8::from_str_radix(bucket.trim_start_matches("0x"), 16).unwrap(), port.parse::<usize>().unwrap() - 1)
        });
        rules.collect()
    }

    /// The place of the member by which each of these frames left.
    fn send(&mut self, frames: &[TestFrame]) -> Vec<usize> {
        let mut waiting: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for (number, TestFrame { bytes, .. }) in frames.iter().enumerate() {
            assert_eq!(waiting.insert(as_sent(bytes), number), None);
            assert!(self.outside.send_frame(bytes));
        }
        let mut left = vec![None; frames.len()];
        let mut sent = Instant::now();
        eventually("every frame leaves", || {
            if sent.elapsed() >= LOST {
                waiting.values().for_each(|&number| assert!(self.outside.send_frame(&frames[number].bytes)));
                sent = Instant::now();
            }
            for (place, socket) in self.far.iter().enumerate() {
                for bytes in received(socket, &mut self.batch) {
                    if let Some(number) = waiting.remove(&bytes) {
                        left[number] = Some(place);
                    }
                }
            }
            waiting.is_empty()
        });
        left.into_iter().flatten().collect()
    }
}

/// What a socket has received, with tags among the bytes.
fn received(socket: &PacketSocket, batch: &mut Batch) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        socket.receive(batch).unwrap();
        let before = all.len();
        all.extend(batch.frames().map(|frame| match frame.tag {
            Some(tag) => {
                let tag = [tag.protocol.to_be_bytes(), tag.tci.to_be_bytes()].concat();
                [&frame.bytes[..12], &tag, &frame.bytes[12..]].concat()
            }
            None => frame.bytes.to_vec(),
        }));
        if all.len() == before {
            return all;
        }
    }
}
