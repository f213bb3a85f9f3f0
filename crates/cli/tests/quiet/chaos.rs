//! Random faults: what a seed draws is what happens, and what breaks is shrunk.

use std::fs;
use std::process::{Command, Output};

use nicteam_record::Record;
use nicteam_testnet::may_make_networks;

use crate::common::lab::{Folder, words};

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
    let output = nicteam(&folder, &["lab", "run", "chaos.toml", "--output", "bundle"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    assert!(words(&output.stderr).contains("nothing is broken that must hold"), "{}", words(&output.stderr));
    let record: Record = serde_json::from_slice(&fs::read(folder.path("bundle/record.json")).unwrap()).unwrap();
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
