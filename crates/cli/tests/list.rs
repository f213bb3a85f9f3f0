//! `nicteam lab list`, run as a user would.

use std::process::Command;

#[test]
fn published_tests_come_first_and_each_experiment_once() {
    let output = Command::new(env!("CARGO_BIN_EXE_nicteam")).args(["lab", "list"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let groups: Vec<&str> = said.lines().filter(|line| line.ends_with(':')).collect();
    assert_eq!(groups, ["Published tests, rebuilt:", "First steps, and one question each:", "Mode stripe:"], "{said}");
    assert!(said.lines().nth(1).is_some_and(|line| line.starts_with("  t1-two-hosts  ")), "{said}");
    let mut names: Vec<&str> =
        said.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    let built_in: Vec<&str> = nicteam_experiment::builtin().iter().map(|builtin| builtin.name).collect();
    assert_eq!(names, built_in);
}
