//! Paths that are cut under a verified write of 2 GiB, and a target that is killed.

use nicteam_record::Transfer;

use super::TOOLS;
use super::killed;
use super::records::{Records, What};
use crate::accept::arguments::Arguments;
use crate::accept::tested::{self, Tests};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// Stalls and content.
pub(in crate::accept) const PART: Part<Arguments> = Part {
    tools: TOOLS,
    prepare: || tested::build("nicteam-storage"),
    ..Part::new("storage-faults", "paths cut under a verified write of 2 GiB, targets killed", measure)
};

/// Runs, and how long a write may stand still, milliseconds.
const STALLS: [(&str, f64); 5] =
    [("near-end", 100.0), ("far-end", 1000.0), ("silent", 1000.0), ("stripe", 100.0), ("stripe-far", 100.0)];
/// Runs in which all waits for the paths, or for the target.
const WAITS: [&str; 2] = ["all-paths", "target-restart"];
/// The run that is to end with an error.
const FAILS: &str = "target-restart-fail";

const TESTS: [Tests; 1] =
    [Tests::of("nicteam-storage", "live::stale::", "a write that its path delays by 5 s never overtakes a later one")
        .whole()];

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let repeats = context.arguments.repeats;
    let what = What { experiment: "storage-faults", only: &[], seconds: None, rate: None, repeats };
    let records = Records::of(context, &what)?;
    let mut figures = Vec::new();
    for (run, most_ms) in STALLS {
        figures.push(
            records.figure(run, "longest stall", Bound::AtMost(most_ms), |run| stall_ms(&run.transfers))?.unit("ms"),
        );
        figures.push(intact(&records, run)?);
    }
    for run in WAITS {
        figures.push(records.figure(run, "longest stall", Bound::None, |run| stall_ms(&run.transfers))?.unit("ms"));
        figures.push(intact(&records, run)?);
    }
    figures.push(fails(&records)?);
    figures.push(killed::figure(context)?);
    figures.extend(tested::figures(&TESTS)?);
    Ok(figures)
}

/// The longest time without an answer.
fn stall_ms(transfers: &[Transfer]) -> Option<f64> {
    let each = transfers.iter().map(|transfer| transfer.stall.map(|stall| stall.took_ms));
    each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// Whether every byte was as sent, in every repeat.
fn intact(records: &Records, name: &str) -> Result<Figure, Failure> {
    let runs = records.runs(name)?;
    let wrong = runs.iter().filter(|run| !is_whole(&run.transfers)).count() as u64;
    let measured = format!("{wrong} of {}", runs.len());
    Ok(Figure::count(format!("{name}: writes whose content was not all as sent"), wrong, measured))
}

fn is_whole(transfers: &[Transfer]) -> bool {
    let whole = |transfer: &Transfer| transfer.is_intact() == Some(true) && transfer.error.is_none();
    !transfers.is_empty() && transfers.iter().all(whole)
}

/// Whether the write ended with an error, in every repeat, and without a wrong byte.
fn fails(records: &Records) -> Result<Figure, Failure> {
    let runs = records.runs(FAILS)?;
    let errors: Vec<&str> = runs.iter().flat_map(|run| &run.transfers).filter_map(|of| of.error.as_deref()).collect();
    let wrong = runs.iter().flat_map(|run| &run.transfers).filter(|transfer| transfer.wrong_at.is_some()).count();
    let holds = errors.len() == runs.len() && wrong == 0;
    let said = errors.first().map_or_else(|| "no error".to_owned(), |error| format!("`{error}`"));
    let measured = format!("{said}, {wrong} wrong bytes");
    Ok(Figure::text(format!("{FAILS}: what it ends with"), measured, "an error, no wrong byte", Some(holds)))
}

#[cfg(test)]
mod tests {
    use nicteam_record::Stall;

    use super::*;

    #[test]
    fn a_write_is_whole_if_all_of_it_was_compared_and_no_error_ended_it() {
        assert!(!is_whole(&[]), "no write");
        let write = Transfer { bytes: 10, verified_bytes: 10, ..Transfer::default() };
        assert!(is_whole(std::slice::from_ref(&write)));
        assert!(!is_whole(&[write.clone(), Transfer { error: Some("no path".into()), ..write.clone() }]));
        assert!(!is_whole(&[Transfer { verified_bytes: 9, ..write }]));
    }

    #[test]
    fn the_longest_stall_of_all_writes_counts() {
        let write = |took_ms| Transfer { stall: Some(Stall { from_ms: 0.0, took_ms }), ..Transfer::default() };
        assert_eq!(stall_ms(&[write(7.0), write(9.0)]), Some(9.0));
        assert_eq!(stall_ms(&[write(7.0), Transfer::default()]), None, "nobody looked");
    }
}
