//! Why two directions of a copy look unequal, and where one stood still.

use nicteam_record::{Run, Transfer};

use crate::storage::is_ahead;
use crate::units::{megabytes, ratio, share};

/// Rates within this part of each other are equal.
const EQUAL: f64 = 0.05;
/// Stalls from this length on are worth a sentence, milliseconds.
const STALL_MS: f64 = 50.0;

pub(super) fn of(run: &Run) -> Vec<String> {
    let mut notes: Vec<String> = run.transfers.iter().filter_map(ahead).collect();
    notes.extend(directions(run));
    notes.extend(run.transfers.iter().filter_map(stall));
    notes.extend(run.transfers.iter().filter_map(|transfer| {
        let error = transfer.error.as_ref()?;
        Some(format!("{} ended early: {error}.", transfer.workload))
    }));
    notes
}

/// A cache that took writes faster than the wire.
fn ahead(transfer: &Transfer) -> Option<String> {
    let (program, wire) = (transfer.program_bps()?, transfer.wire_bps()?);
    is_ahead(transfer).then(|| {
        format!(
            "{}: the program saw {}, the wire carried {}. The rest was still in the initiator's write-back cache when the \
             program's writes returned. Reads have no such cache, so the two directions look unequal.",
            transfer.workload,
            megabytes(program),
            megabytes(wire),
        )
    })
}

/// Reads beside writes of the same run.
fn directions(run: &Run) -> Option<String> {
    let rate = |writes: bool| {
        let own = run.transfers.iter().filter(|of| !of.by.is_empty() && (of.by == of.from) == writes);
        own.filter_map(Transfer::wire_bps).reduce(|sum, one| sum + one)
    };
    let (reads, writes) = (rate(false)?, rate(true)?);
    let apart = (reads - writes).abs() / reads.max(writes);
    let verdict = if apart <= EQUAL { "as good as equal" } else { "unequal" };
    Some(format!(
        "On the wire reads made {} and writes {}: {verdict} ({} of the greater).",
        megabytes(reads),
        megabytes(writes),
        ratio(share(reads.min(writes), reads.max(writes))),
    ))
}

fn stall(transfer: &Transfer) -> Option<String> {
    let stall = transfer.stall.filter(|stall| stall.took_ms >= STALL_MS)?;
    Some(format!(
        "{}: nothing was answered for {:.0} ms, from {:.2} s on.",
        transfer.workload,
        stall.took_ms,
        stall.from_ms / 1e3
    ))
}
