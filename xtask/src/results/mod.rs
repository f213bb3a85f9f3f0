//! Result files: what `make accept` and `make bench` measured, one file a part
//! in `docs/results/`, and what is made from them: `docs/figures.md`, the
//! picture and the headline figures of the README. Nothing there is typed by hand.

mod page;
mod picture;
mod readme;

use std::fs;
use std::path::{Path, PathBuf};

use nicteam_sys::cpu;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::figure::{Figure, Section};
use crate::tools;

/// Where result files are kept, from the repository's root.
const FOLDER: &str = "docs/results";
/// What is made from them.
const PAGE: &str = "docs/figures.md";
const PICTURE: &str = "docs/one-connection.svg";
const README: &str = "README.md";

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

/// Makes what is generated from the result files anew.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail if a file is not what the result files make it.
    #[arg(long)]
    check: bool,
}

/// `xtask figures`: writes, or checks, the page, the picture and the README's figures.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let root = tools::repository();
    let parts = PartResult::read_all(&root.join(FOLDER))?;
    let readme = fs::read_to_string(root.join(README)).map_err(cannot("read", Path::new(README)))?;
    let readme = readme::generate(&readme, &parts)
        .ok_or_else(|| Failure::failed(format!("{README} lacks the marks between which its figures stand")))?;
    let mut files = vec![(PAGE, page::page(&parts)), (README, readme)];
    match picture::picture(&parts) {
        Ok(svg) => files.push((PICTURE, svg)),
        Err(missing) => {
            eprintln!("xtask: no picture: nobody measured {}; hint: {}", missing.join(", "), picture::COMMAND);
        }
    }
    for (name, text) in files {
        let path = root.join(name);
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            continue;
        }
        if arguments.check {
            let hint = "hint: cargo run -p xtask -- figures";
            return Err(Failure::failed(format!("{name} is not what the result files make it; {hint}")));
        }
        fs::write(&path, text).map_err(cannot("write", &path))?;
        println!("{name}");
    }
    Ok(())
}

/// Where the figures of a run are saved; `xtask accept` and `xtask bench` share it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Save {
    /// Save the figures of each part as PART.json in this folder; `make accept` and `make bench` give docs/results.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    #[arg(skip)]
    measured: Measured,
}

/// What measures, so that it can be done again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// What stands before the names of its parts' files.
    pub(crate) prefix: &'static str,
    /// The command, without the part.
    pub(crate) script: &'static str,
}

impl Save {
    /// The same for what this measures.
    pub(crate) fn of(&self, measured: Measured) -> Save {
        Save { measured, ..self.clone() }
    }

    /// Saves one part, if that was asked for. A part that could not be measured leaves the file of the last time.
    pub(crate) fn part(&self, name: &str, sections: &[Section]) -> Result<(), Failure> {
        let Some(folder) = &self.results else { return Ok(()) };
        if sections.iter().any(|section| section.failure.is_some()) {
            return Ok(());
        }
        let (prefix, script) = (self.measured.prefix, self.measured.script);
        PartResult::of(&format!("{prefix}{name}"), format!("{script} --only {name}"), sections)?.write(folder)
    }
}

impl PartResult {
    /// What was measured just now, here.
    fn of(part: &str, command: String, sections: &[Section]) -> Result<PartResult, Failure> {
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
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(format!("{}.json", self.part));
        let mut text = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        text.push('\n');
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(cannot("write", &path))
    }

    /// Reads one.
    fn read(path: &Path) -> Result<PartResult, Failure> {
        let text = fs::read_to_string(path).map_err(cannot("read", path))?;
        serde_json::from_str(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
    }

    /// Reads all of a folder, in the order of their names; none if there is no folder.
    fn read_all(folder: &Path) -> Result<Vec<PartResult>, Failure> {
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
    fn of(figure: &Figure) -> FigureResult {
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
fn find<'a>(parts: &'a [PartResult], part: &str, figure: &str) -> Option<(&'a PartResult, &'a FigureResult)> {
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

fn cannot<'a>(operation: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> Failure + 'a {
    move |error| Failure::failed(format!("cannot {operation} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Bound;
    use crate::noise::Noise;
    use nicteam_statistics::Estimate;

    /// What a part leaves: one connection by each way, and a figure in words.
    pub(super) fn sample() -> Vec<PartResult> {
        let ways = [("big", 0.995), ("stripe", 0.992), ("mptcp", 0.981), ("rr", 0.822), ("ad", 0.25), ("alb", 0.25)];
        let mut figures: Vec<Figure> = ways
            .map(|(way, median)| {
                let estimate = Estimate::of(&[median - 0.001, median, median + 0.001]);
                Figure::ratio(format!("one-{way}: of limit"), estimate, Bound::AtLeast(0.97))
            })
            .into();
        figures.push(Figure::text("frames lost", "0, 0, 1".to_owned(), "0", Some(false)).peer("a | b"));
        let section = Section::new("one connection", Ok(figures));
        let mut part = PartResult::of("stripe-peers", "scripts/accept.sh --only stripe-peers".to_owned(), &[section]);
        let part = part.as_mut().unwrap();
        (part.commit, part.date) = ("abc1234".to_owned(), "2026-11-23".to_owned());
        part.machine = "2 x a processor, Linux 6.18".to_owned();
        vec![part.clone()]
    }

    #[test]
    fn what_is_written_is_read() {
        let scratch = crate::scratch::Scratch::new("results").unwrap();
        let folder = scratch.path().join("made");
        assert_eq!(PartResult::read_all(&folder).unwrap(), []);
        let parts = sample();
        parts[0].write(&folder).unwrap();
        assert_eq!(PartResult::read_all(&folder).unwrap(), parts);
        fs::write(folder.join("broken.json"), "{\"part\": 1}").unwrap();
        let error = PartResult::read_all(&folder).unwrap_err().to_string();
        assert!(error.contains("broken.json") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn a_figure_keeps_its_numbers_and_its_noise() {
        let noise = Noise { busy_before: 0.1, stolen: 0.02 };
        let estimate = Estimate::of(&[0.8, 0.95, 1.1]);
        let figure = Figure::ratio("x", estimate, Bound::AtLeast(0.9)).unit("of the limit").noise(noise);
        let found = FigureResult::of(&figure);
        assert_eq!((found.median, found.low, found.high, found.n), (Some(0.95), Some(0.8), Some(1.1), Some(3)));
        assert_eq!((found.holds, found.doubtful, found.bound.as_deref()), (Some(true), true, Some(">= 0.90")));
        assert_eq!((found.busy_before, found.stolen, found.text), (Some(0.1), Some(0.02), None));
        assert_eq!(found.unit, "of the limit");
        let unbound = FigureResult::of(&Figure::text("y", "0 of 48".to_owned(), "-", None));
        assert_eq!((unbound.text.as_deref(), unbound.bound, unbound.holds), (Some("0 of 48"), None, None));
    }

    #[test]
    fn a_part_that_failed_leaves_the_file_of_the_last_time() {
        let scratch = crate::scratch::Scratch::new("failed").unwrap();
        let measured = Measured { prefix: "", script: "scripts/accept.sh" };
        let save = Save { results: Some(scratch.path().join("results")), measured };
        save.part("stripe", &[Section::new("a", Err(Failure::failed("no")))]).unwrap();
        assert!(!scratch.path().join("results").exists());
        save.part("stripe", &[Section::new("a", Ok(Vec::new()))]).unwrap();
        let parts = PartResult::read_all(&scratch.path().join("results")).unwrap();
        assert_eq!((parts[0].part.as_str(), parts[0].command.as_str()), ("stripe", "scripts/accept.sh --only stripe"));
    }

    #[test]
    fn what_is_generated_is_made_of_the_committed_results() {
        run(&Arguments { check: true }).unwrap();
    }
}
