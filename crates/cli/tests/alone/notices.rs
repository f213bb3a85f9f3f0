//! Where nothing is wrong nothing is said to be: the experiments that come with nicteam, run one after the other.
//!
//! A run expects notices if its file lets something happen to its network (`[[runs.events]]`), and no others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nicteam_testnet::{is_soak, may_make_networks};

/// What runs where not all do: two teams that stripe, one that does towards plain hosts, and two that do neither.
const FEW: [&str; 3] = ["stripe", "one-sided", "switch-teams"];

/// The runs of an experiment that nothing happens in.
fn undisturbed(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let runs =
        text.split("[[runs]]").skip(1).filter(|run| !run.contains("[[runs.events]]") && !run.contains("events = ["));
    let name =
        |run: &str| run.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"').map(str::to_owned));
    runs.filter_map(name).collect()
}

fn experiments() -> Vec<PathBuf> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    files
}

/// What was said of a node while the experiment ran: `  NODE: TEXT`.
fn notices(said: &str) -> Vec<&str> {
    let is_notice = |line: &&str| {
        let node = line.strip_prefix("  ").and_then(|line| line.split(' ').next());
        node.is_some_and(|node| node.len() > 1 && node.ends_with(':'))
    };
    said.lines().filter(is_notice).collect()
}

#[test]
fn no_experiment_tells_of_what_is_not_there() {
    if !may_make_networks() {
        return;
    }
    let mut told = Vec::new();
    for file in experiments() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let mut runs = undisturbed(&file);
        if !is_soak() {
            runs.truncate(usize::from(FEW.contains(&name)));
        }
        if runs.is_empty() {
            continue;
        }
        let output = std::env::temp_dir().join(format!("nicteam-notices-{name}-{}", std::process::id()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_nicteam"));
        command.args(["lab", "run", name, "--only", &runs.join(","), "--duration", "1s", "--output"]).arg(&output);
        let ran = command.output().unwrap();
        let _ = fs::remove_dir_all(&output);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{name}: {said}");
        told.extend(notices(&said).into_iter().map(|line| format!("{name}: {}", line.trim())));
    }
    assert_eq!(told, [] as [&str; 0]);
}

#[test]
fn a_notice_is_known_by_its_node() {
    let said = "run 1 of 2: one-connection (9 s)\n  right: team0: member 1 is silent: 10.0.0.1\n  375.2 Mbit/s, 1.00 of the limit\n  \
        the run: 129 of 537 MB; hint: raise it\n";
    assert_eq!(notices(said), ["  right: team0: member 1 is silent: 10.0.0.1"]);
    assert_eq!(undisturbed(&experiments().into_iter().find(|path| path.ends_with("stripe.toml")).unwrap()).len(), 4);
}
