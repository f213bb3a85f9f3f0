//! A comparison for programs.

use serde_json::{Value, json};

use nicteam_statistics::{Scale, Verdict};

use super::compared::Compared;

/// As `docs/compare.md` describes it.
pub(super) fn json(compared: &Compared<'_>) -> Value {
    let figures: Vec<Value> = compared
        .figures
        .iter()
        .map(|row| {
            let comparison = &row.comparison;
            json!({
                "figure": row.figure.name,
                "unit": row.figure.unit,
                "a": row.values[0],
                "b": row.values[1],
                "scale": match comparison.scale { Scale::Ratio => "ratio", Scale::Difference => "difference" },
                "middle": comparison.middle,
                "low": comparison.low,
                "high": comparison.high,
                "chance": comparison.chance,
                "paired": comparison.is_paired,
                "verdict": match row.verdict {
                    Verdict::Higher => "higher",
                    Verdict::Lower => "lower",
                    Verdict::NotShown => "no-difference-shown",
                    Verdict::TooFew => "too-few",
                },
            })
        })
        .collect();
    json!({
        "a": compared.first.label,
        "b": compared.second.label,
        "figures": figures,
        "notes": compared.notes,
    })
}
