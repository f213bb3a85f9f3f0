//! Runs with something changed that a finding proposes.

use nicteam_experiment::{Overrides, Run, Team, changed, parse};
use nicteam_record::Change;

const FILE: &str = "title = \"x\"\nlinks = [{ between = [\"a\", \"sw\"], count = 2 }, { between = [\"b\", \"sw\"], count = 2 }]\n\
    [teams]\nrr = { mode = \"balance-rr\" }\n[hosts]\na = { team = \"rr\" }\nb = { team = \"rr\" }\n\
    [switches]\nsw = { spread = \"src-dst-mac\" }\n[workloads.w]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\n\
    [[runs]]\nname = \"one\"\nworkloads = \"w\"\n";

fn with(changes: &[[&str; 3]]) -> Result<Run, String> {
    let experiment = parse("x", "x.toml", FILE, &Overrides::default()).unwrap();
    let change = |[node, what, value]: &[&str; 3]| Change {
        node: (*node).to_owned(),
        what: (*what).to_owned(),
        value: (*value).to_owned(),
    };
    changed(&experiment.runs[0], &changes.iter().map(change).collect::<Vec<_>>())
}

fn teams(run: &Run) -> Vec<String> {
    let line = |team: &Team| format!("{} {} {}", team.node, team.config.mode, team.config.xmit_hash_policy);
    run.topology.teams.iter().map(line).collect()
}

#[test]
fn groups_follow_the_teams() {
    let other = with(&[["sw", "spread", "src-dst-port"]]).unwrap();
    let groups = ["sw balance-xor src-dst-port"; 2];
    assert_eq!(teams(&other)[2..], groups);
    // Mode stripe wants plain ports.
    let striped = with(&[["a", "mode", "stripe"], ["b", "mode", "stripe"]]).unwrap();
    assert_eq!(teams(&striped).iter().filter(|team| team.starts_with("sw")).count(), 0);
    let ad = with(&[["a", "mode", "802.3ad"]]).unwrap();
    assert!(teams(&ad).contains(&"sw 802.3ad src-dst-mac".to_owned()), "{:?}", teams(&ad));
    let without = with(&[["a", "without", "eth1"]]).unwrap();
    assert!(
        without
            .topology
            .teams
            .iter()
            .all(|team| team.members.len() == if team.peer == "a" || team.node == "a" { 1 } else { 2 })
    );
}

#[test]
fn what_cannot_be_changed_is_refused() {
    assert!(with(&[["c", "mode", "stripe"]]).unwrap_err().contains("it has no team"));
    assert!(with(&[["a", "mode", "moon"]]).unwrap_err().starts_with("mode=moon at a: "));
    assert!(with(&[["sw", "mode", "stripe"]]).is_err());
}
