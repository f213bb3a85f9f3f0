//! What another program takes away is put back, and traffic hardly notices.
//!
//! A thousand numbered datagrams a second go each way meanwhile; of none may a hundred in a row be lost. One thing is judged by
//! being put back alone: while the end behind is down the team device has no carrier, for which the stack forgets its neighbours,
//! and an ARP request that is lost then is sent again after a second.

use std::net::UdpSocket;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nicteam_daemon::RepairState;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, eventually, is_soak};

use crate::common::{Pair, assert_reach, on_each_dataplane, team_sockets};

/// Between two datagrams.
const PAUSE: Duration = Duration::from_millis(1);
/// Before and after something is taken away.
const AROUND: Duration = Duration::from_millis(110);
/// The most that may be lost in a row: 100 ms.
const SILENCE: usize = 100;

/// What is done to a host, on which dataplane, and what has to be put back.
struct Theft {
    on: &'static [Kind],
    command: &'static str,
    device: &'static str,
    what: &'static str,
}

const BOTH: &[Kind] = &[Kind::Bpf, Kind::Packet];

const THEFTS: &[Theft] = &[
    Theft { on: &[Kind::Bpf], command: "tc qdisc del dev eth0 clsact", device: "eth0", what: "tc filter" },
    Theft { on: &[Kind::Bpf], command: "tc qdisc del dev team0-dp clsact", device: "team0-dp", what: "tc filter" },
    Theft { on: &[Kind::Bpf], command: "tc filter del dev eth1 ingress", device: "eth1", what: "tc filter" },
    Theft { on: BOTH, command: "ip link set team0-dp down", device: "team0-dp", what: CARRIER },
    Theft { on: BOTH, command: "ip link set eth0 address 02:99:00:00:00:99", device: "eth0", what: "MAC address" },
    Theft { on: BOTH, command: "ip link set eth0 mtu 1400", device: "eth0", what: "MTU" },
    Theft { on: BOTH, command: "ip link set eth1 allmulticast off", device: "eth1", what: "allmulticast" },
];

/// What shows the team's stack a carrier.
const CARRIER: &str = "administrative state";

const MODES: [&str; 7] =
    ["active-backup", "802.3ad", "stripe", "balance-rr", "balance-xor", "balance-alb", "ovs-balance-slb"];

fn run(host: &Host, command: &str) {
    let mut words = command.split(' ');
    let status = host.netns.run(|| Command::new(words.next().unwrap()).args(words).status().unwrap()).unwrap();
    assert!(status.success(), "{command}");
}

/// The longest run of numbers that did not arrive, of any of these pairs, while something was done.
fn silence_during(pairs: &[(UdpSocket, UdpSocket)], act: impl FnOnce()) -> usize {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let ends: Vec<_> =
            pairs.iter().map(|(from, to)| (scope.spawn(|| send(from, &ended)), scope.spawn(|| receive(to)))).collect();
        thread::sleep(AROUND);
        act();
        thread::sleep(AROUND);
        ended.store(true, Ordering::Relaxed);
        let runs = ends.into_iter().map(|(sent, arrived)| longest_run(sent.join().unwrap(), arrived.join().unwrap()));
        runs.max().unwrap_or(0)
    })
}

/// Sends numbers; how many.
fn send(from: &UdpSocket, ended: &AtomicBool) -> u32 {
    let (start, mut number) = (Instant::now(), 0u32);
    while !ended.load(Ordering::Relaxed) {
        // What the stack does not take is lost as any other.
        let _ = from.send(&number.to_be_bytes());
        number += 1;
        thread::sleep((start + PAUSE * number).saturating_duration_since(Instant::now()));
    }
    number
}

/// The numbers that arrive, until none does for a while.
fn receive(to: &UdpSocket) -> Vec<u32> {
    to.set_read_timeout(Some(AROUND + AROUND / 2)).unwrap();
    let (mut arrived, mut bytes) = (Vec::new(), [0; 8]);
    while let Ok(length) = to.recv(&mut bytes) {
        // What was sent before to see that there is a way is no number.
        arrived.extend(bytes[..length].try_into().map(u32::from_be_bytes));
    }
    arrived
}

/// The longest run of the numbers up to this one that did not arrive.
fn longest_run(sent: u32, mut arrived: Vec<u32>) -> usize {
    arrived.sort_unstable();
    let ends = [-1].into_iter().chain(arrived.iter().map(|number| i64::from(*number))).chain([i64::from(sent)]);
    let ends: Vec<i64> = ends.collect();
    ends.windows(2).map(|pair| (pair[1] - pair[0] - 1).max(0)).max().unwrap_or(0) as usize
}

#[test]
fn what_others_take_away_is_put_back_within_100_ms() {
    let (modes, rounds) = if is_soak() { (MODES.len(), 20) } else { (2, 1) };
    on_each_dataplane(|kind| {
        for mode in &MODES[..modes] {
            let pair = Pair::new(&[("mode", mode), ("miimon", "100")], kind);
            let (a, b) = team_sockets(&pair.a, &pair.b, 7001);
            let ways = [team_sockets(&pair.a, &pair.b, 7000), (b, a)];
            for theft in THEFTS.iter().filter(|theft| theft.on.contains(&kind)) {
                for round in 0..rounds {
                    ways.iter().for_each(|way| assert_reach(way, mode));
                    let silence = silence_during(&ways, || run(&pair.a, theft.command));
                    let when = format!("{mode}, {kind}, {}, round {round}", theft.command);
                    assert!(silence <= SILENCE || theft.what == CARRIER, "{silence} datagrams lost in a row: {when}");
                    eventually(&when, || {
                        let status = pair.teams[0].handle().status().unwrap();
                        let is_it = |of: &&RepairState| (&*of.device, &*of.what) == (theft.device, theft.what);
                        status.repairs.iter().find(is_it).is_some_and(|of| of.times > round)
                    });
                }
            }
        }
    });
}

/// A reload of a firewall's rules as Debian's nftables.conf begins it. They hold throughout: nft changes all at once.
const RELOAD: &str = "flush ruleset; add table inet fw; add chain inet fw in { type filter hook input priority 0; }; \
    add rule inet fw in iifname \"team0\" udp dport 7001 drop";

#[test]
fn a_rule_about_the_team_holds_while_the_firewall_is_loaded_again_and_again() {
    on_each_dataplane(|kind| {
        let pair = Pair::new(&[("mode", "balance-rr"), ("miimon", "100")], kind);
        let [inward, other] = [7000, 7001].map(|port| team_sockets(&pair.a, &pair.b, port)).map(|(a, b)| (b, a));
        let reload = || {
            let command = || Command::new("nft").arg(RELOAD).status().unwrap();
            assert!(pair.a.netns.run(command).unwrap().success());
        };
        reload();
        assert_reach(&inward, "the rule is about another port");
        let (ended, reloads) = (AtomicBool::new(false), if is_soak() { 400 } else { 20 });
        let (passed, refused) = thread::scope(|scope| {
            let ended = &ended;
            let [passes, refused] = [&inward, &other].map(|(from, to)| {
                scope.spawn(move || send(from, ended));
                scope.spawn(move || receive(to))
            });
            for _ in 0..reloads {
                thread::sleep(Duration::from_millis(20));
                reload();
            }
            ended.store(true, Ordering::Relaxed);
            (passes.join().unwrap(), refused.join().unwrap())
        });
        assert_eq!(refused, [] as [u32; 0], "{kind}: these came past the rule");
        let mut once = passed.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(passed.len(), once.len(), "{kind}: some came twice");
        assert!(once.len() >= reloads * 10, "{kind}: the others arrive: {}", once.len());
    });
}
