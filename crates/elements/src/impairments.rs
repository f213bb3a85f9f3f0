//! Impairments of the file -> [`Way`]s, by the impair crate's own rules.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_impair::{
    Distribution, Gemodel, Impairments, ImpairmentsError, Jitter, LONGEST_DELAY, Loss, MOST_ON_THE_WAY, Probability,
    Reorder,
};

use crate::record::{At, Record};
use crate::resolved::Way;
use crate::units::{show_duration, show_rate};
use nicteam_diagnostics::Problem;
use nicteam_diagnostics::{list, nearest};

/// What the sections declare, by their names; what is wrong goes to `problems`.
pub fn resolve<'a>(
    sections: &[(&'a At<String>, Record)],
    default_seed: u64,
    problems: &mut Vec<Problem>,
) -> BTreeMap<&'a str, Way> {
    let way = |(name, record): &(&'a At<String>, Record)| {
        let impairments = impairments(record);
        problems.extend(conflict(record));
        if let Err(error) = impairments.check() {
            problems.push(refused(error, name, record));
        }
        let seed = record.get("seed").map_or(default_seed, |at| at.value);
        (name.value.as_str(), Way { name: Some(name.value.clone()), impairments, seed })
    };
    sections.iter().map(way).collect()
}

/// A link on which frames under way would take too much memory.
pub fn check_room(name: &At<String>, way: &Way, rate_bps: u64) -> Option<Problem> {
    let longest = way.impairments.longest_delay();
    let bytes = u128::from(rate_bps) * longest.as_millis() / 8000;
    if bytes <= u128::from(MOST_ON_THE_WAY) {
        return None;
    }
    let (rate, delay) = (show_rate(rate_bps), show_duration(longest));
    let message = format!("a link of {rate} whose frames take {delay} holds {} MiB of them", bytes >> 20);
    Some(
        Problem::at(&name.span, message)
            .hint(format!("at most {} MiB fit; lower the rate or the delay", MOST_ON_THE_WAY >> 20)),
    )
}

/// A name that no section has.
pub fn unknown<'a>(name: &At<String>, known: impl Iterator<Item = &'a str> + Clone) -> Problem {
    let hint = match nearest(&name.value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.clone().next().is_none() => format!("add a section `[impairments.{}]`", name.value),
        None => format!("there are {}", list(known)),
    };
    Problem::at(&name.span, format!("no impairment `{}`", name.value)).hint(hint)
}

fn impairments(record: &Record) -> Impairments {
    let time = |key| record.get::<Duration>(key).map_or(Duration::ZERO, |at| at.value);
    let part = |key| record.get::<Probability>(key).map_or(Probability::NEVER, |at| at.value);
    let is = |key, word| record.get::<&str>(key).is_some_and(|at| at.value == word);
    let gap = record.get::<u64>("reorder_gap").map_or(1, |at| at.value as u32);
    let reorder = part("reorder");
    Impairments {
        delay: time("delay"),
        jitter: Jitter {
            amount: time("jitter"),
            distribution: if is("jitter_distribution", "normal") {
                Distribution::Normal
            } else {
                Distribution::Uniform
            },
            may_reorder: is("jitter_order", "free"),
        },
        loss: match record.get::<&Record>("gemodel").and_then(|at| gemodel(at.value)) {
            Some(model) => Loss::Gemodel(model),
            None => Loss::Independent(part("loss")),
        },
        duplicate: part("duplicate"),
        reorder: (reorder > Probability::NEVER).then_some(Reorder { probability: reorder, gap }),
        corrupt: part("corrupt"),
    }
}

/// `None` if something that it needs is missing, which has been reported.
fn gemodel(record: &Record) -> Option<Gemodel> {
    let part = |key| record.get::<Probability>(key).map(|at| at.value);
    Some(Gemodel {
        to_bad: part("p")?,
        to_good: part("r")?,
        loss_in_bad: part("1-h").unwrap_or(Probability::ALWAYS),
        loss_in_good: part("1-k").unwrap_or(Probability::NEVER),
    })
}

/// Two models of loss.
fn conflict(record: &Record) -> Option<Problem> {
    let loss = record.get::<Probability>("loss").filter(|loss| loss.value > Probability::NEVER)?;
    let gemodel = record.get::<&Record>("gemodel")?;
    let problem = Problem::at(&gemodel.span, "`gemodel` and `loss` are two models of the same losses");
    Some(
        problem
            .also(&loss.span, "`loss` is here")
            .hint("`1-k` of `gemodel` is the loss between bursts; keep one of the two"),
    )
}

/// What the impair crate refuses, at the key to blame.
fn refused(error: ImpairmentsError, name: &At<String>, record: &Record) -> Problem {
    let of = |key: &str| {
        let time = record.get::<Duration>(key).map(|at| at.span);
        let part = record.get::<Probability>(key).map(|at| at.span);
        time.or(part).or_else(|| record.get::<&Record>(key).map(|at| at.span)).unwrap_or_else(|| name.span.clone())
    };
    let (key, hint) = match error {
        ImpairmentsError::TooLong => ("delay", format!("the longest is {}", show_duration(LONGEST_DELAY))),
        ImpairmentsError::JitterBeyondDelay => {
            ("jitter", "a frame cannot arrive before it is sent: raise `delay`, or lower `jitter`".to_owned())
        }
        ImpairmentsError::ReorderWithoutDelay => {
            ("reorder", "frames that are not delayed overtake those that are: add a `delay`".to_owned())
        }
        ImpairmentsError::NoGap => ("reorder_gap", "1 lets every frame overtake".to_owned()),
        ImpairmentsError::EndlessBurst => ("gemodel", "bursts of ten frames on average: `r = \"10%\"`".to_owned()),
    };
    Problem::at(&of(key), format!("impairment `{}`: {error}", name.value)).hint(hint)
}
