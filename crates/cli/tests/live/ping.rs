//! Echo requests as traffic, beside `ping` itself.

use std::process::Command;

use nicteam_record::{Probes, Record};
use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

const HOSTS: &str = r#"
title = "Ping"
[defaults]
rate = "100mbit"
warmup = "100ms"
[hosts]
a = {}
b = {}
[[links]]
between = ["a", "b"]
"#;

/// A run of a workload with these keys.
fn one_run(name: &str, keys: &str) -> String {
    format!(
        "[workloads.{name}]\nfrom = \"a\"\nto = \"b\"\n{keys}\n[[runs]]\nname = \"{name}\"\nworkloads = \"{name}\"\n"
    )
}

#[track_caller]
fn probes<'r>(record: &'r Record, run: &str) -> &'r [Probes] {
    &record.runs.iter().find(|it| it.name == run).unwrap().probes
}

/// Without what differs from one time to the next: each number is `#`, a pipe is left out, so are empty lines.
fn form<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let form = |line: &str| {
        let line = line.split(", pipe").next().unwrap_or_default();
        let mut text = String::new();
        for c in line.chars() {
            match c {
                '0'..='9' | '.' if text.ends_with('#') => {}
                '0'..='9' => text.push('#'),
                c => text.push(c),
            }
        }
        text
    };
    lines.filter(|line| !line.is_empty()).map(form).collect()
}

#[test]
fn it_finds_and_says_what_ping_finds_and_says() {
    let theirs = Command::new("ping").arg("-V").output();
    if !may_make_networks() {
        return;
    }
    if !theirs.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("iputils 20221126")) {
        eprintln!("SKIPPED: needs ping of iputils 20221126 (package iputils-ping)");
        return;
    }
    let file = HOSTS.to_owned()
        + &one_run("ours", "kind = \"ping\"\npacket_size = 65000\ninterval = \"100ms\"\ncount = 10")
        + &one_run("theirs", "kind = \"program\"\nclient = \"ping -s 65000 -i 0.1 -c 10 {address}\"")
        + &one_run(
            "ours-whole",
            "kind = \"ping\"\npacket_size = 1473\ndont_fragment = true\ninterval = \"100ms\"\ncount = 3",
        )
        + &one_run("theirs-whole", "kind = \"program\"\nclient = \"ping -M do -s 1473 -i 0.1 -c 3 {address}\"");
    let (_, told, record) = run("ping-beside", &file);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    for (ours, theirs) in [("ours", "theirs"), ("ours-whole", "theirs-whole")] {
        let [probes] = probes(&record, ours) else { panic!("{told}") };
        let echo = probes.echo.as_ref().unwrap();
        let words = echo.words(probes.sent);
        let program = &record.runs.iter().find(|it| it.name == theirs).unwrap().programs[0];
        let mut theirs = form(program.last_lines.iter().map(String::as_str));
        // Each refusal is a line of its own there.
        theirs.dedup_by(|one, other| one == other && one.contains("error"));
        assert_eq!(form(words.lines()), theirs, "{words}\n{}", program.last_lines.join("\n"));
    }
    let [probes] = probes(&record, "ours") else { panic!("{told}") };
    let echo = probes.echo.as_ref().unwrap();
    assert_eq!((probes.sent, probes.lost, echo.duplicates, echo.errors), (10, 0, 0, 0));
    let average_ms = |line: &str| line.split('/').nth(4).and_then(|avg| avg.parse::<f64>().ok());
    let theirs = &record.runs.iter().find(|it| it.name == "theirs").unwrap().programs[0];
    let theirs = theirs.last_lines.iter().find_map(|line| average_ms(line)).unwrap();
    let ours = echo.round_trip.unwrap().avg_us as f64 / 1e3;
    assert!((0.1..10.0).contains(&(ours / theirs)), "{ours} and {theirs} ms");
}

#[test]
fn each_millisecond_one_goes_by_each_path() {
    if !may_make_networks() {
        return;
    }
    let keys = "kind = \"ping\"\ninterval = \"1ms\"\npaths = \"all\"";
    let file = HOSTS
        .replace("[[links]]", "[switches]\nsw = {}\n[[links]]")
        .replace("between = [\"a\", \"b\"]", "between = [[\"a\", \"b\"], \"sw\"]\ncount = 2")
        + &one_run("all", keys);
    let (_, told, record) = run("ping-paths", &file);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let [one, other] = probes(&record, "all") else { panic!("{told}") };
    let ends = |it: &Probes| it.echo.as_ref().map(|echo| (echo.src.clone(), echo.dst.clone())).unwrap();
    assert_ne!(ends(one).1, ends(other).1);
    for probes in [one, other] {
        // A busy machine leaves some out; none is lost.
        assert!(probes.sent > 700 && probes.lost * 100 < probes.sent, "{probes:?}");
        assert!(probes.round_trip.quantile_us(0.99).unwrap() > 0);
        assert_eq!((probes.from.as_str(), probes.to.as_str()), ("a", "b"));
    }
    assert_eq!(record.runs[0].delivered_bps, 0.0);
}

#[test]
fn it_goes_by_ipv6_beside_other_traffic() {
    if !may_make_networks() {
        return;
    }
    let traffic = "[workloads.t]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n";
    let file = HOSTS.replace("a = {}", "a = { address = \"fd00::1/64\" }")
        + traffic
        + &one_run("beside", "kind = \"ping\"\ninterval = \"10ms\"\npacket_size = 5000")
            .replace("workloads = \"beside\"", "workloads = [\"beside\", \"t\"]");
    let (_, told, record) = run("ping-beside-tcp", &file);
    let record = record.unwrap_or_else(|| panic!("{told}"));
    let [probes] = probes(&record, "beside") else { panic!("{told}") };
    assert!(probes.sent > 70 && probes.lost * 10 < probes.sent, "{probes:?}");
    assert!(probes.echo.as_ref().unwrap().words(probes.sent).starts_with("PING fd00::2(fd00::2) 5000 data bytes\n"));
    let found = &record.runs[0];
    assert!(found.of_limit > 0.5 && found.connections.len() == 1, "{}: {:?}", found.of_limit, found.limit_reason);
}
