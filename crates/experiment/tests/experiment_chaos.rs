//! Random faults of a file, and faults by hand.

use nicteam_experiment::{Experiment, Overrides, fault, fault_kinds, fault_text, find, parse};

fn chaos() -> Experiment {
    let found = find("chaos").unwrap();
    parse(&found.name, &found.path, &found.text, &Overrides::default()).unwrap()
}

/// Each fault of a run, as a file has it.
fn texts(experiment: &Experiment, run: usize) -> Vec<String> {
    let begins = experiment.runs[run].events.iter().filter(|timed| !timed.ends);
    begins.map(|timed| timed.toml.to_string()).collect()
}

#[test]
fn faults_that_were_drawn_are_those_of_a_file_that_names_them() {
    let experiment = chaos();
    for (place, run) in experiment.runs.iter().enumerate() {
        let drawn = texts(&experiment, place);
        assert!(drawn.len() >= 8 && run.chaos_seed.is_some(), "{}: {drawn:?}", run.name);
        let file = nicteam_chaos::replay(&experiment.text, &run.name, &drawn).unwrap();
        let again = parse("replay", "replay.toml", &file, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.runs.len(), 1);
        assert_eq!(again.runs[0].events, run.events, "{}", run.name);
        assert_eq!((again.runs[0].chaos_seed, texts(&again, 0)), (None, drawn));
        // The same network is built for both.
        assert_eq!(again.runs[0].topology, run.topology);
    }
}

#[test]
fn a_run_with_random_faults_is_built_for_them() {
    let experiment = chaos();
    let kinds: Vec<&str> = experiment.runs[0].events.iter().map(|timed| timed.event.kind()).collect();
    assert!(kinds.contains(&"silence") && kinds.contains(&"stop"), "{kinds:?}");
    let topology = &experiment.runs[0].topology;
    assert!(topology.cables.iter().any(|cable| cable.impaired.is_some()));
    assert!(topology.teams.iter().any(|team| team.own_process));
    let t3 = find("t3").unwrap();
    let t3 = parse("t3", "t3.toml", &t3.text, &Overrides::default()).unwrap();
    assert!(t3.runs.iter().all(|run| run.topology.teams.iter().all(|team| !team.own_process)));
}

/// `lab check` decides by them; with explicit events nothing is expected.
#[test]
fn random_faults_are_expected_to_break_nothing() {
    let experiment = chaos();
    let expected: Vec<(&str, String)> =
        experiment.expect.iter().map(|expected| (expected.run.as_str(), expected.subject())).collect();
    let runs: Vec<(&str, String)> =
        experiment.runs.iter().map(|run| (run.name.as_str(), "broken".to_owned())).collect();
    assert_eq!(expected, runs);
    let line = experiment.text.lines().nth(experiment.expect[0].line - 1).unwrap();
    assert!(line.contains("chaos = "), "{line}");
    let file = nicteam_chaos::replay(&experiment.text, &experiment.runs[0].name, &texts(&experiment, 0)).unwrap();
    assert_eq!(parse("replay", "replay.toml", &file, &Overrides::default()).unwrap().expect, []);
}

#[test]
fn every_kind_can_be_written_on_a_command_line() {
    let mut run = chaos().runs.swap_remove(0);
    run.topology = run.topology.for_faults();
    let values = |of: &[&str]| of.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (kind, keys) in fault_kinds() {
        let of: &[&str] = match kind {
            "migrate" | "target" | "lacp" => continue,
            "cable" | "silence" | "filters" => &["link=a,sw", "number=1"],
            "impair" => &["link=a,sw", "impair=bad"],
            "rate" => &["link=a,sw", "rate=2mbit"],
            "mtu" => &["link=a,sw", "mtu=900"],
            "hang" => &["switch=sw"],
            "restart" => &["switch=sw", "for=1s"],
            "reboot" => &["host=a", "for=1s"],
            "stop" | "kill" | "busy" => &["host=a"],
            other => panic!("no example of `{other}`"),
        };
        assert!(of.iter().all(|it| keys.iter().any(|key| it.starts_with(&format!("{key}=")))), "{kind}: {keys:?}");
        let found = fault(&run, &fault_text(kind, &values(of))).unwrap_or_else(|wrong| panic!("{kind}: {wrong}"));
        assert_eq!(found.event.kind(), kind);
        assert_eq!(found.undone.is_none(), kind == "filters");
        assert_eq!(found.lasts.is_some(), of.contains(&"for=1s"));
    }
    let wrong = |kind: &str, of: &[&str]| fault(&run, &fault_text(kind, &values(of))).unwrap_err().to_string();
    assert!(wrong("explode", &[]).contains("`explode` is not one of its values"));
    assert!(wrong("cable", &["link"]).contains("link") && wrong("cable", &[]).contains("`link` is missing"));
    assert!(wrong("cable", &["link=a,sw", "colour=red"]).contains("unknown key `colour`"));
}
