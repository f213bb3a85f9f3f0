//! Predictions as a table and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::outcome::{Measured, Outcome, Predicted};

/// What stands where nothing is known.
const NOTHING: &str = "-";

/// For people: a line a run.
pub fn show_predicted(experiment: &str, predicted: &[Predicted], seeds: u32) -> String {
    let against = predicted.iter().any(|run| run.measured.is_some());
    let mut heads = vec!["run", "share", "Mbit/s"];
    if seeds > 0 {
        heads.extend(["p5", "median", "p95"]);
    }
    if against {
        heads.extend(["measured", "points off"]);
    }
    heads.push("held by");
    let rows: Vec<Vec<String>> = predicted.iter().map(|run| row(run, seeds > 0, against)).collect();
    let mut text = format!("{experiment}: share of the limit\n");
    if seeds > 0 {
        let _ = writeln!(text, "p5, median, p95: share of the limit with random addresses and ports ({seeds} seeds)");
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let heads: Vec<String> = heads.into_iter().map(str::to_owned).collect();
    for row in [&heads].into_iter().chain(&rows) {
        let last = row.len() - 1;
        let mut line = format!("  {:<width$}", row[0], width = widths[0]);
        for column in 1..last {
            let _ = write!(line, "  {:>width$}", row[column], width = widths[column]);
        }
        let _ = writeln!(text, "{line}  {}", row[last]);
    }
    text
}

fn row(run: &Predicted, drawn: bool, against: bool) -> Vec<String> {
    let nothing = || NOTHING.to_owned();
    let part = |part: Option<f64>| part.map_or_else(nothing, |part| format!("{part:.2}"));
    let outcome = run.outcome.as_ref().ok();
    let bound = outcome.and_then(|outcome| outcome.at_most.as_deref());
    let sign = if bound.is_some() { "\u{2264}" } else { "" };
    let mut cells = vec![run.run.clone(), format!("{sign}{}", part(run.of_limit()))];
    cells.push(outcome.map_or_else(nothing, |outcome| format!("{:.1}", outcome.bps / 1e6)));
    if drawn {
        let spread = outcome.and_then(|outcome| outcome.drawn);
        let of_limit = |bps: f64| if run.limit_bps > 0.0 { bps / run.limit_bps } else { 0.0 };
        cells.extend(
            [spread.map(|it| it.p5_bps), spread.map(|it| it.median_bps), spread.map(|it| it.p95_bps)]
                .map(|bps| part(bps.map(of_limit))),
        );
    }
    if against {
        cells.push(part(run.measured.as_ref().map(|measured| measured.of_limit)));
        cells.push(run.off_by_points().map_or_else(nothing, |points| format!("{points:+.1}")));
    }
    let found = match &run.measured {
        Some(measured) if measured.by_machine => "; the machine held the run".to_owned(),
        Some(measured) if run.is_near() == Some(false) => format!("; measured: {}", measured.causes.join(", ")),
        _ => String::new(),
    };
    cells.push(match &run.outcome {
        Ok(outcome) => {
            let bound = bound.map(|why| format!("; at most: {why}")).unwrap_or_default();
            format!("{}{bound}{found}", outcome.held_by)
        }
        Err(reason) => format!("not predicted: {reason}"),
    });
    cells
}

fn measured_json(measured: &Measured) -> Value {
    let Measured { bps, of_limit, by_machine, causes } = measured;
    json!({ "bps": bps, "of_limit": of_limit, "by_machine": by_machine, "causes": causes })
}

/// For programs.
pub fn predicted_json(experiment: &str, predicted: &[Predicted], seeds: u32) -> Value {
    let run = |run: &Predicted| {
        let outcome: Option<&Outcome> = run.outcome.as_ref().ok();
        let drawn = outcome.and_then(|outcome| outcome.drawn);
        json!({
            "run": run.run,
            "limit_bps": run.limit_bps,
            "bps": outcome.map(|outcome| outcome.bps),
            "of_limit": run.of_limit(),
            "held_by": outcome.map(|outcome| &outcome.held_by),
            "at_most": outcome.and_then(|outcome| outcome.at_most.as_ref()),
            "not_predicted": run.outcome.as_ref().err(),
            "drawn": drawn.map(|it| json!({ "p5_bps": it.p5_bps, "median_bps": it.median_bps, "p95_bps": it.p95_bps })),
            "measured": run.measured.as_ref().map(measured_json),
            "off_by_points": run.off_by_points(),
        })
    };
    json!({ "experiment": experiment, "seeds": seeds, "runs": predicted.iter().map(run).collect::<Vec<_>>() })
}
