//! A bundle's page, and that of an experiment that runs.

use std::ffi::OsStr;
use std::path::Path;

use maud::html;
use nicteam_record::{Bundle, MAX_SAMPLES_BYTES, RECORD, Sample};
use nicteam_report::{NUMBER, WORDS, add_findings, page_in, plain_table};

use crate::folder::{is_making, own, samples, shown, visible};
use crate::frame::{frame, page};

/// The page of the report, in our frame. The outer error is that there is no such bundle.
pub(crate) fn bundle(dir: &Path, name: &OsStr) -> Option<Result<String, String>> {
    let path = own(dir, name)?;
    if !path.join(RECORD).exists() {
        return is_making(name).then(|| Ok(running(&path, name)));
    }
    Some(report(&path, name).map_err(|error| visible(&error.to_string())))
}

fn report(path: &Path, name: &OsStr) -> Result<String, nicteam_record::BundleError> {
    let mut bundle = Bundle::open(path)?;
    add_findings(&mut bundle.record);
    page_in(&frame(Some(&shown(name))), &bundle.record, |run| bundle.samples(run))
}

/// What the samples of an experiment say that has no record yet: the lab writes them when a run has ended.
fn running(path: &Path, name: &OsStr) -> String {
    let folder = nicteam_record::Folder::open(path);
    let rows = samples(path).into_iter().filter(|(file, _)| Path::new(file).extension() == Some(OsStr::new("jsonl")));
    let rows: Vec<(String, Option<Sent>)> = rows
        .map(|(file, _)| {
            let sent = file.to_str().and_then(|file| Sent::of(folder.as_ref().ok()?, &format!("samples/{file}")));
            (shown(Path::new(&file).file_stem().unwrap_or_default()), sent)
        })
        .collect();
    let columns = [("run", WORDS), ("samples", NUMBER), ("measured", NUMBER), ("sent", NUMBER)];
    let table = html! {
        @for (run, sent) in &rows {
            tr {
                td { (run) }
                @if let Some(sent) = sent {
                    td.num { (sent.samples) }
                    td.num { (format!("{:.1} s", sent.ms / 1e3)) }
                    td.num { (visible(&sent.node)) " " (format!("{:.1} Mbit/s", sent.bps() / 1e6)) }
                } @else { td colspan="3" { "cannot be read" } }
            }
        }
    };
    let main = html! {
        header { p.eyebrow { "nicteam serve" } h1 { (shown(name)) } }
        p.lead { "This experiment runs now. " (rows.len()) " of its runs have ended." }
        @if !rows.is_empty() { (plain_table(&columns, &table)) }
        p.quiet {
            "Sent: by the host or switch whose teams sent most. "
            "The lab writes the samples of a run at its end, and the record after the last run: then this is the report."
        }
    };
    page(&shown(name), Some(&shown(name)), &main)
}

/// What the teams of the busiest node sent in a run's measured time. A sum over nodes would count a frame at each of them.
#[derive(Debug, Default)]
struct Sent {
    samples: usize,
    ms: f64,
    node: String,
    bytes: u64,
}

impl Sent {
    fn of(folder: &nicteam_record::Folder, file: &str) -> Option<Sent> {
        let mut sent = Sent::default();
        let mut first: std::collections::BTreeMap<String, u64> = Default::default();
        let mut last = first.clone();
        let each = |_, line: &str| {
            sent.samples += 1;
            // A line that is no sample says nothing; the report will name it.
            if let Ok(sample) = serde_json::from_str::<Sample>(line)
                && sample.t_ms >= 0.0
            {
                let bytes = sample.members.iter().fold(0, |sum: u64, member| sum.saturating_add(member.tx_bytes));
                first.entry(sample.host.clone()).or_insert(bytes);
                last.insert(sample.host, bytes);
                sent.ms = sent.ms.max(sample.t_ms);
            }
            Ok(())
        };
        folder.read_lines(file, MAX_SAMPLES_BYTES, each).ok()?;
        for (node, bytes) in last {
            let grown = bytes.saturating_sub(first.get(&node).copied().unwrap_or(0));
            if grown > sent.bytes {
                (sent.node, sent.bytes) = (node, grown);
            }
        }
        Some(sent)
    }

    fn bps(&self) -> f64 {
        if self.ms > 0.0 { self.bytes as f64 * 8e3 / self.ms } else { 0.0 }
    }
}
