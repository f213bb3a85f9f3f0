//! Tests whose outcome is a figure.

use std::process::Command;

use crate::failure::Failure;
use crate::figure::Figure;
use crate::noise::Noise;
use crate::tools;

/// Some tests of a package's test program `tests`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tests {
    package: &'static str,
    /// The beginning of their names.
    names: &'static str,
    /// What they show.
    shows: &'static str,
    /// Not a sample but all that they test (`NICTEAM_SOAK`).
    is_whole: bool,
}

impl Tests {
    /// Those of a package whose names begin so, and what they show.
    pub(super) const fn of(package: &'static str, names: &'static str, shows: &'static str) -> Tests {
        Tests { package, names, shows, is_whole: false }
    }

    /// The same, not sampled.
    pub(super) const fn whole(self) -> Tests {
        Tests { is_whole: true, ..self }
    }

    fn figure(&self) -> Result<Figure, Failure> {
        let Tests { package, names, shows, is_whole } = *self;
        eprintln!("tests: {names}");
        let mut command = program(package);
        command.args(["--", "--show-output", "--test-threads=1", names]);
        if is_whole {
            command.env("NICTEAM_SOAK", "1");
        }
        let (said, noise) = Noise::around(|| run_to_end(&mut command))?;
        let count = Count::of(&said).ok_or_else(|| Failure::failed(format!("{names} did not run:\n{said}")))?;
        if count.failed > 0 {
            eprintln!("{said}");
        }
        let measured = format!("{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
        let holds = count.passed > 0 && count.failed == 0 && count.skipped == 0;
        Ok(Figure::text(shows, measured, "all pass", Some(holds)).noise(noise))
    }
}

/// Compiles the test program of a package.
pub(super) fn build(package: &str) -> Result<(), Failure> {
    tools::output(program(package).arg("--no-run")).map(drop)
}

/// Runs them and counts.
pub(super) fn figures(tests: &[Tests]) -> Result<Vec<Figure>, Failure> {
    tests.iter().map(Tests::figure).collect()
}

fn program(package: &str) -> Command {
    let mut command = tools::cargo();
    command.args(["test", "--quiet", "--release", "--locked", "--package", package, "--test", "tests"]);
    command
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
