//! Result files: what `make accept` and `make bench` measured, one file a part
//! in `docs/results/`, and what is made from them: `docs/figures.md`, the
//! picture and the headline figures of the README. Nothing there is typed by hand.

mod page;
mod picture;
mod readme;
mod result;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::figure::Section;
use crate::tools;
use picture::PICTURE;
use result::{PartResult, cannot};

/// Where result files are kept, from the repository's root.
const FOLDER: &str = "docs/results";
/// What is made from them.
const PAGE: &str = "docs/figures.md";
const README: &str = "README.md";

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
    /// `command` measures it again; none: `--only` of the script.
    pub(crate) fn part(&self, name: &str, command: Option<&str>, sections: &[Section]) -> Result<(), Failure> {
        let Some(folder) = &self.results else { return Ok(()) };
        if sections.iter().any(|section| section.failure.is_some()) {
            return Ok(());
        }
        let (prefix, script) = (self.measured.prefix, self.measured.script);
        let command = match command {
            Some(command) if prefix.is_empty() => format!("{command} {name}"),
            _ => format!("{script} --only {name}"),
        };
        PartResult::of(&format!("{prefix}{name}"), command, sections)?.write(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::result::FigureResult;
    use super::*;
    use crate::figure::Bound;
    use crate::figure::Figure;
    use crate::noise::Noise;
    use nicteam_statistics::Estimate;

    /// What a part leaves: one connection by each way, and a figure in words.
    pub(super) fn sample() -> Vec<PartResult> {
        let ways = [("big", 0.995), ("stripe", 0.992), ("mptcp", 0.981), ("rr", 0.822), ("ad", 0.25), ("alb", 0.25)];
        let mut figures: Vec<Figure> = ways
            .map(|(way, median)| {
                let estimate = Estimate::of(&[median - 0.001, median, median + 0.001]);
                Figure::ratio(format!("one-{way}: of_limit"), estimate, Bound::AtLeast(0.97))
            })
            .into();
        figures.push(Figure::text("frames lost", "0, 0, 1".to_owned(), "0", Some(false)).peer("a | b"));
        let section = Section::new("one connection", Ok(figures));
        let mut part = PartResult::of("stripe-compared", "nicteam lab check stripe-compared".to_owned(), &[section]);
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
        save.part("stripe", None, &[Section::new("a", Err(Failure::failed("no")))]).unwrap();
        assert!(!scratch.path().join("results").exists());
        save.part("stripe", None, &[Section::new("a", Ok(Vec::new()))]).unwrap();
        let parts = PartResult::read_all(&scratch.path().join("results")).unwrap();
        assert_eq!((parts[0].part.as_str(), parts[0].command.as_str()), ("stripe", "scripts/accept.sh --only stripe"));
    }

    #[test]
    fn what_is_generated_is_made_of_the_committed_results() {
        run(&Arguments { check: true }).unwrap();
    }
}
