//! `nicteam lab compare`: runs beside each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nicteam_record::{Bundle, Record};
use nicteam_report::{Compared, ComparedSide, compare, compared_page, run_names};

use super::bundle::{folder, style};
use crate::failure::Failure;
use crate::say;

/// Compare runs: what differs, by how much, and what does not.
///
/// A bundle is the folder that `nicteam lab run` named; `BUNDLE#RUN` is one of its runs. Without a run, all runs that both
/// bundles have are compared. Each of several is compared with the first. Intervals are of 95 %.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam lab run t2 --only no-team-three,alb-three --repeat 10\n  nicteam lab compare results/t2-20261127-120000#no-team-three results/t2-20261127-120000#alb-three\n  nicteam lab compare before after --page compared.html"
)]
pub(crate) struct Args {
    /// Bundles, or runs of them.
    #[arg(required = true, num_args = 2.., value_name = "BUNDLE[#RUN]")]
    sides: Vec<String>,
    /// Print JSON, described in docs/compare.md, instead of tables.
    #[arg(long)]
    json: bool,
    /// Write a page with the picture of before and after.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// Carries it out.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let named: Vec<(&str, Option<&str>)> = args.sides.iter().map(|side| named(side)).collect();
    let mut records: BTreeMap<PathBuf, Record> = BTreeMap::new();
    let mut folders = Vec::new();
    for (path, _) in &named {
        let found = folder(Path::new(path))?;
        // Two ways to one folder are one record, whose times belong together.
        let found = found.canonicalize().unwrap_or_else(|_| found.to_owned());
        if !records.contains_key(&found) {
            records.insert(found.clone(), Bundle::open(&found)?.record);
        }
        folders.push(found);
    }
    let side = |place: usize, run| {
        let record = &records[&folders[place]];
        ComparedSide { label: format!("{}#{run}", named[place].0.trim_end_matches('/')), record, run }
    };
    let mut compared = Vec::new();
    for place in 1..named.len() {
        let records = [0, place].map(|place| &records[&folders[place]]);
        for [first, second] in pairs(records, [named[0], named[place]])? {
            let sides = (side(0, first), side(place, second));
            compared.push(compare(sides.0, sides.1).map_err(Failure::wrong_input)?);
        }
    }
    if let Some(path) = &args.page {
        std::fs::write(path, compared_page(&compared))
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
    }
    tell(&compared, args.json)?;
    if let Some(path) = &args.page {
        say::line(format_args!("\npage: {}", path.display()));
    }
    Ok(())
}

fn tell(compared: &[Compared<'_>], json: bool) -> Result<(), Failure> {
    if json {
        let all: Vec<serde_json::Value> = compared.iter().map(Compared::json).collect();
        return say::data(serde_json::to_string_pretty(&all).map_err(Failure::failed)? + "\n");
    }
    let texts: Vec<String> = compared.iter().map(|one| one.text(&style())).collect();
    say::data(texts.join("\n"))
}

/// A bundle, and the run that is named behind it.
fn named(side: &str) -> (&str, Option<&str>) {
    side.rsplit_once('#').map_or((side, None), |(bundle, run)| (bundle, Some(run)))
}

/// The runs that are compared.
fn pairs<'r>(records: [&'r Record; 2], named: [(&'r str, Option<&'r str>); 2]) -> Result<Vec<[&'r str; 2]>, Failure> {
    let names = records.map(run_names);
    for (names, (bundle, run)) in names.iter().zip(&named) {
        if let Some(run) = run.filter(|run| !names.contains(run)) {
            return Err(Failure::wrong_input(format!("{bundle} has no run `{run}`"))
                .hint(Some(format!("its runs are {}", names.join(", ")))));
        }
    }
    let [(first, one), (second, other)] = named;
    match (one, other) {
        (Some(one), Some(other)) => Ok(vec![[one, other]]),
        (Some(run), None) | (None, Some(run)) if names.iter().all(|names| names.contains(&run)) => Ok(vec![[run, run]]),
        (Some(run), None) | (None, Some(run)) => {
            let without = if one.is_none() { first } else { second };
            Err(Failure::wrong_input(format!("{without} has no run `{run}`"))
                .hint(Some(format!("name the other run, too: `{without}#RUN`"))))
        }
        (None, None) => {
            let both: Vec<[&str; 2]> =
                names[0].iter().filter(|name| names[1].contains(name)).map(|name| [*name; 2]).collect();
            if both.is_empty() {
                let hint = format!("name them: `{first}#{}`", names[0].first().copied().unwrap_or("RUN"));
                return Err(
                    Failure::wrong_input(format!("{first} and {second} have no run in common")).hint(Some(hint))
                );
            }
            if std::ptr::eq(records[0], records[1]) {
                let hint = format!("name two of its runs: {}", names[0].join(", "));
                return Err(Failure::wrong_input("a bundle is compared with itself").hint(Some(hint)));
            }
            Ok(both)
        }
    }
}
