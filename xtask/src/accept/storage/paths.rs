//! T4's network step: path policies over four links, and one session over a stripe; and its column of 100 % reads.

use nicteam_record::Run;

use super::TOOLS;
use super::records::{Records, What};
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// 32 KiB, 100 % read, 64 outstanding.
pub(in crate::accept) const PART: Part<Arguments> =
    Part { tools: TOOLS, ..Part::new("storage", "T4: iSCSI over four links of 1 Gbit/s, 32 KiB, 100 % read", measure) };

/// Runs of the network step, the bound of their share of the limit, and the run beside it.
const NETWORK: [(&str, Bound, &str); 6] = [
    ("default-1000", Bound::Within(0.24, 0.30), ""),
    ("every-io", Bound::AtLeast(0.97), ""),
    ("best-policy", Bound::AtLeast(0.97), ""),
    ("unequal-paths", Bound::AtLeast(0.97), "unequal-paths-rr"),
    ("longer-path", Bound::AtLeast(0.97), "longer-path-rr"),
    ("stripe-one-session", Bound::AtLeast(0.97), ""),
];

/// The column of 100 % reads by row: the run, and the published part of what four links carry.
const COLUMN: [(&str, f64); 4] =
    [("baseline-100-read", 0.285), ("every-io", 0.878), ("raid10-4-100-read", 0.841), ("raid10-8-100-read", 0.858)];
/// How far below the published part of the limit a row may be.
const POINTS: f64 = 0.10;

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let beside = NETWORK.iter().map(|(_, _, beside)| *beside).filter(|name| !name.is_empty());
    let column = COLUMN.iter().map(|(run, _)| *run).filter(|run| NETWORK.iter().all(|(name, ..)| name != run));
    let only: Vec<&str> = NETWORK.iter().map(|(name, ..)| *name).chain(beside).chain(column).collect();
    let what = What {
        experiment: "t4-iscsi-multipath",
        only: &only,
        seconds: Some(context.arguments.seconds.max(MIN_SECONDS)),
        rate: None,
        repeats: context.arguments.repeats,
    };
    let records = Records::of(context, &what)?;
    let mut figures = Vec::new();
    for (run, bound, beside) in NETWORK {
        let figure = records.figure(run, "of the limit", bound, of_limit)?;
        let beside = match beside {
            "" => None,
            other => records.median(other, of_limit)?.map(|part| format!("round robin, iops=1: {part:.3}")),
        };
        figures.push(beside.into_iter().fold(figure, Figure::peer).unit("of the limit"));
    }
    // Disks that are modelled have a limit of their own; here all is a part of what the links carry.
    let links_bps = records.median("every-io", |run| Some(run.limit_bps))?.unwrap_or(f64::NAN);
    for (run, published) in COLUMN {
        let what = "delivered of four links, less the published part";
        let below = |run: &Run| Some(run.delivered_bps / links_bps - published);
        let figure = records.figure(run, what, Bound::AtLeast(-POINTS), below)?;
        figures.push(figure.peer(format!("published: {published:.3}")));
    }
    Ok(figures)
}

/// The fewest seconds in which `default-1000` takes its turn often enough.
const MIN_SECONDS: u32 = 6;

fn of_limit(run: &Run) -> Option<f64> {
    Some(run.of_limit)
}
