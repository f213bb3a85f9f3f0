//! How the tests went, in one screen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use crate::test::case::{Outcome, Ran};
use crate::test::lane::Lane;

/// Tests named as the slowest.
const SLOWEST: usize = 10;

/// Characters of each line of a reason: an assertion may print thousands of numbers.
const REASON_WIDTH: usize = 200;
/// Lines of the reason why a test failed at first.
const REASON_LINES: usize = 4;

/// Characters of the figures before a test's name.
const FIGURES_WIDTH: usize = 37;

/// How long a lane took.
#[derive(Debug)]
pub(crate) struct LaneTime {
    lane: Lane,
    tests: usize,
    wall: Duration,
    processor: Duration,
}

impl LaneTime {
    /// Of the tests that ran in it.
    pub(crate) fn of(lane: Lane, wall: Duration, ran: &[Ran]) -> LaneTime {
        LaneTime { lane, tests: ran.len(), wall, processor: ran.iter().map(|one| one.processor).sum() }
    }
}

/// How the tests went.
#[derive(Debug)]
pub(crate) struct Summary {
    /// Every test.
    pub(crate) ran: Vec<Ran>,
    /// Those that failed, tried once more.
    pub(crate) again: Vec<Ran>,
    /// The lanes.
    pub(crate) times: Vec<LaneTime>,
    /// What tests left on the machine.
    pub(crate) left: Vec<String>,
    /// What the lints found.
    pub(crate) warnings: BTreeSet<String>,
}

impl Summary {
    /// 0: all is well.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let may_skip = std::env::var("CI").as_deref() != Ok("true") || !nicteam_sys::netns::is_network_root();
        let well =
            self.warnings.is_empty() && self.failed() == 0 && self.left.is_empty() && (self.skipped() == 0 || may_skip);
        if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Those that failed twice.
    fn failed(&self) -> usize {
        self.again.iter().filter(|one| matches!(one.outcome, Outcome::Failed(_))).count()
    }

    fn skipped(&self) -> usize {
        self.ran.iter().filter(|one| matches!(one.outcome, Outcome::Skipped(_))).count()
    }

    /// A line a test, the slowest first: lane, wall and processor seconds, name.
    pub(crate) fn table(&self) -> String {
        self.slowest().into_iter().map(line).collect()
    }

    fn slowest(&self) -> Vec<&Ran> {
        let mut all: Vec<&Ran> = self.ran.iter().collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.wall));
        all
    }
}

/// The lines that say why a test failed: from its panic on, but for the advice about backtraces; without one the last lines.
fn reason(printed: &str) -> Vec<&str> {
    let useful = |line: &&str| !line.starts_with("note: ") && *line != "stack backtrace:" && !line.trim().is_empty();
    let lines: Vec<&str> = printed.lines().filter(useful).collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let from = panic.unwrap_or(lines.len().saturating_sub(REASON_LINES));
    lines[from..].iter().copied().take(REASON_LINES).collect()
}

fn line(one: &Ran) -> String {
    let (wall, processor) = (one.wall.as_secs_f64(), one.processor.as_secs_f64());
    format!("{:<12} {wall:>8.1} {processor:>13.1}  {}\n", one.case.lane, one.case.name)
}

/// The wall seconds of each test by its name, of the lines of such a table.
pub(crate) fn seconds(table: &str) -> BTreeMap<&str, f64> {
    fn of_line(line: &str) -> Option<(&str, f64)> {
        let (figures, name) = line.split_at_checked(FIGURES_WIDTH)?;
        Some((name, figures.split_whitespace().nth(1)?.parse().ok()?))
    }
    table.lines().filter_map(of_line).collect()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.again {
            if let Outcome::Failed(printed) = &one.outcome {
                writeln!(f, "\n== {} failed\n{printed}", one.case.name)?;
            }
        }
        if !self.warnings.is_empty() {
            writeln!(f, "\n== lints")?;
            self.warnings.iter().try_for_each(|warning| f.write_str(warning))?;
        }
        self.ran.iter().flat_map(|one| &one.remarks).try_for_each(|remark| writeln!(f, "{remark}"))?;
        writeln!(f, "\nlane    tests   wall s   processor s")?;
        for LaneTime { lane, tests, wall, processor } in &self.times {
            let (wall, processor) = (wall.as_secs_f64(), processor.as_secs_f64());
            writeln!(f, "{lane:<6} {tests:>6} {wall:>8.1} {processor:>13.1}")?;
        }
        writeln!(f, "\nthe slowest    wall s   processor s")?;
        self.slowest().into_iter().take(SLOWEST).try_for_each(|one| f.write_str(&line(one)))?;
        self.write_exceptions(f)?;
        let (failed, skipped) = (self.failed(), self.skipped());
        writeln!(f, "{} passed, {failed} failed, {skipped} skipped", self.ran.len() - failed - skipped)
    }
}

impl Summary {
    /// What was skipped, what passed only when it was tried again, what was left behind.
    fn write_exceptions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &self.ran {
            if let Outcome::Skipped(why) = &one.outcome {
                *skipped.entry(why).or_default() += 1;
            }
        }
        writeln!(f)?;
        match skipped.is_empty() {
            true => writeln!(f, "nothing was skipped")?,
            false => skipped.iter().try_for_each(|(why, n)| writeln!(f, "skipped, {n} tests: {why}"))?,
        }
        for one in self.again.iter().filter(|one| matches!(one.outcome, Outcome::Passed)) {
            writeln!(f, "failed at first and passed when tried once more, alone: {}", one.case.name)?;
            let first = self.ran.iter().find(|ran| ran.case.name == one.case.name);
            if let Some(Ran { outcome: Outcome::Failed(printed), .. }) = first {
                reason(printed).iter().try_for_each(|line| writeln!(f, "    {line:.REASON_WIDTH$}"))?;
            }
        }
        self.left.iter().try_for_each(|what| writeln!(f, "left on the machine: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_as_it_was_written() {
        let table =
            "live             57.1           6.1  oracle/tests live::a\nplain             0.0           0.0  b c\n";
        assert_eq!(seconds(table), BTreeMap::from([("oracle/tests live::a", 57.1), ("b c", 0.0)]));
        assert_eq!(seconds("\nnonsense\n"), BTreeMap::new());
    }

    #[test]
    fn the_reason_of_a_failure_is_its_panic() {
        let printed = "running 1 test\nthread 'a' (7) panicked at crates/a.rs:1:2:\nassertion failed\n\nnote: run with\ntest a ... FAILED\nb\nc";
        let panic = "thread 'a' (7) panicked at crates/a.rs:1:2:";
        assert_eq!(reason(printed), [panic, "assertion failed", "test a ... FAILED", "b"]);
        assert_eq!(reason("a\nb\n\nc\nd\nkilled after 600 s\n"), ["b", "c", "d", "killed after 600 s"]);
    }
}
