//! Frames whose lengths are right, mostly: what Open vSwitch's hash of flows looks at.

use super::frames::Random;

/// `count` frames of 60 bytes and more; the same for the same seed.
pub fn flows(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    (0..count).map(|_| flow(&mut random)).collect()
}

fn flow(random: &mut Random) -> Vec<u8> {
    let mut frame = random.bytes(12);
    (frame[0], frame[6]) = (frame[0] & 0xfe | 2, frame[6] & 0xfe | 2);
    if random.one_in(3) {
        frame.extend(random.pick(&[[0x81, 0x00], [0x88, 0xa8]]));
        frame.extend(random.bytes(2));
    }
    let (ethertype, mut body) = match random.below(5) {
        0 | 1 => ([0x08, 0x00], ipv4(random)),
        2 | 3 => ([0x86, 0xdd], ipv6(random)),
        _ => (random.pick(&[[0x08, 0x06], [0x80, 0x35]]), arp(random)),
    };
    if random.one_in(8) {
        let length = (8 + body.len() as u16).to_be_bytes();
        frame.extend([&length[..], &[0xaa, 0xaa, 3, 0, 0, random.pick(&[0, 0, 0, 8])], &ethertype].concat());
    } else {
        frame.extend(ethertype);
    }
    let padding = random.below(20);
    body.extend(random.bytes(padding));
    frame.extend(body);
    frame.resize(frame.len().max(60), 0);
    frame
}

fn ipv4(random: &mut Random) -> Vec<u8> {
    let words = if random.one_in(4) { 5 + random.below(11) } else { 5 };
    let protocol = protocol(random);
    let body = transport(random, protocol);
    let total = wrong(random, words * 4 + body.len());
    let fragment = random.pick::<u16>(&[0x4000, 0x4000, 0x4000, 0x2000, 0x2001, 0x0007, 0x1fff]).to_be_bytes();
    let version = if random.one_in(20) { 0x42 } else { 0x40 | words as u8 };
    let head = [version, 0, total[0], total[1], 0, 0, fragment[0], fragment[1], 64, protocol, 0, 0];
    [&head[..], &random.bytes(8), &vec![1; words * 4 - 20], &body].concat()
}

fn ipv6(random: &mut Random) -> Vec<u8> {
    let mut next = protocol(random);
    let mut body = transport(random, next);
    for _ in 0..if random.one_in(2) { 0 } else { random.below(11) } {
        let kind = random.pick(&[0, 43, 44, 51, 60]);
        let words = random.below(3);
        let length = match kind {
            44 => 8,
            51 => (words + 2) * 4,
            _ => (words + 1) * 8,
        };
        let mut header = random.bytes(length.max(8));
        (header[0], header[1]) = (next, words as u8);
        let offset = if random.one_in(4) { random.next() as u16 } else { random.pick(&[0, 1, 6]) };
        header[2..4].copy_from_slice(&offset.to_be_bytes());
        body = [header, body].concat();
        next = kind;
    }
    let length = wrong(random, body.len());
    [&[0x60, 0, 0, 0, length[0], length[1], next, 64][..], &random.bytes(32), &body].concat()
}

/// A length, now and then another one.
fn wrong(random: &mut Random, length: usize) -> [u8; 2] {
    let length = if random.one_in(8) { (length + 20).saturating_sub(random.below(60)) } else { length };
    (length as u16).to_be_bytes()
}

fn protocol(random: &mut Random) -> u8 {
    random.pick(&[6, 6, 17, 17, 1, 58, 132, 2, 33, 50, 89])
}

/// A header of which perhaps not all is there.
fn transport(random: &mut Random, protocol: u8) -> Vec<u8> {
    let mut header = random.bytes(20);
    if protocol == 6 {
        header[12] = random.pick(&[0x50, 0x50, 0x50, 0x60, 0x40, 0xf0]);
    }
    let payload = random.below(30);
    header.extend(random.bytes(payload));
    if random.one_in(5) {
        header.truncate(random.below(header.len()));
    }
    header
}

fn arp(random: &mut Random) -> Vec<u8> {
    let head = [0, random.pick(&[1, 1, 1, 6]), 8, 0, 6, 4];
    let operation = random.pick::<u16>(&[1, 2, 6, 17, 58, 132, 255, 257]).to_be_bytes();
    [&head[..], &operation, &random.bytes(20)].concat()
}
