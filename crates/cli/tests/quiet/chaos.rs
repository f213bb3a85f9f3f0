//! Random faults: what a seed draws is what happens, and what breaks is shrunk.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nicteam_record::Record;
use nicteam_testnet::{is_soak, may_make_networks};

use crate::common::lab::{Folder, children_of, words};

const LAB: &str = "title = \"Chaos\"\ndefaults = { rate = \"20mbit\", warmup = \"200ms\", interval = \"20ms\" }\n\
    links = [{ between = [[\"a\", \"b\"], \"sw\"], count = 2 }]\nswitches.sw = {}\n\
    hosts = { a = { team = \"t\" }, b = { team = \"t\" } }\nteams.t = { mode = \"active-backup\", miimon = 50 }\n\
    impairments.bad = { loss = \"20%\" }\n\
    workloads.w = { kind = \"udp\", rate = \"1mbit\", size = 100, from = \"a\", to = \"b\", direction = \"both\" }\n";

fn nicteam(folder: &Folder, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nicteam")).args(arguments).current_dir(&folder.0).output().unwrap()
}

#[test]
fn a_team_keeps_what_it_promises_under_random_faults() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("chaos");
    let chaos = "chaos = { seed = 3, from = \"500ms\", every = \"800ms\", longest = \"400ms\", quiet = \"2s\" }";
    let file = format!("{LAB}[[runs]]\nname = \"storm\"\nworkloads = \"w\"\nduration = \"6s\"\n{chaos}\n");
    fs::write(folder.path("chaos.toml"), file).unwrap();
    let shown = words(&nicteam(&folder, &["lab", "show", "chaos.toml"]).stdout);
    let output = nicteam(&folder, &["lab", "check", "chaos.toml", "--repeat", "1", "--output", "checked"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    assert!(words(&output.stderr).contains("nothing is broken that must hold"), "{}", words(&output.stderr));
    let verdicts = words(&output.stdout);
    assert!(verdicts.contains("broken") && verdicts.contains("holds"), "{verdicts}");
    let record: Record =
        serde_json::from_slice(&fs::read(folder.path("checked/chaos-1/record.json")).unwrap()).unwrap();
    let faults = &record.runs[0].faults;
    assert!(faults.len() >= 3, "{faults:?}");
    for fault in faults {
        assert!(shown.contains(&fault.text), "`{}` was not drawn: {shown}", fault.text);
    }
}

/// A link that becomes slow and stays so, among faults that pass: the end has less than the beginning.
#[test]
fn a_run_that_fails_shrinks_to_the_faults_that_break_it() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("shrink");
    let file = "title = \"Shrink\"\ndefaults = { rate = \"100mbit\", warmup = \"100ms\", interval = \"20ms\" }\n\
        links = [{ between = [\"a\", \"b\"] }]\nhosts = { a = {}, b = {} }\n\
        workloads.w = { kind = \"udp\", rate = \"10mbit\", size = 1000, from = \"a\", to = \"b\" }\n\
        [[runs]]\nname = \"slow\"\nworkloads = \"w\"\nduration = \"1200ms\"\nevents = [\n\
        { at = \"200ms\", for = \"20ms\", kind = \"silence\", link = [\"a\", \"b\"] },\n\
        { at = \"400ms\", kind = \"rate\", rate = \"1mbit\", link = [\"a\", \"b\"] },\n\
        { at = \"600ms\", for = \"20ms\", kind = \"silence\", link = [\"a\", \"b\"], from = \"b\" },\n]\n";
    fs::write(folder.path("slow.toml"), file).unwrap();
    let output = nicteam(&folder, &["lab", "shrink", "slow.toml", "--output", "fewest.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let left = words(&output.stdout);
    assert!(left.contains("kind = \"rate\"") && !left.contains("at = \"200ms\""), "{left}");
    assert!(words(&output.stderr).contains("2 of 3 faults are enough"), "{}", words(&output.stderr));
    let shown = words(&nicteam(&folder, &["lab", "show", "fewest.toml"]).stdout);
    assert!(shown.contains("carries 1mbit") && shown.matches("drops every frame").count() == 1, "{shown}");
    assert_eq!(folder.entries().len(), 2, "{:?}", folder.entries());
}

/// A defect that chaos knows nothing of: once `eth0` of `a` has lost its carrier, the switch drops what `a` sends by `eth1`.
const PLANTED: &str = "add table netdev planted; \
    add chain netdev planted in { type filter hook ingress device \"a-1\" priority 0; policy accept; }; \
    add rule netdev planted in ip protocol udp drop";

/// Plants it in the networks that a lab has just now.
fn plant(lab: u32) {
    let is_agent = |pid: u32, node: &str| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains(&format!("--node\0{node}\0"))
    };
    let agent = |node: &str| children_of(lab).into_iter().find(|pid| is_agent(*pid, node));
    let (Some(a), Some(switch)) = (agent("a"), agent("sw")) else { return };
    let within = |pid: u32, arguments: &[&str]| {
        Command::new("nsenter").args(["-t", &pid.to_string(), "-n"]).args(arguments).output()
    };
    let shown = within(a, &["ip", "link", "show", "eth0"]);
    if shown.is_ok_and(|shown| words(&shown.stdout).contains("NO-CARRIER")) {
        drop(within(switch, &["nft", PLANTED]));
    }
}

/// All faults of seed 12, and then fewer, in a minute or two.
#[test]
fn a_defect_that_is_planted_in_the_network_is_found_and_shrunk() {
    if !is_soak() || !may_make_networks() {
        return;
    }
    let folder = Folder::new("planted");
    let chaos = "chaos = { seed = 12, every = \"2s\", shortest = \"1300ms\", longest = \"1800ms\", quiet = \"3s\", \
        kinds = [\"cable\", \"silence\", \"stop\", \"kill\", \"busy\", \"rate\"] }";
    let file = format!("{LAB}[[runs]]\nname = \"storm\"\nworkloads = \"w\"\nduration = \"18s\"\n{chaos}\n");
    fs::write(folder.path("planted.toml"), file).unwrap();
    let mut shrink = Command::new(env!("CARGO_BIN_EXE_nicteam"));
    shrink.args(["lab", "shrink", "planted.toml", "--output", "fewest.toml"]).current_dir(&folder.0);
    let mut shrink = shrink.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while shrink.try_wait().unwrap().is_none() {
        plant(shrink.id());
        sleep(Duration::from_millis(50));
    }
    let output = shrink.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let left = words(&output.stdout);
    assert!(left.lines().count() <= 3 && left.contains("kind = \"cable\""), "{left}");
}
