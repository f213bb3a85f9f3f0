//! The tests of the project, `xtask test`, and its figures: `xtask accept` and
//! `xtask bench` measure them, `xtask figures` makes pages of what they saved.
//!
//! Every figure is printed with its bound, the noise of the machine while it
//! was measured, and a peer. No absolute time decides: what is fast is a ratio
//! to something measured in the same minute, interleaved, with an interval.
//!
//! Exit code 0: every bound holds; 1: one does not, or a figure could not be
//! measured; 3: the machine lacks something.
#![forbid(unsafe_code)]

mod accept;
mod bench;
mod part;
mod results;
mod scratch;
mod side;
mod test;

use std::process::ExitCode;

use clap::Parser;
use nicteam_course::{failure, figure, noise, product, tools};
use nicteam_sys::process;

use failure::Failure;
use figure::Section;

/// Tests and measures nicteam.
#[derive(Debug, Parser)]
#[command(name = "xtask")]
enum Command {
    /// The figures of "what must be seen".
    Accept(accept::Command),
    /// The micro-benchmarks.
    Bench(bench::Command),
    /// Every test, in lanes.
    Test(test::Arguments),
    /// Makes docs/figures.md, the picture and the README's figures of the result files in docs/results.
    Figures(results::Arguments),
}

fn main() -> ExitCode {
    let command = Command::parse();
    let done = process::catch_termination().map_err(Failure::from).and_then(|()| match command {
        Command::Accept(arguments) => accept::run(arguments).map(|sections| verdict(&sections)),
        Command::Bench(arguments) => bench::run(&arguments).map(|sections| verdict(&sections)),
        Command::Test(arguments) => test::run(&arguments),
        Command::Figures(arguments) => results::run(&arguments).map(|()| ExitCode::SUCCESS),
    });
    done.unwrap_or_else(|failure| failure.report())
}

/// Says how it went, last, where it is looked for.
fn verdict(sections: &[Section]) -> ExitCode {
    println!("\n{}", figure::LEGEND);
    let (held, missed) =
        sections.iter().map(Section::count).fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("{held} bounds hold, {missed} missed");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
