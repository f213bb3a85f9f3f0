//! Devices and disciplines of the kernel's on teams that the host's kernel may not have, on eBPF, in a guest.
//!
//! VLAN devices: what the stack sends by one leaves with its tag, by the member that the tag asks for,
//! what the peer sends arrives at one, and it is announced after a failover. Queueing disciplines on the
//! team and on members, and VXLAN over a VLAN.
//!
//! The peer runs on packet sockets where it can: that saves a walk of the verifier.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nicteam_oracle::protocol::{Answer, Request, Stray};
use nicteam_oracle::{Clock, Guest, Refusal};
use nicteam_team::{HashPolicy, hash};
use nicteam_testnet::eventually;
use nicteam_wire::{Arp, Frame, Mac, ethertype};
use serde_json::Value;

use super::moved::program;

const VLAN: u16 = 7;
const VLAN_DEVICE: &str = "team0.7";
/// Of the teams of hosts `a` and `b`.
const TEAMS: [Mac; 2] = [Mac([2, 0, 0, 0, 10, 1]), Mac([2, 0, 0, 0, 11, 1])];
/// Of these hosts in the VLAN.
const ADDRESSES: [[u8; 4]; 2] = [[10, 7, 0, 1], [10, 7, 0, 2]];
/// Frames by which members are told apart, each of another source and port.
const FRAMES: u16 = 150;
/// Where they go to and come from, UDP.
const PORT: u16 = 7007;
const PAYLOAD: [u8; 32] = [0x77; 32];
/// So long nothing has to come, milliseconds.
const QUIET_MS: u64 = 300;

/// How the hosts' members are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wiring {
    /// By a bridge, at whose ports the guest hears.
    Bridge,
    /// By cables, at whose far ends host `b` hears.
    Cables,
}

/// What finds the member of a frame that has the tag.
type Number = fn(&Frame<'_>) -> u32;

/// A mode, and what it makes of a tag.
struct Case {
    mode: &'static str,
    options: &'static [&'static str],
    wiring: Wiring,
    /// Equal numbers leave by one member; none: all leave by one.
    number: Option<Number>,
    /// In a soak alone.
    long: bool,
}

const CASES: [Case; 4] = [
    Case { mode: "active-backup", options: &[], wiring: Wiring::Bridge, number: None, long: true },
    Case {
        mode: "ovs-balance-slb",
        options: &[],
        wiring: Wiring::Bridge,
        number: Some(|frame| hash::slb::bucket(frame.src(), frame.vlan().map_or(0, |tag| tag.tci & 0xfff), 0).into()),
        long: false,
    },
    Case {
        mode: "802.3ad",
        options: &["-o", "xmit_hash_policy=vlan+srcmac", "-o", "lacp_rate=fast", "-o", "aggregate_wait=0"],
        wiring: Wiring::Cables,
        number: Some(|frame| hash::hash(HashPolicy::VlanSrcMac, frame) % 2),
        long: true,
    },
    Case {
        mode: "ovs-balance-tcp",
        options: &["-o", "lacp=active", "-o", "lacp-time=fast"],
        wiring: Wiring::Cables,
        number: Some(|frame| hash::flow::bucket(frame, 0).into()),
        long: true,
    },
];

#[test]
fn what_a_vlan_device_sends_and_receives() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let guest = nicteam_oracle::emulated_guest(
        agent.to_str().unwrap(),
        &[nicteam, program("ping"), program("ip"), program("tc")],
        Clock::Host,
    );
    let Some(guest) = guest else { return };
    let mut net = Net::new(guest);
    for case in CASES.iter().filter(|case| !case.long || nicteam_oracle::is_soak()) {
        net.start(case.mode, case.options, case.wiring);
        net.members_are_found(case);
        if case.wiring == Wiring::Bridge {
            net.failover_is_announced(case);
            net.queueing_disciplines_work(case);
            net.a_member_sees_priorities(case);
            net.a_tunnel_passes(case);
        }
        net.stop();
    }
    net.start("stripe", &["-o", &format!("redundant=udp:{PORT}")], Wiring::Bridge);
    net.tagged_frames_go_twice();
}

/// Two hosts in a guest.
struct Net {
    guest: Guest,
    wiring: Wiring,
}

fn text(words: &str) -> String {
    words.to_owned()
}

fn shown(address: [u8; 4]) -> String {
    std::net::Ipv4Addr::from(address).to_string()
}

fn on(host: &str, request: Request) -> Request {
    Request::In { host: text(host), request: Box::new(request) }
}

impl Net {
    /// Each has `m0` and `m1` at a bridge, and `d0` and `d1` at cables to the other.
    fn new(mut guest: Guest) -> Net {
        for module in ["8021q", "bridge", "nf_tables", "sch_fq", "sch_prio", "vxlan"] {
            guest.load_module(module).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        guest.must(Request::AddBridge { name: text("br0") });
        for host in ["a", "b"] {
            guest.must(Request::AddHost { host: text(host) });
            for member in ["0", "1"] {
                let (name, port) = (format!("m{member}"), format!("s{host}{member}"));
                guest.must(Request::AddVeth { name: name.clone(), peer: port.clone() });
                guest.must(Request::Give { name, host: text(host) });
                guest.must(Request::SetMaster { name: port.clone(), master: Some(text("br0")) });
                guest.must(Request::SetUp { name: port, up: true });
            }
        }
        for cable in ["0", "1"] {
            let (a, b) = (format!("d{cable}"), format!("e{cable}"));
            guest.must(Request::AddVeth { name: a.clone(), peer: b.clone() });
            guest.must(Request::Give { name: a, host: text("a") });
            guest.must(Request::Give { name: b, host: text("b") });
        }
        guest.must(Request::SetUp { name: text("br0"), up: true });
        Net { guest, wiring: Wiring::Bridge }
    }

    fn run(&mut self, host: &str, program: &str, arguments: &[&str]) -> Result<String, Refusal> {
        let arguments = arguments.iter().map(|&argument| text(argument)).collect();
        match self.guest.ask(&on(host, Request::Run { program: text(program), arguments }))? {
            Answer::Text(said) => Ok(said),
            other => panic!("{other:?}"),
        }
    }

    fn team(&mut self, host: &str, arguments: &[&str]) -> String {
        let said = self.run(host, "/bin/nicteam", &[&["team"], arguments].concat());
        said.unwrap_or_else(|refusal| panic!("{host}: {refusal}"))
    }

    fn status(&mut self, host: &str) -> Value {
        serde_json::from_str(&self.team(host, &["show", "team0", "--format", "json"])).unwrap()
    }

    /// A team on each host with a VLAN device and an address there; host `a` reaches `b` by these.
    fn start(&mut self, mode: &str, options: &[&str], wiring: Wiring) {
        self.wiring = wiring;
        // Redundant frames are told apart on arrival, at the peer.
        let dataplanes = ["bpf", if mode == "stripe" { "bpf" } else { "packet" }];
        for (place, host) in ["a", "b"].into_iter().enumerate() {
            let members = match wiring {
                Wiring::Bridge => "m0,m1",
                Wiring::Cables => ["d0,d1", "e0,e1"][place],
            };
            let mac = TEAMS[place].to_string();
            let dataplane = dataplanes[place];
            let add = ["add", "team0", "--mode", mode, "--members", members, "--mac", &mac, "--dataplane", dataplane];
            self.team(host, &[&add, options].concat());
            let name = text(VLAN_DEVICE);
            self.guest.must(on(host, Request::AddVlan { name: name.clone(), on: text("team0"), id: VLAN }));
            let address = ADDRESSES[place].into();
            self.guest.must(on(host, Request::AddAddress { name: name.clone(), address, prefix: 24 }));
            self.guest.must(on(host, Request::SetUp { name, up: true }));
        }
        eventually(&format!("{mode}: members that carry"), || {
            ["a", "b"].into_iter().all(|host| {
                let status = self.status(host);
                let carries = |member: &Value| match wiring {
                    Wiring::Bridge => member["state"] == "up",
                    Wiring::Cables => member["active"] == true,
                };
                status["members"].as_array().unwrap().iter().all(carries)
            })
        });
        eventually(&format!("{mode}: an answer to a ping"), || self.pings());
    }

    fn stop(&mut self) {
        for host in ["a", "b"] {
            self.team(host, &["del", "team0"]);
        }
    }

    fn pings(&mut self) -> bool {
        self.run("a", "/bin/ping", &["-c", "1", "-W", "1", &shown(ADDRESSES[1])]).is_ok()
    }

    /// Host `a` sends these by a device; what comes out of its members, tags among the bytes.
    fn sent_by(&mut self, device: &str, frames: &[Vec<u8>]) -> Vec<Stray> {
        let inject = self.injected("a", device, frames);
        let heard = match self.wiring {
            Wiring::Bridge => {
                Request::Hear { on: ["sa0", "sa1"].map(text).into(), requests: vec![inject], quiet_ms: QUIET_MS }
            }
            Wiring::Cables => {
                let on_far_ends = ["e0", "e1"].map(text).into();
                on("b", Request::Hear { on: on_far_ends, requests: vec![inject], quiet_ms: QUIET_MS })
            }
        };
        self.heard(heard)
    }

    fn injected(&mut self, host: &str, device: &str, frames: &[Vec<u8>]) -> Request {
        self.guest.keep(frames.to_vec());
        on(host, Request::Inject { into: text(device), out: Vec::new() })
    }

    fn heard(&mut self, request: Request) -> Vec<Stray> {
        match self.guest.must(request) {
            Answer::Heard(mut frames) => {
                frames.retain(|stray| is_ours(&stray.frame.0));
                frames
            }
            other => panic!("{other:?}"),
        }
    }

    /// What the VLAN device sends has its tag, and leaves by one member for each number of the mode. What
    /// the team device sends has none, and the same members for the same numbers.
    fn members_are_found(&mut self, case: &Case) {
        let [back, frames] =
            [(TEAMS[0], 8), (TEAMS[1], 7)].map(|(to, from)| frames(to, |n| Mac([2, 0, 0, from, n[0], n[1]])));
        let mut members = BTreeMap::new();
        for device in [VLAN_DEVICE, "team0"] {
            let heard = self.sent_by(device, &frames);
            assert_eq!(heard.len(), frames.len(), "{}: frames that left by {device}", case.mode);
            for Stray { out, frame } in &heard {
                let frame = Frame::parse_untagged(&frame.0).unwrap();
                let vlan = frame.vlan().map(|tag| (tag.protocol, tag.tci));
                assert_eq!(vlan, (device == VLAN_DEVICE).then_some((ethertype::VLAN, VLAN)), "{}", case.mode);
                let number = case.number.map_or(0, |number| number(&frame));
                let member = *members.entry(number).or_insert(*out);
                assert_eq!(*out, member, "{}: {number} by {device}", case.mode);
            }
        }
        let used: BTreeSet<_> = members.into_values().collect();
        assert_eq!(used.len(), if case.number.is_some() { 2 } else { 1 }, "{}", case.mode);
        let requests = vec![self.injected("b", VLAN_DEVICE, &back)];
        let arrived = Request::Hear { on: vec![text(VLAN_DEVICE)], requests, quiet_ms: QUIET_MS };
        let arrived = self.heard(on("a", arrived));
        assert_eq!(arrived.len(), back.len(), "{}: frames that arrived", case.mode);
        assert!(
            arrived.iter().all(|stray| Frame::parse_untagged(&stray.frame.0).unwrap().vlan().is_none()),
            "{}",
            case.mode
        );
    }

    /// The switch hears of the VLAN's addresses by the member that takes over, with the tag.
    fn failover_is_announced(&mut self, case: &Case) {
        let (first, second) = match self.status("a")["active"].as_str() {
            Some("m0") => ("sa0", "sa1"),
            Some("m1") => ("sa1", "sa0"),
            other => panic!("{}: active is {other:?}", case.mode),
        };
        let down = Request::SetUp { name: text(first), up: false };
        let heard = self.guest.hear(&[second], vec![down], 2000);
        let mac = TEAMS[0];
        let announced = heard.iter().filter_map(|stray| {
            let frame = Frame::parse_untagged(&stray.frame.0).unwrap();
            let is_tagged = frame.vlan().is_some_and(|tag| tag.tci & 0xfff == VLAN);
            is_tagged.then(|| (frame.ethertype(), frame.src(), Arp::decode(frame.payload()).ok()))
        });
        let announced: Vec<_> = announced.collect();
        match case.number {
            // Open vSwitch's way: RARP for each source that was sent.
            Some(_) => {
                let sources = announced.iter().filter(|(kind, ..)| *kind == ethertype::RARP).map(|(_, src, _)| *src);
                let sources: BTreeSet<Mac> = sources.collect();
                assert!(sources.contains(&mac) && sources.len() == 1 + usize::from(FRAMES), "{}", sources.len());
            }
            None => {
                let expected = Arp::gratuitous(mac, ADDRESSES[0].into());
                assert!(announced.iter().any(|(_, _, arp)| arp.as_ref() == Some(&expected)), "{announced:?}");
            }
        }
        eventually(&format!("{}: an answer by the other member", case.mode), || self.pings());
        self.guest.must(Request::SetUp { name: text(first), up: true });
    }

    fn done(&mut self, host: &str, command: &str) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        let said = self.run(host, &format!("/bin/{}", words[0]), &words[1..]);
        said.unwrap_or_else(|refusal| panic!("{host}: {command}: {refusal}"))
    }

    /// Bytes that `tc -s` says to have passed a discipline, or a class of it.
    fn passed(&mut self, host: &str, shown: &str, after: &str) -> u64 {
        let said = self.done(host, &format!("tc -s {shown}"));
        let sent = said.split(after).nth(1).and_then(|rest| rest.split("Sent ").nth(1));
        sent.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{after}: {said}"))
    }

    /// What the stack sends waits in the team device's discipline, and is counted there.
    fn queueing_disciplines_work(&mut self, case: &Case) {
        for kind in ["fq", "fq_codel", "prio"] {
            self.done("a", &format!("tc qdisc add dev team0 root {kind}"));
            let what = format!("{}: an answer through {kind}", case.mode);
            eventually(&what, || self.pings());
            let passed = self.passed("a", "qdisc show dev team0", &format!("qdisc {kind} "));
            assert!(passed >= 98, "{}: {passed} bytes through {kind}", case.mode);
            self.done("a", "tc qdisc del dev team0 root");
        }
    }

    /// A member's discipline serves a frame by the priority that its socket gave it: `IP_TOS` 0x10 is interactive, band 0.
    fn a_member_sees_priorities(&mut self, case: &Case) {
        for member in ["m0", "m1"] {
            self.done("a", &format!("tc qdisc add dev {member} root handle 1: prio"));
        }
        let in_first_band = |net: &mut Net| {
            ["m0", "m1"]
                .map(|member| net.passed("a", &format!("class show dev {member}"), "class prio 1:1 "))
                .iter()
                .sum()
        };
        let to = shown(ADDRESSES[1]);
        let before: u64 = in_first_band(self);
        self.done("a", &format!("ping -c 3 -i 0.01 -W 5 {to}"));
        let of_ordinary = in_first_band(self) - before;
        self.done("a", &format!("ping -Q 0x10 -c 3 -i 0.01 -W 5 {to}"));
        let of_interactive = in_first_band(self) - before - of_ordinary;
        let size = 3 * (14 + 84);
        assert!(of_ordinary < size && of_interactive >= size, "{}: {of_ordinary}, {of_interactive}", case.mode);
        for member in ["m0", "m1"] {
            self.done("a", &format!("tc qdisc del dev {member} root"));
        }
    }

    /// VXLAN over the team's VLAN.
    fn a_tunnel_passes(&mut self, case: &Case) {
        let [a, b] = ADDRESSES.map(shown);
        for (host, local, remote, inner) in [("a", &a, &b, 1), ("b", &b, &a, 2)] {
            self.done(host, &format!("ip link add vx0 type vxlan id 5 local {local} remote {remote} dstport 4789"));
            self.done(host, &format!("ip address add 10.9.0.{inner}/24 dev vx0"));
            self.done(host, "ip link set vx0 up");
        }
        let through = ["-c", "1", "-W", "1", "-s", "1300", "10.9.0.2"];
        eventually(&format!("{}: an answer through the tunnel", case.mode), || {
            self.run("a", "/bin/ping", &through).is_ok()
        });
        for host in ["a", "b"] {
            self.done(host, "ip link del vx0");
        }
    }

    /// Of the redundant class: each leaves by both members with both tags, and arrives once, as it was.
    fn tagged_frames_go_twice(&mut self) {
        let [a, b] = TEAMS;
        eventually("all paths", || {
            let works = |path: &Value| path["works"] == true;
            let paths = |status: &Value| {
                status["peers"][0]["paths"].as_array().is_some_and(|all| all.len() == 2 && all.iter().all(works))
            };
            ["a", "b"].into_iter().all(|host| paths(&self.status(host)))
        });
        let frames = frames(b, |_| a);
        // The plan with the paths is a moment later than they are found.
        eventually("a frame goes twice", || self.sent_by(VLAN_DEVICE, &frames[..1]).len() == 2);
        // A path that a slow guest lets wait for its probes works a moment later again.
        eventually("each frame goes twice, with both tags", || {
            let heard = self.sent_by(VLAN_DEVICE, &frames);
            [0, 1].into_iter().all(|member| {
                let copies = heard.iter().filter(|stray| stray.out == member);
                let is_tagged = |stray: &&Stray| {
                    let frame = Frame::parse_untagged(&stray.frame.0).unwrap();
                    frame.vlan().is_some_and(|tag| tag.tci == VLAN) && frame.ethertype() == ethertype::RTAG
                };
                copies.filter(is_tagged).count() == frames.len()
            })
        });
        let inject = self.injected("a", VLAN_DEVICE, &frames);
        let arrived = Request::Hear { on: vec![text(VLAN_DEVICE)], requests: vec![inject], quiet_ms: QUIET_MS };
        let mut arrived: Vec<_> = self.heard(on("b", arrived)).into_iter().map(|stray| stray.frame.0).collect();
        arrived.sort();
        let numbers =
            |all: &[Vec<u8>]| all.iter().map(|of| frames.iter().position(|frame| frame == of)).collect::<Vec<_>>();
        assert_eq!(numbers(&arrived), numbers(&frames), "by their numbers");
    }
}

/// UDP over IPv4, each of another port and perhaps another source.
fn frames(to: Mac, from: impl Fn([u8; 2]) -> Mac) -> Vec<Vec<u8>> {
    (0..FRAMES)
        .map(|n| {
            let port = (10_000 + n).to_be_bytes();
            let mut frame = [&to.0[..], &from(n.to_be_bytes()).0, &ethertype::IPV4.to_be_bytes()].concat();
            frame.extend([0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0]);
            frame.extend([10, 7, 0, 101, 10, 7, 0, 102]);
            frame.extend([port, PORT.to_be_bytes(), 40_u16.to_be_bytes(), [0, 0]].concat());
            frame.extend(PAYLOAD);
            frame
        })
        .collect()
}

/// One of these, whatever tags it has.
fn is_ours(frame: &[u8]) -> bool {
    frame.ends_with(&PAYLOAD)
}
