//! What the command line changes.

use std::time::Duration;

use nicteam_experiment::{self as experiment, Experiment, Overrides};

use crate::experiment::{TRAFFIC, parse_with};

#[test]
fn the_command_line_overrides_and_is_noted() {
    let overrides = Overrides {
        rate_bps: Some(1_000_000_000),
        duration: Some(Duration::from_secs(60)),
        only: Some(vec!["one-connection".to_owned()]),
        ..Overrides::default()
    };
    let source = experiment::find("t3").unwrap();
    let t3 = experiment::parse(&source.name, &source.path, &source.text, &overrides).unwrap();
    assert_eq!(t3.runs.len(), 1);
    assert_eq!(t3.runs[0].duration, Duration::from_secs(60));
    assert!(t3.runs[0].topology.cables.iter().all(|cable| cable.rate_bps == 1_000_000_000));
    assert_eq!(t3.overrides, ["rate=1gbit", "duration=60s", "only=one-connection"]);
}

/// Two hosts with a team that every engine can run, and a run in which one engine alone can.
const ENGINES: &str = r#"
title = "Engines"
links = [{ between = ["a", "sw"], count = 2 }, { between = ["b", "sw"], count = 2 }]
teams.t.mode = "active-backup"
hosts.a.team = "t"
hosts.b.team = "t"
switches.sw.spread = "src-dst-mac"
[workloads.w]
kind = "tcp"
from = "a"
to = "b"
[[runs]]
name = "first"
workloads = "w"
[[runs]]
name = "striped"
workloads = "w"
teams.t = { mode = "stripe" }
"#;

fn with_engines(engines: &[&str], only: &str) -> Result<Experiment, experiment::Diagnostics> {
    let engines = engines.iter().map(|engine| (*engine).to_owned()).collect();
    let overrides = Overrides { engines, only: Some(vec![only.to_owned()]), ..Overrides::default() };
    experiment::parse("t", "t.toml", ENGINES, &overrides)
}

#[test]
fn an_engine_of_the_command_line_runs_the_hosts_teams() {
    let one = with_engines(&["ovs"], "first").unwrap();
    let [run] = &one.runs[..] else { panic!("{:?}", one.runs) };
    assert_eq!((run.name.as_str(), &run.variant), ("first", &None));
    assert!(run.topology.teams.iter().all(|team| team.engine == "ovs"), "{:?}", run.topology.teams);
    assert_eq!(one.overrides, ["only=first", "engine=ovs"]);
    let several = with_engines(&["nicteam", "ovs", "kernel"], "first").unwrap();
    let named: Vec<_> = several.runs.iter().map(|run| (run.name.as_str(), run.variant.as_ref().unwrap())).collect();
    let names: Vec<_> = named.iter().map(|(name, variant)| (*name, &*variant.of, &*variant.engine)).collect();
    let expected =
        [("first.nicteam", "first", "nicteam"), ("first.ovs", "first", "ovs"), ("first.kernel", "first", "kernel")];
    assert_eq!(names, expected);
}

#[test]
fn what_an_engine_of_the_command_line_cannot_do_is_an_error_at_its_line() {
    let refused = with_engines(&["nicteam", "ovs"], "striped").unwrap_err().to_string();
    assert!(refused.contains("engine `ovs` has no mode stripe") && refused.contains("teams.t = {"), "{refused}");
    assert!(refused.ends_with("1 error in t.toml\n"), "{refused}");
    let unknown = with_engines(&["ovz"], "first").unwrap_err().to_string();
    assert!(unknown.contains("no engine `ovz`") && unknown.contains("did you mean `ovs`?"), "{unknown}");
    let twice = with_engines(&["ovs", "ovs"], "first").unwrap_err().to_string();
    assert!(twice.contains("engine `ovs` is named twice"), "{twice}");
}

#[test]
fn a_run_may_give_a_team_to_another_engine() {
    let text = ENGINES.replace("{ mode = \"stripe\" }", "{ engine = \"ovs\" }");
    let experiment = parse_with(&text, &Overrides::default());
    let engines = |run: usize| experiment.runs[run].topology.teams.iter().map(|team| &*team.engine).collect::<Vec<_>>();
    assert_eq!((engines(0), engines(1)), (vec!["nicteam"; 2], vec!["ovs"; 2]));
}

#[test]
fn a_run_alone_is_fitted_as_among_the_others() {
    let text = format!(
        "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\n{TRAFFIC}\
         [workloads.both]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\ndirection = 'both'\n\
         [[runs]]\nname = 'both'\nworkloads = 'both'\n"
    );
    let all = parse_with(&text, &Overrides::default());
    let one = parse_with(&text, &Overrides { only: Some(vec!["r".to_owned()]), ..Overrides::default() });
    let limit = |number: usize| experiment::limit(&all.runs[number]).bps;
    assert!(limit(0) < limit(1));
    assert_eq!((all.highest_limit_bps, one.highest_limit_bps), (limit(1), limit(1)));
}

#[test]
fn a_congestion_control_that_the_machine_lacks_is_refused_at_its_place() {
    let text = |congestion| {
        format!(
            "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\n{TRAFFIC}\
             [workloads.other]\nkind = 'tcp'\nfrom = 'a'\nto = 'b'\n{congestion}\n"
        ) + "[[runs]]\nname = 'other'\nworkloads = 'other'\n"
    };
    let available = ["reno", "cubic"];
    let check = |text: &str, overrides: &Overrides, available: &[&str]| {
        let checked = experiment::check_congestion(&parse_with(text, overrides), available, |n| available.contains(&n));
        checked.map_err(|errors| errors.entries())
    };
    let all = Overrides::default();
    assert_eq!(check(&text("congestion = 'reno'"), &all, &available), Ok(()));
    let cubik = text("congestion = 'cubik'");
    let line = 1 + cubik.lines().position(|line| line.contains("cubik")).unwrap();
    let [entry] = check(&cubik, &all, &available).unwrap_err().try_into().unwrap();
    assert_eq!((entry.line, entry.column), (Some(line), Some(14)));
    assert_eq!(entry.hint.as_deref(), Some("did you mean `cubic`? this kernel has `reno` and `cubic`"));
    // Runs that are left out need nothing.
    let only = Overrides { only: Some(vec!["r".to_owned()]), ..Overrides::default() };
    assert_eq!(check(&cubik, &only, &available), Ok(()));
    // What the file does not name has no place in it.
    let [entry] = check(&text(""), &all, &["reno"]).unwrap_err().try_into().unwrap();
    assert_eq!(entry.line, None);
    assert!(entry.hint.unwrap().contains("`[defaults]`"));
}

#[test]
fn an_override_that_cannot_hold_is_refused() {
    let bad = |overrides: &Overrides, text: &str| {
        experiment::parse("x", "x.toml", text, overrides).unwrap_err().entries()[0].clone()
    };
    let only = Overrides { only: Some(vec!["one-conection".to_owned()]), ..Overrides::default() };
    let entry = bad(&only, &experiment::find("t3").unwrap().text);
    assert_eq!((entry.line, entry.hint.as_deref()), (None, Some("did you mean `one-connection`?")));

    let rate = Overrides { rate_bps: Some(1_000_000_000), ..Overrides::default() };
    let text = format!(
        "title = 'x'\n[hosts]\na = {{}}\nb = {{}}\n[[links]]\nbetween = ['a', 'b']\nrate = '10mbit'\n{TRAFFIC}"
    );
    assert!(bad(&rate, &text).message.contains("would change nothing"));
}
