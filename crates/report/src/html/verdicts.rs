//! Verdicts on what must come out, as a section of the report and as a page of several experiments.

use maud::{Markup, html};
use nicteam_expect::{Judged, Verdict};

use super::document::{self, document};
use crate::verdicts::{cells, notes};

/// The table of verdicts; nothing if nothing was expected.
pub(super) fn section(judged: &[Judged<'_>]) -> Markup {
    if judged.is_empty() {
        return Markup::default();
    }
    document::section("verdicts", "What was expected", &table(judged))
}

/// A page with the verdicts of several experiments: of each its name, its title, and what was judged.
pub fn verdicts_page(all: &[(&str, &str, &[Judged<'_>])]) -> String {
    let count = |verdict| all.iter().flat_map(|(.., judged)| *judged).filter(|one| one.verdict == verdict).count();
    let [holds, missed, undecided] = [Verdict::Holds, Verdict::Missed, Verdict::Undecided].map(count);
    let title = match all {
        [(_, title, _)] => (*title).to_owned(),
        _ => format!("{} experiments", all.len()),
    };
    let main = html! {
        header {
            p.eyebrow { "nicteam lab check" }
            h1 { (title) }
            p.lead { (holds) " held, " (missed) " missed, " (undecided) " undecided." }
        }
        @for (number, (name, title, judged)) in all.iter().enumerate() {
            (document::section(&format!("experiment-{number}"), &format!("{name}: {title}"), &table(judged)))
        }
    };
    document(&format!("{title}: verdicts"), &main, &Markup::default())
}

/// The verdict ahead of what explains it: on a phone the rest is scrolled to.
const COLUMNS: [&str; 6] = ["run", "verdict", "expected", "median", "95 %", "bound"];

fn table(judged: &[Judged<'_>]) -> Markup {
    html! {
        div.scroll {
            table.plain.verdicts {
                thead { tr { @for name in COLUMNS { th scope="col" { (name) } } } }
                tbody {
                    @for one in judged {
                        @let [run, expected, middle, interval, bound, verdict] = cells(one);
                        tr {
                            th scope="row" { (run) }
                            td { b class=(one.verdict.name()) { (verdict) } }
                            td.what { (expected) }
                            td data-label="median" { (middle) }
                            td data-label="95 %" { (interval) }
                            td data-label="bound" { (bound) }
                        }
                    }
                }
            }
        }
        @for note in notes(judged) { p.quiet { (note) } }
    }
}
