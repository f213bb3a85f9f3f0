//! T1 row by row: copies over iSCSI and NFS by the three pairs of systems, and `ping -s 65000`.

use nicteam_record::{Run, Transfer};

use super::TOOLS;
use super::records::{Records, What};
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};
use crate::tools::Tool;

/// Its rows, and NFS.
pub(in crate::accept) const PART: Part<Arguments> =
    Part { tools: ALL, ..Part::new("storage-t1", "T1 row by row, four links of 1 Gbit/s", measure) };

const ALL: &[Tool] = &[TOOLS[0], TOOLS[1], ("ganesha.nfsd", "nfs-ganesha"), ("rpcbind", "rpcbind")];

const COPIES: [&str; 14] = [
    "linux-linux-read",
    "linux-linux-write",
    "linux-linux-overwrite-read",
    "linux-linux-overwrite-write",
    "linux-linux-nfs-read",
    "linux-linux-nfs-write",
    "linux-windows-read",
    "linux-windows-write",
    "linux-windows-overwrite-read",
    "linux-windows-overwrite-write",
    "solaris-windows-read",
    "solaris-windows-write",
    "solaris-windows-overwrite-read",
    "solaris-windows-overwrite-write",
];
const STRIPES: [&str; 4] = ["stripe-read", "stripe-write", "stripe-nfs-read", "stripe-nfs-write"];
/// Each way by one link, which is what no answer can be faster than.
const PINGS: [&str; 3] = ["linux-linux-ping", "linux-windows-ping", "solaris-windows-ping"];
const STRIPE_PING: &str = "stripe-ping";
/// What one link carries at most, and four, MB/s of TCP payload.
const ONE_LINK: f64 = 117.7;
const NEARLY: f64 = 0.9;
/// 65,008 bytes of an echo in 44 packets with 38 bytes of Ethernet each, there and back at 1 Gbit/s: both switch and host take a
/// packet in whole before they pass it on.
const WIRE_MS: f64 = 2.0 * 44.0 * 1538.0 * 8.0 / 1e6;

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let only: Vec<&str> = COPIES.into_iter().chain(STRIPES).chain(PINGS).chain([STRIPE_PING]).collect();
    let repeats = context.arguments.repeats;
    let records =
        Records::of(context, &What { experiment: "t1-two-hosts", only: &only, seconds: None, rate: None, repeats })?;
    let mut figures = Vec::new();
    for run in COPIES {
        // A session over one link, whatever the cache let the program see.
        figures.push(copy(&records, run, Bound::Within(NEARLY * ONE_LINK, ONE_LINK * 1.01))?);
    }
    for run in STRIPES {
        figures.push(copy(&records, run, Bound::AtLeast(NEARLY * ONE_LINK * 4.0))?);
    }
    for run in PINGS {
        figures.push(ping(&records, run, Bound::Within(NEARLY * WIRE_MS, 1.5 * WIRE_MS))?);
    }
    figures.push(ping(&records, STRIPE_PING, Bound::AtLeast(NEARLY * WIRE_MS / 4.0))?);
    Ok(figures)
}

fn copy(records: &Records, run: &str, bound: Bound) -> Result<Figure, Failure> {
    let sum = |of: fn(&Transfer) -> Option<f64>| {
        move |run: &Run| Some(run.transfers.iter().map(of).sum::<Option<f64>>()? / 8e6).filter(|sum| *sum > 0.0)
    };
    let figure = records.figure(run, "on the wire", bound, sum(Transfer::wire_bps))?.unit("MB/s");
    let cached = records.runs(run)?.iter().any(|run| run.transfers.iter().any(|it| !it.cache.is_empty()));
    let program = records.median(run, sum(Transfer::program_bps))?.filter(|_| cached);
    let program = program.map_or_else(String::new, |rate| format!("the program saw {rate:.1} MB/s; "));
    Ok(figure.peer(format!("{program}published: {}", published(records, run)?)))
}

fn ping(records: &Records, run: &str, bound: Bound) -> Result<Figure, Failure> {
    let average = |run: &Run| Some(run.probes.first()?.echo.as_ref()?.round_trip?.avg_us as f64 / 1e3);
    let figure = records.figure(run, "ping -s 65000, average", bound, average)?.unit("ms");
    Ok(figure.peer(format!("published: {}", published(records, run)?)))
}

fn published(records: &Records, run: &str) -> Result<String, Failure> {
    let said = records.runs(run)?.first().and_then(|run| run.published.clone());
    Ok(said.unwrap_or_else(|| "none".to_owned()))
}
