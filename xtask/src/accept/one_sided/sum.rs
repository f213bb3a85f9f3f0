//! A plain host with a link of the sum of the rates.

use super::compared::percent_sent_again;
use crate::accept::stripe::bundles::{Bundles, Measured};
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use nicteam_statistics::median;

/// Beginnings of the names of runs: numbers of connections.
const LOADS: [&str; 3] = ["one", "four", "sixteen"];

const LEAST: Bound = Bound::AtLeast(0.97);
/// Percent of all segments.
const SENT_AGAIN: Bound = Bound::AtMost(0.2);
const AHEAD: Bound = Bound::Above(1.0);

/// What each number of connections gets, and balance-rr beside it.
pub(super) fn figures(bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for load in LOADS {
        let (ours, theirs) = (format!("{load}-stripe"), format!("{load}-rr"));
        let rr = bundles.measured(&theirs)?;
        let beside = |value: fn(&Measured) -> Option<f64>| {
            let values: Option<Vec<f64>> = rr.iter().map(value).collect();
            values.map_or_else(String::new, |values| format!("balance-rr {:.3}", median(&values)))
        };
        let [of_limit, percent]: [fn(&Measured) -> Option<f64>; 2] = [Measured::of_limit, percent_sent_again];
        figures.push(bundles.figure(&ours, "of limit", LEAST, of_limit)?.peer(beside(of_limit)));
        figures.push(bundles.figure(&ours, "% sent again", SENT_AGAIN, percent)?.peer(beside(percent)));
        figures.push(bundles.compared((&ours, &theirs), "of limit", AHEAD, of_limit)?);
        figures.push(moves(&ours, &bundles.measured(&ours)?, &rr));
    }
    Ok(figures)
}

/// Addresses that moved at the switch, run by run.
fn moves(run: &str, ours: &[Measured], rr: &[Measured]) -> Figure {
    let all = |runs: &[Measured]| runs.iter().map(Measured::moves).collect::<Vec<_>>();
    let (ours, rr) = (all(ours), all(rr));
    // Where more moved than could be counted, something did.
    let moved = ours.iter().map(|(moves, at_least)| (*moves).max(u64::from(*at_least))).sum();
    Figure::count(format!("{run}: addresses moved at the switch"), moved, counts(&ours))
        .peer(format!("balance-rr {}", counts(&rr)))
}

/// `0 12 >=400`.
fn counts(runs: &[(u64, bool)]) -> String {
    let count = |(moves, at_least): &(u64, bool)| format!("{}{moves}", if *at_least { ">=" } else { "" });
    runs.iter().map(count).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_counted_is_said() {
        assert_eq!(counts(&[(0, false), (12, false), (400, true)]), "0 12 >=400");
    }
}
