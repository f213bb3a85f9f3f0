//! `nicteam advise`, run as a user would.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn advise(args: &[&str], flows: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    let command = command.arg("advise").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(flows.as_bytes());
    child.wait_with_output().unwrap()
}

/// A thousand flows between two hosts.
fn flows() -> String {
    (0..1000).map(|port| format!("10.0.0.1,10.0.0.2,{},5001,tcp,1000\n", 40_000 + port)).collect()
}

#[test]
fn ports_fill_the_links_and_addresses_do_not() {
    let output = advise(&["--flows", "-", "--members", "4", "--rate", "1gbit", "--json"], &flows());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((advice["flows"].as_u64(), advice["bytes"].as_u64()), (Some(1000), Some(1_000_000)));
    let ranked = advice["ranked"].as_array().unwrap();
    let of = |name: &str| ranked.iter().find(|one| one["name"] == name).unwrap();
    assert!(of("802.3ad layer3+4")["share"].as_f64().unwrap() > 0.8);
    assert_eq!(of("802.3ad layer2+3")["bps"].as_f64(), Some(1e9));
    assert_eq!(of("802.3ad layer3+4")["switch"], "a group with LACP");
    assert_eq!(ranked[0]["name"], "stripe at both ends");
    assert!(ranked.iter().all(|one| one["name"] != "802.3ad layer2"), "MAC addresses are not known");
}

#[test]
fn the_switchs_end_is_written() {
    let output = advise(&["--flows", "-", "--members", "2", "--switch", "cisco"], &flows());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\nmode ") || said.contains("  mode "), "{said}");
    assert!(said.contains("channel-group"), "{said}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let output = advise(&["--flows", "-", "--members", "2"], "10.0.0.1,10.0.0.2,1,2,tcp,many\n");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("-: line 1: `many` is no number of bytes"), "{told}");
    let output = advise(&["--flows", "-", "--members", "2"], "");
    assert!(String::from_utf8(output.stderr).unwrap().contains("there is no traffic in it"));
}

/// Lines of a text that is like real traffic: of so many flows few are heavy. The same each time.
fn lines(count: u64) -> impl Iterator<Item = String> {
    (0..count).map(|number| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let bytes = 1_000_000_000 / (1 + mixed % 1_000_000);
        let (host, port) = (mixed >> 8 & 0xff, 1024 + (mixed & 0xffff) % 60_000);
        format!("10.0.{}.{host},10.1.0.{},{port},443,tcp,{bytes}\n", number % 200, number % 7)
    })
}

/// The most memory that the command has had when it had read so many flows, KB, and its processor time, ticks.
fn cost(flows: u64) -> (u64, u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    let command = command.args(["advise", "--flows", "-", "--members", "4"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = std::io::BufWriter::with_capacity(1 << 16, child.stdin.take().unwrap());
    lines(flows).for_each(|line| stdin.write_all(line.as_bytes()).unwrap());
    stdin.flush().unwrap();
    // All but what is in the pipe has been read, and the command waits for the end.
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let most =
        of("status").lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    let stat = of("stat");
    let ticks = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    let ticks = ticks.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    (most.unwrap(), ticks)
}

#[test]
fn memory_does_not_grow_with_the_flows_and_time_grows_as_they_do() {
    let counts = if nicteam_testnet::is_soak() { [1_000_000, 10_000_000] } else { [1000, 10_000] };
    let [(few, few_ticks), (many, many_ticks)] = counts.map(cost);
    println!("{counts:?} flows: {few} and {many} KB at most, {few_ticks} and {many_ticks} ticks of the processor");
    // The blocks of the text that are under way: some for each thread.
    assert!(many < few + (40 << 10), "{few} KB, then {many}");
    if nicteam_testnet::is_soak() {
        assert!(many_ticks < 20 * few_ticks, "{few_ticks} ticks, then {many_ticks}: ten times the flows");
    }
}
