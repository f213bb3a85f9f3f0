//! The classic BPF programs of listening sockets: what the kernel lets through.
//!
//! A program only jumps forward, as the kernel demands, and reads nothing behind the end of a frame: such
//! a read ends it, and the frame is not heard.

use super::rules::{Kind, LONGEST, Rule, Rules, TaggedFlow};

/// Bytes of the two addresses.
const MACS: u32 = 12;
/// Bytes of a VLAN tag.
const TAG: u32 = 4;
/// So many tags may stand among the bytes, behind the one beside the frame.
const INNER_TAGS: u32 = 2;
/// Bytes of an Ethernet header.
const HEADER: u32 = 14;
/// `01:80:c2:00:00:02`, where slow protocols are sent.
pub(super) const SLOW_GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0x02];
/// Where LLDP is sent (IEEE 802.1AB, 7.1): the nearest bridge, the nearest bridge that is not a TPMR, the nearest
/// customer bridge.
pub(super) const LLDP_GROUPS: [[u8; 6]; 3] =
    [[0x01, 0x80, 0xc2, 0, 0, 0x0e], [0x01, 0x80, 0xc2, 0, 0, 0x03], [0x01, 0x80, 0xc2, 0, 0, 0]];
/// `03:6e:69:63:00:01`, where hellos are announced.
pub(super) const HELLO_GROUP: [u8; 6] = [0x03, 0x6e, 0x69, 0x63, 0x00, 0x01];
/// `01:00:0c:cc:cc:cc`, where Cisco's switches send PAgP.
pub(super) const CISCO_GROUP: [u8; 6] = [0x01, 0x00, 0x0c, 0xcc, 0xcc, 0xcc];
/// IEEE 802.2 and SNAP with Cisco's number of PAgP, in two words behind the Ethernet header.
const SNAP: u32 = 0xaaaa_0300;
const CISCO_PAGP: u32 = 0x000c_0104;
/// Bytes of PAgP's shortest information PDU with its headers, and its version.
const PAGP_BYTES: u32 = HEADER + 8 + 46;
const INFORMATION_PDU: u32 = 1;
/// Local experimental EtherType 1.
pub(super) const HELLO: u32 = 0x88b5;
const SLOW: u32 = libc::ETH_P_SLOW as u32;
/// EtherType of LLDP.
const LLDP: u32 = 0x88cc;
const ARP: u32 = libc::ETH_P_ARP as u32;
const IPV6: u32 = libc::ETH_P_IPV6 as u32;
/// Kinds of hellos (docs/hello.md).
pub(super) const ANNOUNCEMENT: u32 = 1;
pub(super) const ECHO: u32 = 3;
const CHALLENGE: u32 = 4;
const ANSWER: u32 = 5;
/// Bytes of the shortest frame, and of an echo.
const SHORTEST: u32 = 60;
const ECHO_BYTES: u32 = 78;
/// Of a hello: bytes ahead of its members, of a member, and the most members and places.
const HELLO_HEAD: u32 = HEADER + 32;
const HELLO_MEMBER: u32 = 12;
const MOST_MEMBERS: u32 = 32;
/// Bytes of a slow protocols PDU with its header, and of the information fields of a LACPDU.
const SLOW_BYTES: u32 = HEADER + 110;
const INFORMATION: u32 = 20;
/// ICMPv6 types (RFC 4861).
const SOLICITATION: u32 = 135;
const ADVERTISEMENT: u32 = 136;

/// Where something stands, or what the kernel knows of the frame.
#[derive(Clone, Copy)]
enum At {
    Byte(u32),
    Half(u32),
    Word(u32),
    /// Bytes of the frame.
    Length,
    /// For whom the device took the frame.
    PacketType,
    /// 1 if a VLAN tag stands beside the frame.
    HasTag,
    /// The tag beside the frame, without its EtherType.
    Tag,
    /// A random number of 32 bits.
    Random,
}

/// `PACKET_HOST` and `PACKET_OTHERHOST`.
const TO_HOST: u32 = 0;
const TO_OTHER: u32 = 3;

/// A test that a frame has to pass.
#[derive(Clone)]
enum Test {
    Is(At, u32),
    IsNot(At, u32),
    OneOf(At, Vec<u32>),
    AtLeast(At, u32),
    AtMost(At, u32),
    /// None of these bits.
    Without(At, u32),
    /// As long as its members need.
    HoldsMembers,
}

/// The program of a socket that hears by these rules.
pub(super) fn program(rules: &Rules) -> Vec<libc::sock_filter> {
    let mut program = Vec::new();
    program.extend(block(&[Test::IsNot(At::PacketType, TO_OTHER)], &[], true));
    // It has no EtherType, and no tag.
    let pagp = rules.rules.iter().filter(|rule| rule.kind == Kind::Pagp);
    program.extend(pagp.flat_map(|rule| hears(rule, rules, MACS)));
    for tags in 0..=INNER_TAGS {
        let ethertype = MACS + tags * TAG;
        program.push(load(At::Half(ethertype)));
        for wanted in [HELLO, SLOW, ARP, IPV6] {
            let kinds = rules.rules.iter().filter(|rule| ethertype_of(rule.kind) == Some(wanted));
            // Hellos and slow protocols carry no tag.
            let kinds = kinds.filter(|rule| tags == 0 || may_have_tag(rule.kind));
            let body: Vec<_> = kinds.flat_map(|rule| hears(rule, rules, ethertype)).collect();
            if !body.is_empty() {
                program.push(jump(libc::BPF_JEQ, wanted, 1, 0));
                program.push(instruction(libc::BPF_JMP | libc::BPF_JA, body.len() as u32 + 1, (0, 0)));
                program.extend(body);
                program.push(verdict(0));
            }
        }
        if tags < INNER_TAGS {
            // A tag is next: the following tests are for what it is before.
            program.push(jump(libc::BPF_JEQ, libc::ETH_P_8021Q as u32, 2, 0));
            program.push(jump(libc::BPF_JEQ, libc::ETH_P_8021AD as u32, 1, 0));
            program.push(verdict(0));
        }
    }
    program.push(verdict(0));
    program
}

/// The program of a socket that hears one flow.
pub(super) fn tagged(flow: &TaggedFlow) -> Vec<libc::sock_filter> {
    let [a, b, c, d, e, f] = flow.dst;
    let (ethertype, protocol, ports) =
        if flow.ipv6 { (IPV6, HEADER + 6, HEADER + 40) } else { (libc::ETH_P_IP as u32, HEADER + 9, HEADER + 20) };
    let tests = [
        Test::Is(At::HasTag, 1),
        Test::Is(At::Tag, flow.tci.into()),
        Test::Is(At::Word(0), u32::from_be_bytes([a, b, c, d])),
        Test::Is(At::Half(4), u16::from_be_bytes([e, f]).into()),
        Test::Is(At::Half(MACS), ethertype),
        Test::Is(At::Byte(protocol), libc::IPPROTO_UDP as u32),
        Test::Is(At::Word(ports), u32::from(flow.ports[0]) << 16 | u32::from(flow.ports[1])),
    ];
    let mut program = block(&tests, &[verdict(LONGEST as u32)], false);
    program.push(verdict(0));
    program
}

/// The program of a socket that hears what the port at the other end says: LLDP and slow protocols, of any form.
pub(super) fn of_port() -> Vec<libc::sock_filter> {
    let test = Test::OneOf(At::Half(MACS), vec![LLDP, SLOW]);
    let mut program = block(&[test], &[verdict(LONGEST as u32)], false);
    program.push(verdict(0));
    program
}

fn ethertype_of(kind: Kind) -> Option<u32> {
    match kind {
        Kind::Hello | Kind::Echo => Some(HELLO),
        Kind::Lacp | Kind::Marker => Some(SLOW),
        Kind::Arp => Some(ARP),
        Kind::Neighbour => Some(IPV6),
        Kind::Pagp => None,
    }
}

fn may_have_tag(kind: Kind) -> bool {
    matches!(kind, Kind::Arp | Kind::Neighbour)
}

/// Ends the program for a frame of this kind that is to be heard; goes on behind
/// for any other.
fn hears(rule: &Rule, rules: &Rules, ethertype: u32) -> Vec<libc::sock_filter> {
    let accept = accept(rule);
    legal(rule.kind, &rules.marks, ethertype).iter().flat_map(|tests| block(tests, &accept, false)).collect()
}

/// The forms that a frame of a kind may have: the tests of each.
fn legal(kind: Kind, marks: &[u32], ethertype: u32) -> Vec<Vec<Test>> {
    let payload = ethertype + 2;
    let from_one = Test::Without(At::Byte(6), 1);
    let untagged = || vec![from_one.clone(), Test::Is(At::HasTag, 0)];
    let to = |group: [u8; 6]| {
        let [a, b, c, d, e, f] = group;
        [
            Test::Is(At::Word(0), u32::from_be_bytes([a, b, c, d])),
            Test::Is(At::Half(4), u16::from_be_bytes([e, f]).into()),
        ]
    };
    let hello = |kinds: Vec<u32>| {
        let own = [
            Test::OneOf(At::Byte(HEADER + 1), kinds),
            Test::AtLeast(At::Byte(HEADER), 1),
            Test::AtMost(At::Byte(HEADER + 3), MOST_MEMBERS - 1),
        ];
        [untagged(), own.to_vec()].concat()
    };
    let without_members = |shortest| {
        vec![Test::Is(At::PacketType, TO_HOST), Test::Is(At::Byte(HEADER + 2), 0), Test::AtLeast(At::Length, shortest)]
    };
    let slow = |subtype| {
        let own = vec![Test::Is(At::Byte(HEADER), subtype), Test::AtLeast(At::Length, SLOW_BYTES)];
        [untagged(), to(SLOW_GROUP).to_vec(), own].concat()
    };
    match kind {
        Kind::Hello => {
            let members = vec![
                Test::AtMost(At::Byte(HEADER + 2), MOST_MEMBERS),
                Test::AtLeast(At::Length, SHORTEST),
                Test::HoldsMembers,
            ];
            vec![
                [hello(vec![ANNOUNCEMENT]), to(HELLO_GROUP).to_vec(), members].concat(),
                [hello(vec![CHALLENGE, ANSWER]), without_members(SHORTEST)].concat(),
            ]
        }
        Kind::Echo => {
            let marked = if marks.is_empty() { Vec::new() } else { vec![Test::OneOf(At::Word(30), marks.to_vec())] };
            vec![[hello(vec![ECHO]), without_members(ECHO_BYTES), marked].concat()]
        }
        Kind::Lacp => {
            let lengths = [17, 37].map(|at| Test::Is(At::Byte(at), INFORMATION)).to_vec();
            vec![[slow(1), lengths].concat()]
        }
        Kind::Marker => vec![[slow(2), vec![Test::OneOf(At::Byte(HEADER + 2), vec![1, 2])]].concat()],
        Kind::Arp => vec![vec![
            from_one,
            // Ethernet and IPv4, with addresses of their lengths; a request or a reply.
            Test::Is(At::Word(payload), 0x0001_0800),
            Test::Is(At::Half(payload + 4), 0x0604),
            Test::OneOf(At::Half(payload + 6), vec![1, 2]),
            Test::AtLeast(At::Length, payload + 28),
        ]],
        Kind::Neighbour => {
            vec![vec![
                Test::Is(At::Byte(payload + 6), libc::IPPROTO_ICMPV6 as u32),
                Test::OneOf(At::Byte(payload + 40), vec![SOLICITATION, ADVERTISEMENT]),
                from_one,
                // Another hop limit came through a router; and a code that is none.
                Test::Is(At::Byte(payload + 7), 255),
                Test::Is(At::Byte(payload + 41), 0),
                Test::AtLeast(At::Length, payload + 64),
            ]]
        }
        Kind::Pagp => {
            let own = vec![
                Test::Is(At::Word(HEADER), SNAP),
                Test::Is(At::Word(HEADER + 4), CISCO_PAGP),
                Test::Is(At::Byte(HEADER + 8), INFORMATION_PDU),
                Test::AtLeast(At::Length, PAGP_BYTES),
            ];
            // The group first: nearly all frames fail there.
            vec![[to(CISCO_GROUP).to_vec(), untagged(), own].concat()]
        }
    }
}

/// Ends the program: hears the frame, or the share of them that a rule lets through.
fn accept(rule: &Rule) -> Vec<libc::sock_filter> {
    let thinned = |halvings: u8| {
        if halvings == 0 {
            return vec![verdict(LONGEST as u32)];
        }
        let mask = u32::MAX >> (32 - u32::from(halvings.min(31)));
        block(&[Test::Without(At::Random, mask)], &[verdict(LONGEST as u32)], false)
            .into_iter()
            .chain([verdict(0)])
            .collect()
    };
    if rule.share.known == rule.share.others {
        return thinned(rule.share.known);
    }
    let (known, others) = (thinned(rule.share.known), thinned(rule.share.others));
    // The last four bytes of the source tell addresses apart.
    let mut program = vec![load(At::Word(8))];
    let count = rule.known.len();
    for (at, [_, _, a, b, c, d]) in rule.known.iter().enumerate() {
        let to_known = (count - 1 - at) + others.len();
        program.push(jump(libc::BPF_JEQ, u32::from_be_bytes([*a, *b, *c, *d]), to_known as u8, 0));
    }
    [program, others, known].concat()
}

/// Runs `then` if a frame passes all tests; else goes on behind it, or ends if that is asked for.
fn block(tests: &[Test], then: &[libc::sock_filter], ends: bool) -> Vec<libc::sock_filter> {
    // From behind, for each has to know how far the end is.
    let mut program = then.to_vec();
    if ends {
        // Passing, it goes on behind the end of the others.
        program.push(instruction(libc::BPF_JMP | libc::BPF_JA, 1, (0, 0)));
    }
    for test in tests.iter().rev() {
        program = [test.instructions(program.len()), program].concat();
    }
    if ends {
        program.push(verdict(0));
    }
    program
}

impl Test {
    /// The instructions, with so many behind them to be skipped by a frame that fails.
    fn instructions(&self, behind: usize) -> Vec<libc::sock_filter> {
        let far = behind as u8;
        match self {
            Test::Is(at, value) => vec![load(*at), jump(libc::BPF_JEQ, *value, 0, far)],
            Test::IsNot(at, value) => vec![load(*at), jump(libc::BPF_JEQ, *value, far, 0)],
            Test::AtLeast(at, value) => vec![load(*at), jump(libc::BPF_JGE, *value, 0, far)],
            Test::AtMost(at, value) => vec![load(*at), jump(libc::BPF_JGT, *value, far, 0)],
            Test::Without(at, bits) => vec![load(*at), jump(libc::BPF_JSET, *bits, far, 0)],
            Test::OneOf(at, values) => {
                let mut program = vec![load(*at)];
                for (place, value) in values.iter().enumerate() {
                    let left = values.len() - 1 - place;
                    let otherwise = if left == 0 { far } else { 0 };
                    program.push(jump(libc::BPF_JEQ, *value, left as u8, otherwise));
                }
                program
            }
            Test::HoldsMembers => vec![
                load(At::Byte(HEADER + 2)),
                instruction(libc::BPF_ALU | libc::BPF_MUL | libc::BPF_K, HELLO_MEMBER, (0, 0)),
                instruction(libc::BPF_ALU | libc::BPF_ADD | libc::BPF_K, HELLO_HEAD, (0, 0)),
                instruction(libc::BPF_MISC | libc::BPF_TAX, 0, (0, 0)),
                load(At::Length),
                instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_X, 0, (0, far)),
            ],
        }
    }
}

fn load(at: At) -> libc::sock_filter {
    let beside = |offset: libc::c_int| (libc::BPF_W | libc::BPF_ABS, (libc::SKF_AD_OFF + offset) as u32);
    let (mode, offset) = match at {
        At::Byte(offset) => (libc::BPF_B | libc::BPF_ABS, offset),
        At::Half(offset) => (libc::BPF_H | libc::BPF_ABS, offset),
        At::Word(offset) => (libc::BPF_W | libc::BPF_ABS, offset),
        At::Length => (libc::BPF_W | libc::BPF_LEN, 0),
        At::PacketType => beside(libc::SKF_AD_PKTTYPE),
        At::HasTag => beside(libc::SKF_AD_VLAN_TAG_PRESENT),
        At::Tag => beside(libc::SKF_AD_VLAN_TAG),
        At::Random => beside(libc::SKF_AD_RANDOM),
    };
    instruction(libc::BPF_LD | mode, offset, (0, 0))
}

/// Skips `then` instructions if what was loaded compares so with `value`, else `otherwise`.
fn jump(compare: u32, value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | compare | libc::BPF_K, value, (then, otherwise))
}

/// Ends: hears so many bytes of the frame, 0 for none of it.
fn verdict(bytes: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, bytes, (0, 0))
}

fn instruction(code: u32, k: u32, (jt, jf): (u8, u8)) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::super::{MOST_KNOWN, Share};
    use super::*;

    #[test]
    fn every_jump_stays_inside_the_program() {
        let known: Vec<[u8; 6]> = (0..MOST_KNOWN).map(|n| [2, 0, 0, 0, 0, n as u8]).collect();
        for bits in 0_u32..1 << Kind::ALL.len() {
            for share in [Share::default(), Share { known: 3, others: 7 }, Share { known: 0, others: 31 }] {
                let kinds = Kind::ALL.into_iter().enumerate().filter(|(bit, _)| bits & 1 << bit != 0);
                let rule = |(_, kind)| Rule { kind, known: known.clone(), share };
                let rules = Rules { rules: kinds.map(rule).collect(), marks: vec![1, 2, 3] };
                assert_jumps_inside(&program(&rules), &format!("{bits:06b} {share:?}"));
            }
        }
    }

    #[track_caller]
    fn assert_jumps_inside(program: &[libc::sock_filter], what: &str) {
        // The most that the kernel takes (BPF_MAXINSNS).
        assert!(program.len() <= 4096, "{what}: {} instructions", program.len());
        for (place, step) in program.iter().enumerate() {
            let (code, class) = (u32::from(step.code), u32::from(step.code) & 7);
            let furthest = match class {
                libc::BPF_RET => continue,
                libc::BPF_JMP if code & 0xf0 == libc::BPF_JA => step.k as usize,
                _ => usize::from(step.jt.max(step.jf)),
            };
            assert!(place + 1 + furthest < program.len(), "{what}: instruction {place}");
        }
    }
}
