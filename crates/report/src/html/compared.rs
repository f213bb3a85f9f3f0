//! Comparisons as a page.

use maud::{Markup, html};
use nicteam_statistics::median;

use super::before_after;
use super::document::{Frame, NUMBER, WORDS, framed, plain_table};
use crate::compare::{Compared, beside, summary, verdict_words};

/// A page with a picture and a table for each of these comparisons.
pub fn compared_page(all: &[Compared<'_>]) -> String {
    compared_page_in(&Frame::default(), all)
}

/// The same in a frame.
pub fn compared_page_in(frame: &Frame, all: &[Compared<'_>]) -> String {
    let title = all.first().map_or("", |one| one.first.record.experiment.title.as_str());
    let main = html! {
        header { p.eyebrow { "nicteam lab compare" } h1 { (title) } }
        @for compared in all { (section(compared)) }
    };
    framed(frame, &format!("{title}: compared"), &main, &Markup::default())
}

fn section(compared: &Compared<'_>) -> Markup {
    let (first, second) = (&compared.first, &compared.second);
    let columns = [("figure", WORDS), ("A", NUMBER), ("B", NUMBER), ("B beside A (95 %)", WORDS), ("verdict", WORDS)];
    let rows = html! {
        @for row in &compared.figures {
            tr {
                td { (row.figure.name) }
                @for values in &row.values { td.num { (row.figure.words(median(values))) } }
                td { (beside(row)) }
                td { (verdict_words(row.verdict)) }
            }
        }
    };
    html! {
        section {
            h2 { (first.label) " and " (second.label) }
            (before_after::picture([&first.label, &second.label], [&first.runs(), &second.runs()]))
            (plain_table(&columns, &rows))
            p { (summary(compared)) }
            @for note in &compared.notes { p { (note) } }
        }
    }
}
