//! `nicteam lab tune`: the steps of tuning storage over many links.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use nicteam_dataplane::Kind;
use nicteam_experiment::{self as experiment, Overrides};
use nicteam_lab::Progress;
use nicteam_sys::process;
use nicteam_tune::{Asked, ENOUGH, Finding, Outcome, Told, html, page, tune};

use super::bundle::write_page;
use super::options::options;
use super::progress::Live;
use crate::failure::Failure;
use crate::{privileges, say, value};

/// Go through the steps of tuning storage over many links: measure, find what is wrong, cure it, measure again.
///
/// Step 1 measures the baseline. Step 2 takes the network alone: it checks everything that is often wrong, says what is and
/// the cure in the words of ESXi, Linux and the target, applies it in the lab and measures again, and does not go on before
/// the network reaches 0.9 of its limit. Step 3 measures with production settings. The page that it prints, and leaves as
/// tune.txt and tune.html beside the runs' reports, can be followed on other machines.
///
/// Exit code 1: the network did not reach 0.9 of its limit, or --look found something wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of an experiment that comes with nicteam (t4-iscsi-multipath), or a file whose runs say to which step they belong.
    experiment: String,
    /// Only look at the network, both ends of each cable and what passes each path, and measure nothing: a wrong MTU is named
    /// within seconds.
    #[arg(long, conflicts_with = "output")]
    look: bool,
    /// How long each run is measured: 60s, 500ms.
    #[arg(long, value_parser = value::duration)]
    duration: Option<Duration>,
    /// Rate of every link that names none: 100mbit, 1gbit.
    #[arg(long, value_parser = value::rate)]
    rate: Option<u64>,
    /// Folder for the page and the runs' results, made in one that is there; it must not exist. results/NAME-DATE-TIME by default.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What executes the teams: bpf or packet; what the machine can by default.
    #[arg(long, value_parser = value::dataplane)]
    dataplane: Option<Kind>,
    /// Print what was found as JSON instead of the page.
    #[arg(long)]
    json: bool,
}

/// Carries the command out.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let found = experiment::find(&args.experiment).map_err(|error| {
        let hint = error.hint();
        Failure::wrong_input(error).hint(hint)
    })?;
    let mut overrides = Overrides { rate_bps: args.rate, duration: args.duration, ..Overrides::default() };
    // What is wrong with the file as it is, is told at its place.
    let whole = experiment::parse(&found.name, &found.path, &found.text, &overrides)?;
    let privileges = privileges::obtain()?;
    process::catch_termination()?;
    nicteam_lab::check_machine(&whole)?;
    let at = |rate_bps| {
        let overrides = Overrides { rate_bps: Some(rate_bps), ..overrides.clone() };
        Ok::<_, Failure>(experiment::parse(&found.name, &found.path, &found.text, &overrides)?)
    };
    if let Some((_, rate_bps)) = nicteam_lab::fit(&whole, args.dataplane, at)? {
        overrides.rate_bps = Some(rate_bps);
    }
    let output = folder(args, &found.name)?;
    let options = options(output.clone().unwrap_or_default(), args.dataplane, privileges)?;
    let asked = Asked {
        name: found.name.clone(),
        path: found.path.clone(),
        text: found.text.to_string(),
        overrides,
        look_alone: args.look,
        options,
        complete: write_page,
    };
    let mut live = Shown(Live::new(std::io::stderr().is_terminal()));
    let report = tune(&asked, &mut live).map_err(failure)?;
    drop(live);
    let text = page(&report);
    if let Some(output) = &output {
        let files = [("tune.txt", &text), (PAGE, &html(&report)), ("tuned.toml", &report.tuned_file)];
        for (path, text) in files.map(|(name, text)| (output.join(name), text)) {
            std::fs::write(&path, text)
                .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
        }
    }
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(Failure::failed)?;
        say::data(json + "\n")?;
    } else {
        say::data(text)?;
    }
    if let Some(output) = &output {
        say::line(format_args!("\npage: {}", output.join(PAGE).display()));
    }
    match report.outcome {
        Outcome::Looked if !report.first_look.is_empty() => Err(Failure::failed("the network is not right")),
        Outcome::Looked | Outcome::Tuned => Ok(()),
        Outcome::Stopped => Err(Failure::failed(format!(
            "the network alone does not reach {ENOUGH} of its limit; step 3 was not begun"
        ))),
    }
}

/// The page for a browser.
const PAGE: &str = "tune.html";

/// The folder for what comes out, made; none for a look alone, which leaves nothing.
fn folder(args: &Args, name: &str) -> Result<Option<PathBuf>, Failure> {
    if args.look {
        return Ok(None);
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None => nicteam_lab::default_output(&format!("{name}-tune"))?,
    };
    std::fs::create_dir(&output)
        .map_err(|error| Failure::wrong_input(format!("cannot make the folder {}: {error}", output.display())))?;
    Ok(Some(output))
}

fn failure(error: nicteam_tune::Error) -> Failure {
    match error {
        nicteam_tune::Error::Lab(error) => error.into(),
        nicteam_tune::Error::Experiment(diagnostics) => diagnostics.into(),
        nicteam_tune::Error::File { .. } => Failure::wrong_input(error),
    }
}

/// Shows what goes on, on standard error.
struct Shown(Live);

impl Told for Shown {
    fn begins(&mut self, what: &str) {
        say::line(format_args!("tune: {what}"));
    }

    fn found(&mut self, findings: &[Finding], after: Duration) {
        let seconds = after.as_secs_f64();
        if findings.is_empty() {
            say::line(format_args!("tune: nothing wrong with the network at first sight ({seconds:.1} s)"));
        }
        for finding in findings {
            say::line(format_args!("tune: {}: {} ({seconds:.1} s)", finding.place, finding.wrong));
        }
    }

    fn progress(&mut self) -> &mut dyn Progress {
        &mut self.0
    }
}
