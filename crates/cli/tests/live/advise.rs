//! `nicteam advise` beside teams that carry the captured traffic: the shares, and so the ranking, are those that are measured.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::{Host, cables, eventually};
use nicteam_wire::Mac;
use nicteam_wire::flow_text::Flow;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::teams::{Killed, TeamHost, may_test_bpf, own_folder};

const MEMBERS: usize = 4;
/// Bytes of each frame.
const LENGTH: usize = 300;
/// Each mode, and the policies that its team is set to in turn.
const MODES: [(&str, &[&str]); 4] = [
    ("balance-xor", &["layer2", "layer2+3", "layer3+4"]),
    ("802.3ad", &["layer2+3", "layer3+4"]),
    ("balance-rr", &[]),
    ("active-backup", &[]),
];

/// Flows, each with the last byte of the MAC address that it goes to, and the number of its frames.
type Traffic = Vec<(String, u8, usize)>;

/// Traffic of five kinds.
fn traffics() -> [(&'static str, Traffic); 5] {
    let many = |count: u16| 1..=count;
    [
        ("hosts of one segment", many(12).map(|n| (format!("udp 10.0.0.1:7 -> 10.0.0.{n}:8"), n as u8, 24)).collect()),
        ("hosts behind a router", many(12).map(|n| (format!("udp 10.0.0.1:7 -> 10.9.{n}.5:8"), 1, 24)).collect()),
        ("one host, many ports", many(24).map(|n| (format!("udp 10.0.0.1:{n} -> 10.0.0.2:8"), 2, 12)).collect()),
        (
            "heavy and light",
            many(20)
                .map(|n| (format!("udp 10.0.0.1:{n} -> 10.0.{}.2:8", n % 5), (n % 5) as u8, 1 + 120 / n as usize))
                .collect(),
        ),
        ("IPv6", many(16).map(|n| (format!("udp [fd00::1]:{n} -> [fd00::{n}]:8"), (n % 6) as u8, 20)).collect()),
    ]
}

/// The frames of traffic, those of all flows mixed.
fn frames(traffic: &Traffic) -> Vec<Vec<u8>> {
    let frame = |flow: &str, to: u8| {
        let flow: Flow = flow.parse().unwrap();
        let mut frame = flow.frame(Mac([2, 0, 0, 0, 9, 9]), Mac([2, 0, 0, 0, 1, to]));
        frame.resize(LENGTH, 0);
        frame
    };
    let most = traffic.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    let turns = (0..most).flat_map(|turn| traffic.iter().filter(move |(_, _, count)| turn < *count));
    turns.map(|(flow, to, _)| frame(flow, *to)).collect()
}

/// What each member has sent, bytes.
fn sent(host: &mut TeamHost) -> [u64; MEMBERS] {
    std::array::from_fn(|place| host.host.link(&format!("eth{place}")).stats.tx_bytes)
}

#[test]
fn the_ranking_is_the_one_that_is_measured() {
    if !may_test_bpf() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, MEMBERS);
    let (mut near, far) = (TeamHost::new(near), TeamHost::new(far));
    let traffics = traffics();
    let mut advised: Vec<Option<Value>> = vec![None; traffics.len()];
    let mut measured: Vec<Vec<(String, f64)>> = vec![Vec::new(); traffics.len()];
    for (mode, policies) in MODES {
        for host in [&near, &far] {
            host.run(&["add", "team0", "--mode", mode, "--members", "eth0,eth1,eth2,eth3"]);
        }
        near.host.set_up("team0", true);
        eventually("members that carry", || {
            let status = near.status("team0");
            let active = status["members"].as_array().unwrap().iter().filter(|member| member["active"] == true).count();
            active == if mode == "active-backup" { 1 } else { MEMBERS }
        });
        for policy in if policies.is_empty() { &[""][..] } else { policies } {
            if !policy.is_empty() {
                near.run(&["set", "team0", &format!("xmit_hash_policy={policy}")]);
            }
            for (place, (what, traffic)) in traffics.iter().enumerate() {
                let frames = frames(traffic);
                // The first time it is captured, too.
                let capture = advised[place].is_none().then(|| Captured::begin(&near));
                let before = sent(&mut near);
                let socket = near.host.packet_socket("team0");
                assert!(frames.iter().all(|frame| socket.send_frame(frame)), "{what}");
                let total = (frames.len() * LENGTH) as u64;
                let mut each = [0; MEMBERS];
                eventually("all frames on their links", || {
                    let now = sent(&mut near);
                    each = std::array::from_fn(|place| now[place] - before[place]);
                    each.iter().sum::<u64>() >= total
                });
                // LACPDUs are in it, too: a few hundred bytes.
                let busiest = each.into_iter().max().unwrap_or(0);
                let name = format!("{mode} {policy}").trim_end().to_owned();
                measured[place].push((name, total as f64 / (MEMBERS as u64 * busiest) as f64));
                if let Some(capture) = capture {
                    advised[place] = Some(capture.advice(frames.len()));
                }
            }
        }
        for host in [&near, &far] {
            host.run(&["del", "team0"]);
        }
    }
    for ((what, _), (advised, measured)) in traffics.iter().zip(advised.into_iter().zip(&measured)) {
        let ranked = advised.unwrap()["ranked"].as_array().unwrap().clone();
        let share = |name: &str| ranked.iter().find(|one| one["name"] == name).unwrap()["share"].as_f64().unwrap();
        for (name, measured) in measured {
            let advised = share(name);
            assert!(
                (advised - measured).abs() < 0.03,
                "{what}, {name}: {advised:.3} is advised, {measured:.3} measured"
            );
        }
        // The ranking names the better of two, where they differ at all.
        for (one, of_one) in measured {
            for (other, of_other) in measured.iter().filter(|(_, of_other)| of_one - of_other > 0.06) {
                assert!(share(one) > share(other), "{what}: {one} {of_one:.3}, {other} {of_other:.3}");
            }
        }
    }
    // The kinds differ in what is best: a test in which all were alike would show nothing.
    let best = |place: usize| {
        let hashed = measured[place].iter().filter(|(name, _)| name.starts_with("balance-xor"));
        hashed.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap().0.clone()
    };
    assert!((1..traffics.len()).any(|place| best(place) != best(0)), "{measured:?}");
}

/// A capture by tcpdump of what a team sends.
struct Captured {
    tcpdump: Killed,
    file: String,
}

impl Captured {
    fn begin(host: &TeamHost) -> Captured {
        let file = own_folder("advise").with_extension("pcap").display().to_string();
        let mut command = Command::new("tcpdump");
        command.args([
            "-i", "team0", "-Q", "out", "-s", "96", "-U", "-Z", "root", "-w", &file, "udp", "and", "dst", "port", "8",
        ]);
        process::in_netns(&mut command, &host.host.netns);
        let mut tcpdump = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(tcpdump.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("listening on team0"), "{said}");
        Captured { tcpdump: Killed(tcpdump), file }
    }

    /// What is advised for it, once it has so many frames.
    fn advice(mut self, frames: usize) -> Value {
        let whole = 24 + frames as u64 * (16 + 96);
        eventually("every frame in the capture", || fs::metadata(&self.file).is_ok_and(|file| file.len() >= whole));
        kill(Pid::from_raw(self.tcpdump.0.id() as i32), Signal::SIGINT).unwrap();
        assert!(self.tcpdump.0.wait().unwrap().success());
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        let advice = command.args(["advise", "--members", "4", "--json", "--pcap", &self.file]).output().unwrap();
        fs::remove_file(&self.file).unwrap();
        assert!(advice.status.success(), "{}", String::from_utf8_lossy(&advice.stderr));
        let advice: Value = serde_json::from_slice(&advice.stdout).unwrap();
        assert_eq!(advice["flows"].as_u64(), Some(frames as u64));
        advice
    }
}
