//! A result file: what one part measured.

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_load::cpu;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::figure::{Figure, Section};
use crate::tools;

/// What one part of `xtask accept` or `xtask bench` measured: `docs/results/PART.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartResult {
    /// The part, as `--only` names it.
    pub(crate) part: String,
    /// The command that measures it again.
    pub(crate) command: String,
    /// The commit that was measured; `+` behind it if files differed from that commit.
    pub(crate) commit: String,
    /// Processors and kernel.
    pub(crate) machine: String,
    /// Day it was measured, UTC, `YYYY-MM-DD`.
    pub(crate) date: String,
    /// What was measured.
    pub(crate) sections: Vec<SectionResult>,
}

/// Figures measured together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SectionResult {
    pub(crate) title: String,
    pub(crate) figures: Vec<FigureResult>,
}

/// One measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FigureResult {
    pub(crate) name: String,
    /// The value in words, where it is not a median of repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Median of the repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) median: Option<f64>,
    /// Lower end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<f64>,
    /// Upper end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<f64>,
    /// Number of repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    /// What the numbers count; empty if the name says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) unit: String,
    /// What it has to be, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<String>,
    /// Whether the median keeps to the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holds: Option<bool>,
    /// True if the interval reaches over the bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) doubtful: bool,
    /// What it is compared with, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peer: Option<String>,
    /// Share of all processors that was busy before it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) busy_before: Option<f64>,
    /// Share of all processors that a hypervisor took while it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stolen: Option<f64>,
}

impl PartResult {
    /// What was measured just now, here.
    pub(super) fn of(part: &str, command: String, sections: &[Section]) -> Result<PartResult, Failure> {
        let kernel = nix::sys::utsname::uname().map_err(Failure::failed)?;
        Ok(PartResult {
            part: part.to_owned(),
            command,
            commit: commit(),
            machine: format!("{} x {}, Linux {}", cpu::count(), cpu::model()?, kernel.release().to_string_lossy()),
            date: time::OffsetDateTime::now_utc().date().to_string(),
            sections: sections.iter().map(SectionResult::of).collect(),
        })
    }

    /// Writes it as `PART.json` into a folder, which is made if it is not there.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(format!("{}.json", self.part));
        let mut text = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        text.push('\n');
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(cannot("write", &path))
    }

    /// Reads one.
    pub(super) fn read(path: &Path) -> Result<PartResult, Failure> {
        let text = fs::read_to_string(path).map_err(cannot("read", path))?;
        serde_json::from_str(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
    }

    /// Reads all of a folder, in the order of their names; none if there is no folder.
    pub(super) fn read_all(folder: &Path) -> Result<Vec<PartResult>, Failure> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths.iter().map(|path| PartResult::read(path)).collect()
    }
}

impl SectionResult {
    fn of(section: &Section) -> SectionResult {
        let figures = section.figures.iter().map(FigureResult::of).collect();
        SectionResult { title: section.title.clone(), figures }
    }
}

impl FigureResult {
    pub(super) fn of(figure: &Figure) -> FigureResult {
        let estimate = figure.estimate;
        FigureResult {
            name: figure.name.clone(),
            text: estimate.is_none().then(|| figure.measured.clone()),
            median: estimate.map(|estimate| estimate.median),
            low: estimate.map(|estimate| estimate.low),
            high: estimate.map(|estimate| estimate.high),
            n: estimate.map(|estimate| estimate.samples),
            unit: figure.unit.to_owned(),
            bound: Some(figure.bound.clone()).filter(|bound| bound != "-"),
            holds: figure.holds,
            doubtful: !figure.clear,
            peer: Some(figure.peer.clone()).filter(|peer| !peer.is_empty()),
            busy_before: figure.noise.map(|noise| noise.busy_before),
            stolen: figure.noise.map(|noise| noise.stolen),
        }
    }
}

/// A figure among all parts, by the names of its part and its own.
pub(super) fn find<'a>(
    parts: &'a [PartResult],
    part: &str,
    figure: &str,
) -> Option<(&'a PartResult, &'a FigureResult)> {
    let part = parts.iter().find(|found| found.part == part)?;
    let mut figures = part.sections.iter().flat_map(|section| &section.figures);
    figures.find(|found| found.name == figure).map(|found| (part, found))
}

/// The commit of the checkout, with `+` if tracked files other than results differ from it.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let output = tools::output(command.arg("-C").arg(tools::repository()).args(arguments)).ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=7", "HEAD"]) else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!README.md"]);
    if changed.is_some_and(|changed| changed.is_empty()) { commit } else { commit + "+" }
}

pub(super) fn cannot<'a>(operation: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> Failure + 'a {
    move |error| Failure::failed(format!("cannot {operation} {}: {error}", path.display()))
}
