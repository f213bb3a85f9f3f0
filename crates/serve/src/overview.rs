//! The list of bundles.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use maud::{Markup, html};
use nicteam_web::encode;

use crate::folder::{MOST_ENTRIES, shown};
use crate::frame::page;
use crate::summary::{Content, Summaries, Summary, Whole};

/// The most bundles of a page.
const MOST_LISTED: usize = 500;
/// The most causes of findings in a line.
const MOST_CAUSES: usize = 3;

/// The page.
pub(crate) fn overview(dir: &Path, summaries: &mut Summaries, search: &str) -> Result<String, String> {
    let failed = |error| format!("cannot read the folder {}: {error}", shown(dir.as_os_str()));
    let (all, more) = summaries.of(dir).map_err(failed)?;
    let found: Vec<&Summary> = all.iter().filter(|summary| summary.matches(search)).collect();
    let main = html! {
        header {
            p.eyebrow { "nicteam serve" }
            h1 { "Bundles" }
            p.quiet { code { (shown(dir.as_os_str())) } }
        }
        form.search method="get" action="/" role="search" {
            label { "Search " input type="search" name="q" value=(search) maxlength="100" placeholder="name, title, cause"; }
            " " button { "Search" }
        }
        p.quiet #count role="status" { (count(found.len(), all.len())) }
        @if all.is_empty() {
            p { "No bundle is here yet. " code { "nicteam lab run EXPERIMENT --output DIR/NAME" } " writes one into this folder." }
        } @else {
            (list(&found[..found.len().min(MOST_LISTED)]))
        }
        @if found.len() > MOST_LISTED { p { "Only the newest " (MOST_LISTED) " are listed: search for the others." } }
        @if more { p { "The folder has more than " (MOST_ENTRIES) " entries: the others are not looked at." } }
    };
    Ok(page("Bundles", Some(""), &main))
}

fn count(found: usize, all: usize) -> String {
    let bundles = if all == 1 { "bundle" } else { "bundles" };
    if found == all { format!("{all} {bundles}") } else { format!("{found} of {all} {bundles}") }
}

/// The table, whose choice of two is compared.
fn list(found: &[&Summary]) -> Markup {
    html! {
        form method="get" action="/compare" {
            div.scroll {
                table.bundles {
                    thead { tr {
                        th scope="col" { "bundle" } th scope="col" { "started" } th scope="col" class="num" { "runs" }
                        th scope="col" class="num" { "worst share" } th scope="col" { "findings" }
                        th scope="col" { "compare" }
                    } }
                    tbody { @for summary in found { (row(summary)) } }
                }
            }
            p.compare { button { "Compare A and B" } }
        }
    }
}

fn row(summary: &Summary) -> Markup {
    let name = shown(&summary.name);
    let link = format!("/bundles/{}", encode(summary.name.as_bytes()));
    html! {
        tr {
            @match &summary.content {
                Content::Whole(whole) => (cells(summary, whole, &name, &link)),
                Content::Making { ended, is_abandoned } => {
                    th scope="row" { a href=(link) { (name) } }
                    td colspan="5" {
                        strong { @if *is_abandoned { "Its lab was killed." } @else { "Runs now." } }
                        " Runs that have ended: " (ended) "."
                    }
                }
                Content::Broken(error) => {
                    th scope="row" { (name) }
                    td.error colspan="5" { "Cannot be read: " (error) }
                }
            }
        }
    }
}

fn cells(summary: &Summary, whole: &Whole, name: &str, link: &str) -> Markup {
    let causes = whole.causes.iter().take(MOST_CAUSES).cloned().collect::<Vec<_>>().join(", ");
    let more = if whole.causes.len() > MOST_CAUSES { ", ..." } else { "" };
    let started = whole.started.get(..16).unwrap_or(&whole.started).replace('T', " ");
    html! {
        th scope="row" { a href=(link) { (whole.title) } span { (name) @if whole.is_partial { ", partial" } } }
        td.when data-label="started" { (started) }
        td.num data-label="runs" { (whole.runs) }
        td.num data-label="worst share" {
            @if let Some((share, run)) = &whole.worst { span title=(run) { (format!("{share:.2}")) } } @else { "–" }
        }
        td data-label="findings" { (whole.findings) @if !causes.is_empty() { ": " (causes) (more) } }
        td.pick data-label="compare" {
            // A name that is not shown as it is cannot be a value, either.
            @if let Some(value) = summary.name.to_str().filter(|value| *value == name) {
                @for side in ["a", "b"] {
                    label { input type="radio" name=(side) value=(value) aria-label={ (side.to_uppercase()) ": " (name) }; (side.to_uppercase()) }
                }
            }
        }
    }
}
