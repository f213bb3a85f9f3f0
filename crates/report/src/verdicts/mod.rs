//! Verdicts on expectations, for a terminal, for programs and for test runners.

mod junit;
mod text;

use serde_json::{Value, json};

use nicteam_expect::{Certainty, Found, Judged, What};

pub use junit::junit;
pub use text::verdicts;
pub(crate) use text::{cells, notes};

/// For programs, as `docs/check.md` describes it.
pub fn verdicts_json(judged: &[Judged<'_>]) -> Value {
    judged.iter().map(one).collect()
}

fn one(judged: &Judged<'_>) -> Value {
    let mut value = json!({
        "run": judged.run,
        "line": judged.expectation.line,
        "subject": judged.expectation.subject(),
        "bound": text::bound(judged),
        "verdict": judged.verdict.name(),
    });
    if let What::Figure { figure, bound, .. } = &judged.expectation.what {
        value["figure"] = json!(figure.name);
        value["unit"] = json!(figure.unit.name());
        value["at_least"] = json!(bound.at_least);
        value["at_most"] = json!(bound.at_most);
    }
    if judged.by_machine > 0 {
        value["held_by_machine"] = json!(judged.by_machine);
    }
    match &judged.found {
        Found::Figure { values, beside, interval } => {
            value["values"] = json!(values);
            if !beside.is_empty() {
                value["beside"] = json!(beside);
            }
            value["middle"] = json!(interval.middle);
            value["low"] = json!(interval.low);
            value["high"] = json!(interval.high);
            value["interval"] = json!(match interval.certainty {
                Certainty::OneValue => "one-value",
                Certainty::LowestAndHighest => "lowest-and-highest",
                Certainty::NinetyFive => "95%",
            });
        }
        Found::Finding(with, of) => {
            value["repetitions_with"] = json!(with);
            value["repetitions"] = json!(of);
        }
        Found::Nothing(why) => value["why"] = json!(why),
    }
    value
}
