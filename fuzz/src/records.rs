//! What an experiment leaves behind, as it is reported again (crates `record` and `report`).

use nicteam_record::{Record, Run, Sample};
use nicteam_report::{Style, explain, findings, page, table};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[("record", record)];

/// A record is refused, or has a table, a page and explanations. Behind the
/// first empty line stand samples, a line each, which belong to every run.
pub fn record(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let (record, samples) = text.split_once("\n\n").unwrap_or((&text, ""));
    let Ok(record) = serde_json::from_str::<Record>(record) else { return false };
    let samples: Vec<Sample> = samples.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for run in &record.runs {
        assert!(!explain(run).sentence.is_empty());
        let found = Run { findings: findings(run), ..run.clone() };
        let read: Run = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
        assert!(!explain(&read).sentence.is_empty());
    }
    for (ascii, width) in [(false, 100), (true, 60)] {
        let text = table(&record, &Style { color: !ascii, ascii, width });
        assert!(!ascii || text.is_ascii());
    }
    let of_run = |_: &Run| Ok::<_, ()>(samples.clone());
    assert!(page(&record, of_run).is_ok_and(|page| page.starts_with("<!DOCTYPE html>")));
    true
}
