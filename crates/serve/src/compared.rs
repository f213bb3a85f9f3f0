//! Two bundles beside each other, by the code of `nicteam lab compare`.

use std::path::Path;

use maud::{Markup, html};
use nicteam_record::{Bundle, Record};
use nicteam_report::{ComparedSide, compare, compared_page_in, run_names};

use crate::folder::{own, shown, visible};
use crate::frame::frame;
use crate::route::Side;

/// The page, or why there is none.
pub(crate) fn compared(dir: &Path, sides: &[Side; 2]) -> Result<String, String> {
    if sides.iter().any(|side| side.bundle.is_empty()) {
        return Err("Choose a bundle A and a bundle B in the list.".to_owned());
    }
    let open = |side: &Side| -> Result<Record, String> {
        let path = own(dir, &side.bundle).ok_or_else(|| format!("There is no bundle {}.", shown(&side.bundle)))?;
        Bundle::open(&path).map(|bundle| bundle.record).map_err(|error| visible(&error.to_string()))
    };
    let first = open(&sides[0])?;
    // Times of the same record belong together in pairs: it has to be the same value.
    let other = if sides[0].bundle == sides[1].bundle { None } else { Some(open(&sides[1])?) };
    let records = [&first, other.as_ref().unwrap_or(&first)];
    let pairs = pairs(records, sides)?;
    let named = |place: usize, run| {
        let label = format!("{}#{}", shown(&sides[place].bundle), visible(run));
        ComparedSide { label, record: records[place], run }
    };
    let all = pairs.into_iter().map(|[one, other]| compare(named(0, one), named(1, other)));
    let all: Vec<_> = all.collect::<Result<_, _>>()?;
    let mut frame = frame(None);
    frame.top = html! { (frame.top) (form(sides, records)) };
    Ok(compared_page_in(&frame, &all))
}

/// The runs that are compared: the chosen ones, or all that both have.
fn pairs<'r>(records: [&'r Record; 2], sides: &'r [Side; 2]) -> Result<Vec<[&'r str; 2]>, String> {
    let names = records.map(run_names);
    let [one, other] = [&sides[0].run, &sides[1].run].map(String::as_str);
    for (names, side) in names.iter().zip(sides) {
        if !side.run.is_empty() && !names.contains(&side.run.as_str()) {
            return Err(format!("{} has no run `{}`.", shown(&side.bundle), visible(&side.run)));
        }
    }
    match (one, other) {
        ("", "") if std::ptr::eq(records[0], records[1]) => match names[0][..] {
            [first, second, ..] => Ok(vec![[first, second]]),
            _ => Err("This bundle has one run alone: choose another bundle.".to_owned()),
        },
        ("", "") => {
            let both: Vec<[&str; 2]> =
                names[0].iter().filter(|name| names[1].contains(name)).map(|name| [*name; 2]).collect();
            match (both.is_empty(), names[0].first(), names[1].first()) {
                (true, Some(first), Some(second)) => Ok(vec![[first, second]]),
                (true, ..) => Err("One of the two has no runs.".to_owned()),
                _ => Ok(both),
            }
        }
        (run, "") | ("", run) => match names.iter().all(|names| names.contains(&run)) {
            true => Ok(vec![[run, run]]),
            false => Err(format!("Only one of the two has the run `{}`: choose the other run, too.", visible(run))),
        },
        both => Ok(vec![both.into()]),
    }
}

/// Which runs to compare.
fn form(sides: &[Side; 2], records: [&Record; 2]) -> Markup {
    html! {
        form.runs method="get" action="/compare" {
            @for ((side, record), name) in sides.iter().zip(records).zip(["a", "b"]) {
                input type="hidden" name=(name) value=[side.bundle.to_str()];
                label {
                    (name.to_uppercase()) ": " (shown(&side.bundle)) " "
                    select name={ (name) "-run" } {
                        option value="" { "runs that both have" }
                        @for run in run_names(record) { option value=(run) selected[run == side.run] { (run) } }
                    }
                }
            }
            button { "Compare" }
        }
    }
}
