//! Before and after: what each client had by direction, two runs side by side, with the published figures.

use maud::{Markup, html};
use nicteam_expect::clients::clients;
use nicteam_findings::units::{down_and_up, mbps};
use nicteam_record::{PublishedRates, Record, Run};
use nicteam_statistics::Estimate;

use super::document;
use crate::repeated::{repeated, typical};
use crate::svg::px;

/// The pairs of runs that the file names (`compared_with`).
pub(super) fn section(record: &Record) -> Markup {
    let groups = repeated(record);
    let pairs = groups.iter().filter_map(|after| {
        let named = after.runs.first()?.compared_with.as_deref()?;
        Some((groups.iter().find(|group| group.name == named)?, after))
    });
    let pairs: Vec<_> = pairs.collect();
    let body = html! {
        @for (before, after) in &pairs {
            h3 { (before.name) " and " (after.name) }
            (picture([before.name, after.name], [&before.runs, &after.runs]))
        }
    };
    html! { @if !pairs.is_empty() { (document::section("before-after", "Before and after", &body)) } }
}

/// Two runs, each carried out once or several times, by client and direction.
pub(super) fn picture(names: [&str; 2], runs: [&[&Run]; 2]) -> Markup {
    let rows = rows(&runs);
    if rows.is_empty() {
        return Markup::default();
    }
    let [before, after] = names;
    html! {
        div.scroll {
            figure.pair { (drawing(&rows, &format!("{before} and {after} by client and direction"))) }
        }
        (sums(names, runs))
        p.quiet {
            i class="swatch before" {} (before) " " i class="swatch after" {} (after)
            ", Mbit/s by client and direction. "
            @if rows.iter().any(|row| row.bars.iter().any(|bar| bar.published.is_some())) {
                span.key-tick {} "published. "
            }
            @if runs.iter().any(|runs| runs.len() > 1) {
                " Whiskers: of the median, 95 % (of five times or fewer the lowest and the highest)."
            }
        }
    }
}

/// The rows below each other, clients apart.
fn drawing(rows: &[Row], label: &str) -> Markup {
    let most = rows.iter().flat_map(|row| row.bars.iter().flat_map(Bar::all)).fold(0.0, f64::max).max(1.0);
    let x = |bps: f64| LEFT + (RIGHT - LEFT) * (bps / most).clamp(0.0, 1.0);
    let mut height = 4.0;
    let drawn: Vec<Markup> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let is_first = place == 0 || rows[place - 1].client != row.client;
            height += if is_first && place > 0 { GAP } else { 0.0 };
            let top = height;
            height += 2.0 * (HIGH + 2.0) + 8.0;
            html! {
                @if is_first { text x="0" y=(px(top + 12.0)) class="client" { (row.client) } }
                text x=(px(LEFT - 8.0)) y=(px(top + HIGH + 4.0)) text-anchor="end" { (row.way) }
                (bar(&row.bars[0], "before", top, &x))
                (bar(&row.bars[1], "after", top + HIGH + 2.0, &x))
            }
        })
        .collect();
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (px(height)) } role="img" aria-label=(label) { @for row in &drawn { (row) } }
    }
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 130.0;
/// Where the longest bar ends; behind it stands its figure.
const RIGHT: f64 = 690.0;
/// Height of a bar.
const HIGH: f64 = 11.0;
/// Width of a number behind a bar.
const NUMBER: f64 = 48.0;
/// Between two clients.
const GAP: f64 = 10.0;

/// One client's direction in both runs.
struct Row {
    client: String,
    way: &'static str,
    bars: [Bar; 2],
}

/// One run's figure.
struct Bar {
    estimate: Option<Estimate>,
    published: Option<f64>,
}

impl Bar {
    fn all(&self) -> impl Iterator<Item = f64> {
        self.estimate.into_iter().map(|of| of.high).chain(self.published)
    }
}

/// Down and up of each client of either run.
fn rows(runs: &[&[&Run]; 2]) -> Vec<Row> {
    let mut names: Vec<String> = Vec::new();
    for client in runs.iter().filter_map(|runs| runs.first()).flat_map(|run| clients(run)) {
        if !names.iter().any(|name| name == client.name) {
            names.push(client.name.to_owned());
        }
    }
    let mut rows = Vec::new();
    for name in names {
        for (way, is_download) in [("down", true), ("up", false)] {
            let bars = runs.map(|runs| {
                let of = |run: &&Run| {
                    let client = clients(run).into_iter().find(|client| client.name == name)?;
                    Some(if is_download { client.download_bps } else { client.upload_bps })
                };
                let values: Vec<f64> = runs.iter().filter_map(of).collect();
                let published = runs.first().and_then(|run| run.published_rates.iter().find(|of| of.host == name));
                let published =
                    published.map(|of: &PublishedRates| if is_download { of.download_bps } else { of.upload_bps });
                Bar { estimate: Estimate::of(&values), published: published.map(|bps| bps as f64) }
            });
            if bars.iter().flat_map(Bar::all).any(|bps| bps > 0.0) {
                rows.push(Row { client: name.clone(), way, bars });
            }
        }
    }
    rows
}

/// A bar with its whiskers, the published figure, and its number.
fn bar(bar: &Bar, class: &str, y: f64, x: &impl Fn(f64) -> f64) -> Markup {
    let base = px(y + HIGH - 1.0);
    html! {
        @if let Some(of) = bar.estimate {
            rect class=(class) x=(LEFT) y=(px(y)) width=(px(x(of.median) - LEFT)) height=(HIGH) {}
            @if of.samples > 1 { path.whisker d=(whiskers(x(of.low), x(of.high), y)) {} }
            text x=(px(number_at(x(of.high), bar.published.map(x)))) y=(base) { (mbps(of.median)) }
        } @else {
            text x=(LEFT) y=(base) { "none" }
        }
        @if let Some(published) = bar.published {
            path.published d={ "M" (px(x(published))) " " (px(y - 1.0)) "V" (px(y + HIGH + 1.0)) } {}
        }
    }
}

fn whiskers(low: f64, high: f64, y: f64) -> String {
    let (low, high, middle) = (px(low), px(high), px(y + HIGH / 2.0));
    let (top, bottom) = (px(y + 2.0), px(y + HIGH - 2.0));
    format!("M{low} {middle}H{high}M{low} {top}V{bottom}M{high} {top}V{bottom}")
}

/// Where a bar's number begins: behind the published figure only where that would cross the number.
fn number_at(end: f64, published: Option<f64>) -> f64 {
    let crosses = published.filter(|at| (end - 2.0..end + NUMBER).contains(at));
    crosses.unwrap_or(end).max(end) + 6.0
}

/// Sums as people write them: `427.3 = 312.5 down + 114.8 up`.
fn sums(names: [&str; 2], runs: [&[&Run]; 2]) -> Markup {
    let of_clients = |run: &Run| {
        let each = clients(run).into_iter();
        let each = each.map(|of| format!("{} {}", of.name, down_and_up(of.download_bps, of.upload_bps)));
        each.collect::<Vec<_>>().join("; ")
    };
    html! {
        @for (name, runs) in names.into_iter().zip(runs) {
            @if let Some(run) = typical(runs) { p.figures { (name) ": " (of_clients(run)) } }
        }
    }
}
