//! What the list says about a bundle.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use nicteam_record::{Bundle, Record, is_abandoned};

use crate::folder::{self, Entry, Mark, shown, visible};

/// A line of the list.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) name: OsString,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A bundle.
    Whole(Box<Whole>),
    /// An experiment that runs, or one whose lab was killed: so many runs have ended.
    Making { ended: usize, is_abandoned: bool },
    /// It cannot be read.
    Broken(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) title: String,
    pub(crate) experiment: String,
    pub(crate) started: String,
    pub(crate) runs: usize,
    pub(crate) is_partial: bool,
    /// The least share of the limit, and the run that has it.
    pub(crate) worst: Option<(f64, String)>,
    pub(crate) findings: usize,
    /// The causes of findings, those that cost most first.
    pub(crate) causes: Vec<String>,
}

/// Summaries of what has not changed since it was read.
#[derive(Debug, Default)]
pub(crate) struct Summaries(BTreeMap<OsString, (Mark, Summary)>);

impl Summaries {
    /// The bundles of a folder, the newest first, and whether there are more than are looked at.
    pub(crate) fn of(&mut self, dir: &Path) -> std::io::Result<(Vec<Summary>, bool)> {
        let (entries, more) = folder::entries(dir)?;
        let mut before = std::mem::take(&mut self.0);
        for entry in entries {
            let known = before.remove(&entry.name).filter(|(mark, _)| *mark == entry.mark);
            let mark = entry.mark;
            let name = entry.name.clone();
            let summary = known.map_or_else(|| read(dir, entry), |(_, summary)| summary);
            self.0.insert(name, (mark, summary));
        }
        let mut all: Vec<Summary> = self.0.values().map(|(_, summary)| summary.clone()).collect();
        all.sort_by(|one, other| other.age().cmp(&one.age()));
        Ok((all, more))
    }
}

impl Summary {
    /// What runs is newest; what cannot be read is last.
    fn age(&self) -> (u8, &str) {
        match &self.content {
            Content::Making { .. } => (2, ""),
            Content::Whole(whole) => (1, &whole.started),
            Content::Broken(_) => (0, ""),
        }
    }

    /// Whether all words of a search are in it, however they are written.
    pub(crate) fn matches(&self, search: &str) -> bool {
        let text = match &self.content {
            Content::Whole(whole) => {
                format!("{} {} {} {}", shown(&self.name), whole.title, whole.experiment, whole.causes.join(" "))
            }
            Content::Making { is_abandoned: false, .. } => format!("{} runs now", shown(&self.name)),
            Content::Making { is_abandoned: true, .. } => format!("{} was killed", shown(&self.name)),
            Content::Broken(_) => format!("{} cannot be read", shown(&self.name)),
        };
        let text = text.to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

fn read(dir: &Path, entry: Entry) -> Summary {
    let path = dir.join(&entry.name);
    let content = match entry.is_making {
        true => Content::Making {
            ended: Bundle::open(&path).map_or(0, |bundle| bundle.record.runs.len()),
            is_abandoned: is_abandoned(&path),
        },
        false => match Bundle::open(&path) {
            Ok(bundle) => Content::Whole(Box::new(whole(&bundle.record))),
            Err(error) => Content::Broken(visible(&error.to_string())),
        },
    };
    Summary { name: entry.name, content }
}

fn whole(record: &Record) -> Whole {
    let shares = record.runs.iter().filter(|run| run.of_limit.is_finite());
    let worst = shares.min_by(|one, other| one.of_limit.total_cmp(&other.of_limit));
    let mut lost: BTreeMap<&str, f64> = BTreeMap::new();
    let findings = || record.runs.iter().flat_map(|run| &run.findings);
    for finding in findings() {
        *lost.entry(&finding.cause).or_default() += finding.lost;
    }
    let mut causes: Vec<(&str, f64)> = lost.into_iter().collect();
    causes.sort_by(|one, other| other.1.total_cmp(&one.1));
    Whole {
        title: visible(&record.experiment.title),
        experiment: visible(&record.experiment.name),
        started: visible(&record.started),
        runs: record.runs.len(),
        is_partial: record.unfinished.is_some(),
        worst: worst.map(|run| (run.of_limit, visible(&run.name))),
        findings: findings().count(),
        causes: causes.into_iter().map(|(cause, _)| visible(cause)).collect(),
    }
}
