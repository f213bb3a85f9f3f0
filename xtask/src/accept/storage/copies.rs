//! Copies over a stripe: each way, and both at once.

use nicteam_record::{Run, Transfer};

use super::TOOLS;
use super::records::{Records, What};
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// T1's copies by one session over a stripe team.
pub(in crate::accept) const PART: Part<Arguments> =
    Part { tools: TOOLS, ..Part::new("storage-copies", "T1's copies over a stripe of four links", measure) };

const EACH_WAY: Bound = Bound::AtLeast(0.95);
/// How far the slower way may lag behind the other.
const LAG: Bound = Bound::AtMost(0.05);
/// A machine that is busier than this was the limit: of two processors on the average one was full.
const BUSY: f64 = 0.8;

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let at = |rate| {
        let only = &["stripe-read", "stripe-write", "stripe-both"];
        let repeats = context.arguments.repeats;
        Records::of(context, &What { experiment: "t1-two-hosts", only, seconds: None, rate: Some(rate), repeats })
    };
    let fast = at("1gbit")?;
    let mut figures = of_rate(&fast, "1 Gbit/s", true)?;
    let missed = figures.iter().any(|figure| figure.holds == Some(false));
    let busy = ["stripe-read", "stripe-write", "stripe-both"].iter().try_fold(0.0, |most: f64, run| {
        Ok::<f64, Failure>(fast.median(run, |run| Some(run.cpu.busy))?.map_or(most, |busy| most.max(busy)))
    })?;
    if missed && busy > BUSY {
        // The machine is the limit there: it is told, and judged where it is not.
        figures = of_rate(&fast, "1 Gbit/s", false)?;
        figures.extend(of_rate(&at("250mbit")?, "250 Mbit/s", true)?);
    }
    Ok(figures)
}

/// The figures at one rate of the links, judged or told.
fn of_rate(records: &Records, rate: &str, judged: bool) -> Result<Vec<Figure>, Failure> {
    let bound = |bound| if judged { bound } else { Bound::None };
    let busy = |run: &str, figure: Figure| {
        let busy = records.median(run, |run| Some(run.cpu.busy))?.unwrap_or(f64::NAN);
        Ok::<Figure, Failure>(figure.peer(format!("processors {busy:.2} busy")))
    };
    let one = |run: &str| {
        let what = format!("of the limit, links of {rate}");
        busy(run, records.figure(run, &what, bound(EACH_WAY), |run| parts(run).map(|ways| ways[0]))?)
    };
    let run = "stripe-both";
    let slower = format!("the slower way, of its limit, links of {rate}");
    let lag = format!("by how much it lags, links of {rate}");
    Ok(vec![
        one("stripe-read")?,
        one("stripe-write")?,
        busy(run, records.figure(run, &slower, Bound::None, |run| parts(run).map(|ways| ways[0]))?)?,
        busy(run, records.figure(run, &lag, bound(LAG), |run| parts(run).map(|ways| 1.0 - ways[0] / ways[1]))?)?,
        intact(records)?,
    ])
}

/// Both directions' parts of a run.
fn parts(run: &Run) -> Option<[f64; 2]> {
    of_limit(&run.transfers, run.limit_bps)
}

/// What arrived in each direction, of what its links carry; the slower one first.
fn of_limit(transfers: &[Transfer], limit_bps: f64) -> Option<[f64; 2]> {
    let rate = |writes: bool| {
        let own = transfers.iter().filter(|of| (of.by == of.from) == writes);
        own.map(Transfer::wire_bps).try_fold(0.0, |sum, bps| Some(sum + bps?))
    };
    let (reads, writes) = (rate(false)?, rate(true)?);
    match (reads > 0.0, writes > 0.0) {
        (true, true) => {
            let one_way_bps = limit_bps / 2.0;
            Some([reads.min(writes) / one_way_bps, reads.max(writes) / one_way_bps])
        }
        _ => Some([(reads + writes) / limit_bps; 2]),
    }
}

/// Whether every byte of every copy was as sent.
fn intact(records: &Records) -> Result<Figure, Failure> {
    let mut wrong = 0;
    let mut copies = 0;
    for name in ["stripe-read", "stripe-write", "stripe-both"] {
        for run in records.runs(name)? {
            copies += run.transfers.len();
            wrong += run.transfers.iter().filter(|transfer| transfer.is_intact() != Some(true)).count();
        }
    }
    Ok(Figure::count("copies whose content was not all as sent", wrong as u64, format!("{wrong} of {copies}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(by: &str, took_ms: f64) -> Transfer {
        let (from, to, by) = ("a".to_owned(), "b".to_owned(), by.to_owned());
        Transfer { from, to, by, bytes: 1_000_000, took_ms: Some(took_ms), ..Transfer::default() }
    }

    #[test]
    fn each_way_is_a_part_of_its_own_limit() {
        assert_eq!(of_limit(&[copy("a", 1000.0), copy("b", 2000.0)], 16e6), Some([0.5, 1.0]));
        assert_eq!(of_limit(&[copy("a", 1000.0)], 16e6), Some([0.5; 2]));
        assert_eq!(of_limit(&[Transfer { took_ms: None, ..copy("a", 1.0) }], 16e6), None);
    }
}
