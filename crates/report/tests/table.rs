//! The terminal table, whole.

use crate::common::t3;
use nicteam_record::{Record, Run, Skipped, SwitchModel, Variant};
use nicteam_report::{Style, explain, table};

const PLAIN: &str = include_str!("golden/t3.txt");
const ASCII: &str = include_str!("golden/t3.ascii.txt");

/// `UPDATE_GOLDEN=1` rewrites a file, for review.
#[track_caller]
fn is_golden(text: &str, golden: &str, name: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        return std::fs::write(path, text).unwrap();
    }
    assert_eq!(text, golden);
}

#[test]
fn t3_in_unicode() {
    is_golden(&table(&t3(), &Style::default()), PLAIN, "t3.txt");
}

#[test]
fn t3_in_ascii() {
    let text = table(&t3(), &Style { ascii: true, ..Style::default() });
    is_golden(&text, ASCII, "t3.ascii.txt");
    assert!(text.is_ascii());
}

#[test]
fn what_is_assumed_of_a_makers_switch_is_said_once_for_all_runs() {
    let mut record = t3();
    let model =
        SwitchModel { name: "m".into(), title: "Maker's 48".into(), assumed: "the hash".into(), spreads: [].into() };
    for run in &mut record.runs {
        run.topology.switches[0].model = Some(model.clone());
        run.topology.switches[0].spread = Some("sa-da".into());
    }
    let text = table(&record, &Style::default());
    let note = "sw is modelled on Maker's 48; which link an address takes there is assumed in part.\n";
    assert_eq!(text.replacen(note, "", 1), PLAIN);
    let fact = "sw is modelled on Maker's 48 and spreads by sa-da. Assumed: the hash.".to_owned();
    assert!(record.runs.iter().all(|run| explain(run).facts.contains(&fact)));
    // With plain ports there is nothing to assume.
    record.runs.iter_mut().for_each(|run| run.topology.switches[0].spread = None);
    assert_eq!(table(&record, &Style::default()), PLAIN);
}

#[test]
fn colour_changes_no_letter() {
    let colored = table(&t3(), &Style { color: true, ..Style::default() });
    assert!(colored.contains("\x1b[31m    0.24\x1b[0m") && colored.contains("\x1b[32m    0.98\x1b[0m"), "{colored}");
    assert_eq!(without_escapes(&colored), PLAIN);
}

fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn lines_stay_within_the_width() {
    for width in [60, 80, 100, 140] {
        let mut record = t3();
        record.runs[0].name = "a-name-that-is-much-longer-than-any-column".into();
        record.runs[1].published = Some("words ".repeat(40));
        let text = table(&record, &Style { width, ..Style::default() });
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width, "{width}: {longest}\n{text}");
    }
}

/// Two runs of T3 by two engines; the third engine is not there, and the second run by the second one did not end.
fn by_engines() -> Record {
    let mut record = t3();
    record.runs.truncate(2);
    let variant = |of: &str, engine: &str| Some(Variant { of: of.to_owned(), engine: engine.to_owned() });
    let (first, second) = (record.runs[0].name.clone(), record.runs[1].name.clone());
    let by = |run: &Run, engine: &str| Run {
        name: format!("{}.{engine}", run.name),
        variant: variant(&run.name, engine),
        ..run.clone()
    };
    let [one, two] = &record.runs[..] else { panic!() };
    let mut slower = by(one, "ovs");
    (slower.of_limit, slower.delivered_bps) = (0.12, one.delivered_bps / 2.0);
    record.runs = vec![by(one, "nicteam"), slower, by(two, "nicteam")];
    record.experiment.order =
        [&first, &second].iter().flat_map(|of| ["kernel", "nicteam", "ovs"].map(|by| format!("{of}.{by}"))).collect();
    let reason = || "this kernel has no bonding driver".to_owned();
    let skipped =
        |of: &String| Skipped { run: format!("{of}.kernel"), variant: variant(of, "kernel"), reason: reason() };
    record.skipped = [&first, &second].map(skipped).into();
    record
}

#[test]
fn engines_are_columns_where_there_is_room() {
    let record = by_engines();
    let text = table(&record, &Style::default());
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>();
    assert_eq!(words(0)[..5], ["run", "limit", "kernel", "nicteam", "ovs"], "{text}");
    assert_eq!(words(1)[3..10], ["skipped", "92.1", "Mbit/s", "0.24", "46.0", "Mbit/s", "0.12"], "{text}");
    assert_eq!(words(2)[3..8], ["skipped", "92.1", "Mbit/s", "0.24", "-"], "{text}");
    assert!(text.contains("one-connection.kernel was skipped: this kernel has no bonding driver"), "{text}");
    for width in [60, 80, 100, 140] {
        let text = table(&record, &Style { width, ..Style::default() });
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width, "{width}: {longest}\n{text}");
        // Without room each run has a row of its own.
        let head = text.lines().next().unwrap_or_default();
        assert_eq!(head.contains("nicteam"), width >= 100, "{width}\n{text}");
        let of_one = text.lines().filter(|line| line.starts_with("one-co") && line.contains(".ovs  ")).count();
        assert_eq!(of_one, usize::from(width < 100), "{width}\n{text}");
    }
}

#[test]
fn no_runs_no_teams_and_zero_limits_make_a_table() {
    let mut record = t3();
    record.runs.truncate(1);
    let run = &mut record.runs[0];
    (run.limit_bps, run.of_limit, run.delivered_bps) = (0.0, f64::NAN, 0.0);
    run.topology.links.clear();
    let text = table(&record, &Style::default());
    assert!(!text.contains("NaN") && text.contains("     -  0.24  110 MB/s"), "{text}");
    record.runs.clear();
    assert_eq!(table(&record, &Style::default()).lines().count(), 1);
}

#[test]
fn a_rate_that_the_lab_lowered_is_told() {
    let mut record = t3();
    assert!(!table(&record, &Style::default()).contains("lowered"));
    record.experiment.rate_lowered_bps = Some(20_000_000);
    let text = table(&record, &Style { width: 140, ..Style::default() });
    let line = "\nThe lab lowered the links to 20 Mbit/s, the most at which this machine carries MTU-sized packets; --rate chooses another.\n";
    assert!(text.contains(line), "{text}");
}
