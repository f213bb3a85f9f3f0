//! The one door to a team: whatever changes it is an input that can be recorded, and the daemon has no other way.

use super::tree::{Source, below, project};

/// What changes a team and is no input of its own, and why.
const OTHERS: &[(&str, &str)] = &[
    ("add_member", "add_member_at, at the place that is free"),
    ("apply", "the door"),
    ("handle_link", "handle_links of one"),
    ("poll_effect", "what comes out; each entry's is taken at once"),
];

/// What a team offers that changes it.
fn changing(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut of_team = false;
    let mut rest = source.code.as_str();
    while let Some(at) = rest.find(['\n']) {
        let line = &rest[..at];
        if line.starts_with("impl") {
            of_team = line.starts_with("impl Team {");
        }
        if let Some(name) = line.strip_prefix("    pub fn ").filter(|_| of_team) {
            let declared = &rest[..rest.find('{').unwrap_or(rest.len())];
            if declared.contains("&mut self") {
                found.push(name.split(['(', '<']).next().unwrap_or_default().to_owned());
            }
        }
        rest = &rest[at + 1..];
    }
    found
}

#[test]
fn whatever_changes_a_team_is_an_input() {
    let sources = below(&project().join("crates/team/src"));
    let door = sources.iter().find(|source| source.path.ends_with("control/door.rs")).expect("the door");
    let mut changing: Vec<String> = sources.iter().flat_map(changing).collect();
    changing.sort_unstable();
    assert!(changing.len() > 25, "{changing:?}");
    for name in &changing {
        let is_input = door.code.contains(&format!("self.{name}("));
        let is_other = OTHERS.iter().any(|(other, _)| other == name);
        assert!(is_input != is_other, "`Team::{name}` is to be an input (control/door.rs), or said here not to be");
    }
    for (other, _) in OTHERS {
        assert!(changing.iter().any(|name| name == other), "{other} changes no team any more");
    }
}

#[test]
fn the_daemon_keeps_a_recorded_team() {
    let sources = below(&project().join("crates/daemon/src"));
    let shell = sources.iter().find(|source| source.path == "shell/mod.rs").expect("the shell");
    assert!(shell.code.contains("team: Recorded,"));
    for source in &sources {
        for other in ["&mut Team\n", "&mut Team,", "&mut Team)", " Team::new", "Recorded::from"] {
            assert!(!source.code.contains(other), "{} has `{}`, beside what is recorded", source.path, other.trim());
        }
    }
}
