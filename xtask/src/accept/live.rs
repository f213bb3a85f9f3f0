//! The live tests that kill teams and interrupt labs.

use std::process::Command;

use super::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::part::Part;
use crate::tools;

/// The live tests that kill and clean up.
pub(super) const PART: Part<Arguments> =
    Part { prepare: build, ..Part::new("live", "killed teams and interrupted labs", |_| measure()) };

/// Tests of the package `nicteam` by the beginning of their names, each with what it shows.
const TESTS: [(&str, &str); 2] = [
    ("quiet::kill::", "kill -9 of every team loses no frame, a new process takes over"),
    ("live::cleanup::", "Ctrl-C, kill -9, full disk, no privileges: a message, a clean machine"),
];

/// Compiles the test program.
fn build() -> Result<(), Failure> {
    tools::output(test_program().arg("--no-run")).map(drop)
}

/// Runs them and counts.
fn measure() -> Result<Vec<Figure>, Failure> {
    TESTS.iter().map(|(tests, shows)| run(tests, shows)).collect()
}

fn test_program() -> Command {
    let mut command = tools::cargo();
    command.args(["test", "--quiet", "--release", "--locked", "--package", "nicteam", "--test", "tests"]);
    command
}

fn run(tests: &str, shows: &str) -> Result<Figure, Failure> {
    eprintln!("tests: {tests}");
    let mut command = test_program();
    command.args(["--", "--show-output", "--test-threads=1", tests]);
    let (said, noise) = Noise::around(|| run_to_end(&mut command))?;
    let count = Count::of(&said).ok_or_else(|| Failure::failed(format!("{tests} did not run:\n{said}")))?;
    if count.failed > 0 {
        eprintln!("{said}");
    }
    let measured = format!("{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
    let holds = count.passed > 0 && count.failed == 0 && count.skipped == 0;
    Ok(Figure::text(shows, measured, "all pass", Some(holds)).noise(noise))
}

/// What a test program printed, on both outputs; that a test fails is no failure to run.
fn run_to_end(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| Failure::failed(format!("cannot run cargo: {error}")))?;
    Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// How tests ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u32,
    failed: u32,
    /// Tests that passed because they were not done.
    skipped: u32,
}

impl Count {
    /// From the words of a test program.
    fn of(said: &str) -> Option<Count> {
        let result = said.lines().find_map(|line| line.strip_prefix("test result: "))?;
        let number_before = |word: &str| -> Option<u32> {
            let (before, _) = result.split_once(word)?;
            before.split_whitespace().last()?.parse().ok()
        };
        let skipped = said.lines().filter(|line| line.starts_with("SKIPPED")).count();
        Some(Count {
            passed: number_before(" passed")?,
            failed: number_before(" failed")?,
            skipped: u32::try_from(skipped).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let said = "running 3 tests\nSKIPPED: not root\n\
                    test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n";
        assert_eq!(Count::of(said), Some(Count { passed: 2, failed: 1, skipped: 1 }));
        assert_eq!(Count::of("error: could not compile\n"), None);
    }
}
