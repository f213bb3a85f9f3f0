//! A file with random faults becomes one with these faults.

use nicteam_chaos::replay;
use toml::{Table, Value};

const FILE: &str = "title = \"t\" # a comment\n[hosts]\na = {}\n[[expect]]\nrun = \"other\"\n\
    [[runs]]\nname = \"other\"\n\
    [[runs]]\nname = \"storm\"\ncompared_with = \"other\"\nevents = [{ kind = \"cable\" }]\n\
    [runs.teams.t]\nmode = \"active-backup\"\n[runs.chaos]\nseed = 7\n";

#[test]
fn the_run_stands_alone_with_its_faults() {
    let faults = ["{ at = \"1ms\", kind = \"silence\" }".to_owned(), "{ at = \"2ms\", kind = \"kill\" }".to_owned()];
    let file: Table = replay(FILE, "storm", &faults).unwrap().parse().unwrap();
    let [Value::Table(run)] = file["runs"].as_array().unwrap().as_slice() else { panic!("{file}") };
    let kinds: Vec<&str> = run["events"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["silence", "kill"]);
    assert!(["chaos", "compared_with"].iter().all(|key| !run.contains_key(*key)) && !file.contains_key("expect"));
    assert_eq!((run["teams"]["t"]["mode"].as_str(), file["title"].as_str()), (Some("active-backup"), Some("t")));
}

#[test]
fn no_faults_are_no_events_and_what_is_wrong_is_said() {
    let file: Table = replay(FILE, "storm", &[]).unwrap().parse().unwrap();
    assert!(!file["runs"][0].as_table().unwrap().contains_key("events"));
    assert!(replay(FILE, "none", &[]).unwrap_err().contains("no run `none`"));
    assert!(replay("= 1", "storm", &[]).unwrap_err().contains("not understood"));
    assert!(replay(FILE, "storm", &["{ at".to_owned()]).unwrap_err().contains("faults"));
}
