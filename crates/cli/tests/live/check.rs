//! `nicteam lab check`: what must come out of an experiment.

use std::fs;
use std::process::{Command, Output};

use nicteam_testnet::may_make_networks;
use serde_json::Value;

use crate::common::lab::{Folder, assert_failure, has, run_with, words};

/// Two hosts and a cable; two runs of the same.
const TWO: &str = "title = 'a < b'\ndefaults = { warmup = '100ms', duration = '300ms', rate = '10mbit' }\n\
    links = [{ between = ['a', 'b'] }]\n[hosts]\na = {}\nb = {}\n[workloads.w]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\n\
    [[runs]]\nname = 'one'\nworkloads = 'w'\n[[runs]]\nname = 'two'\nworkloads = 'w'\n";
const HOLDS: &str = "[[expect]]\nrun = 'one'\nfigure = 'delivered_bps'\nat_least = '1mbit'\n";
const RATIO: &str = "[[expect]]\nrun = 'one'\nfigure = 'delivered_bps'\nratio_to = 'two'\nbetween = [0.1, 10]\n";
const BROKEN: &str = "[[expect]]\nrun = 'two'\nfigure = 'delivered_bps'\nat_least = '1gbit'\n";
const FORMER: &str =
    "[[expect]]\nrun = 'one'\nfigure = 'delivered_bps'\nratio_to = 'one'\nagainst = 'before'\nat_least = 1.0\n";

/// Checks the file `experiment.toml` of a folder, in which results are left.
fn check(folder: &Folder, experiment: &str, arguments: &[&str]) -> Output {
    fs::write(folder.path("experiment.toml"), experiment).unwrap();
    Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "check", &folder.path("experiment.toml")])
        .args(arguments)
        .current_dir(&folder.0)
        .output()
        .unwrap()
}

#[test]
fn what_holds_and_what_is_missed_is_told_by_table_exit_code_and_junit() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("check");
    let output = check(&folder, &format!("{TWO}{HOLDS}{RATIO}"), &["--repeat", "2"]);
    let printed = words(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed} {}", words(&output.stderr));
    assert!(printed.contains("at least 1.0 Mbit/s holds"), "{printed}");
    assert!(printed.contains("delivered_bps / two"), "{printed}");
    assert!(printed.contains("Expectations: 2 held, 0 missed, 0 undecided."), "{printed}");
    assert_eq!(folder.entries().len(), 2, "the file and the results: {:?}", folder.entries());

    let (junit, json) = (folder.path("junit.xml"), ["--json", "--repeat", "1", "--junit"]);
    let output = check(&folder, &format!("{TWO}{HOLDS}{BROKEN}"), &[&json[..], &[junit.as_str()]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", words(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdicts: Vec<&str> =
        printed[0]["expectations"].as_array().unwrap().iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!((verdicts.as_slice(), &printed[0]["verdict"]), (&["holds", "missed"][..], &"missed".into()));
    let junit = fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("tests=\"2\" failures=\"1\" errors=\"0\"") && junit.contains("<failure message="),
        "{junit}"
    );
    assert!(junit.ends_with("</testsuites>\n"), "{junit}");
}

#[test]
fn what_stays_undecided_up_to_the_limit_has_a_code_of_its_own() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("check-undecided");
    let (_, record) = run_with("check-former", TWO, &["--only", "one", "--repeat", "2"]);
    // A former record in which the same run is far slower, and far faster.
    let mut former = serde_json::to_value(record.unwrap()).unwrap();
    for (run, factor) in former["runs"].as_array_mut().unwrap().iter_mut().zip([0.01, 100.0]) {
        run["delivered_bps"] = (run["delivered_bps"].as_f64().unwrap() * factor).into();
    }
    fs::create_dir_all(folder.path("before")).unwrap();
    fs::write(folder.path("before/record.json"), former.to_string()).unwrap();
    let output = check(&folder, &format!("{TWO}{FORMER}"), &["--repeat", "1", "--most", "3"]);
    let (printed, said) = (words(&output.stdout), words(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{printed} {said}");
    assert!(said.contains("1 undecided after 1 repetitions: 1 more"), "{said}");
    assert!(said.contains("1 undecided after 2 repetitions: 1 more"), "{said}");
    assert!(!said.contains("run 1 of 2"), "run `two` is not needed: {said}");
    assert!(printed.contains("undecided"), "{printed}");
}

#[test]
fn a_run_of_lab_prints_verdicts_and_fails_for_none() {
    if !may_make_networks() {
        return;
    }
    let (output, _) = run_with("check-run", &format!("{TWO}{HOLDS}{BROKEN}"), &["--only", "two"]);
    let printed = words(&output.stdout);
    assert!(output.status.success(), "{}", words(&output.stderr));
    assert!(printed.contains("Expectations: 0 held, 1 missed, 0 undecided."), "{printed}");
}

/// Two hosts at a switch, each with a team of two links, and two runs that differ by the mode.
const TEAMS: &str = "title = 'Teams'\ndefaults = { warmup = '200ms', duration = '300ms', rate = '10mbit' }\n\
    teams = { t = { mode = 'ovs-active-backup' } }\nlinks = [{ between = [['a', 'b'], 's'], count = 2 }]\n[switches]\ns = {}\n\
    [hosts]\na = { team = 't' }\nb = { team = 't' }\n[workloads.w]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\n\
    [[runs]]\nname = 'one'\nworkloads = 'w'\n";

#[test]
fn several_experiments_have_one_page_and_their_bundles_a_folder() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("check-page");
    fs::write(folder.path("second.toml"), format!("{TWO}{HOLDS}").replace("a < b", "Second")).unwrap();
    let (page, output) = (folder.path("verdicts.html"), folder.path("bundles"));
    let arguments = [&folder.path("second.toml"), "--repeat", "1", "--page", &page, "--output", &output];
    let done = check(&folder, &format!("{TWO}{HOLDS}{BROKEN}"), &arguments);
    assert_eq!(done.status.code(), Some(1), "{}", words(&done.stderr));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("experiment: a &lt; b"), "{page}");
    assert!(page.contains("second: Second") && page.contains("2 held, 1 missed, 0 undecided."), "{page}");
    assert!(!["<script", "src=", "http"].iter().any(|loaded| page.contains(loaded)));
    for bundle in ["experiment-1", "second-1"] {
        let record = folder.0.join("bundles").join(bundle).join("record.json");
        let record: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
        assert_eq!(record["experiment"]["expect"][0]["figure"], "delivered_bps", "{record}");
        let report = fs::read_to_string(folder.0.join("bundles").join(bundle).join("report.html")).unwrap();
        assert!(report.contains("What was expected"), "{bundle}");
    }
    assert!(!folder.entries().contains(&"results".to_owned()), "{:?}", folder.entries());
    // The verdicts stand in the report of a bundle, too.
    let report = Command::new(env!("CARGO_BIN_EXE_nicteam"))
        .args(["lab", "report", &folder.path("bundles/experiment-1")])
        .output()
        .unwrap();
    assert!(words(&report.stdout).contains("Expectations: 1 held, 1 missed, 0 undecided."));
    // The folder is there now.
    let again = check(&folder, &format!("{TWO}{HOLDS}"), &["--output", &folder.path("bundles")]);
    assert_failure(&again, 2, &["cannot make", "bundles"]);
}

#[test]
fn each_engine_is_judged_and_a_missing_one_has_a_code_of_its_own() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("check-engine");
    let file = format!("{TEAMS}{HOLDS}");
    let wrong = check(&folder, &file, &["--engine", "ovz"]);
    assert_failure(&wrong, 2, &["ovz"]);
    let kernel =
        check(&folder, &file.replace("ovs-active-backup", "active-backup"), &["--engine", "kernel", "--repeat", "1"]);
    if fs::exists("/proc/net/bonding").unwrap() || fs::exists("/sys/class/net/bonding_masters").unwrap() {
        assert_eq!(kernel.status.code(), Some(0), "{}", words(&kernel.stderr));
    } else {
        assert_failure(&kernel, 3, &["no run can be carried out here", "`one`: ", "bonding"]);
    }
    if !has(&["ovs-vswitchd"]) {
        return;
    }
    let output = check(&folder, &file, &["--engine", "nicteam,ovs", "--repeat", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs: Vec<&str> =
        printed[0]["expectations"].as_array().unwrap().iter().map(|one| one["run"].as_str().unwrap()).collect();
    assert_eq!(runs, ["one.nicteam", "one.ovs"]);
}

#[test]
fn a_file_that_expects_nothing_and_a_former_record_that_is_not_there_are_wrong_input() {
    if !may_make_networks() {
        return;
    }
    let folder = Folder::new("check-wrong");
    assert_failure(&check(&folder, TWO, &[]), 2, &["expects nothing", "hint: add sections [[expect]]"]);
    assert_failure(&check(&folder, &format!("{TWO}{FORMER}"), &[]), 2, &["before is no folder with a record.json"]);
    let wrong = format!("{TWO}{}", HOLDS.replace("delivered_bps", "deliverd_bps"));
    assert_failure(&check(&folder, &wrong, &[]), 2, &["experiment.toml:", "did you mean `delivered_bps`?"]);
}
