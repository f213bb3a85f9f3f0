//! Before and after: what each client had by direction, two runs side by side, with the published figures.

use nicteam_record::{PublishedRates, Record, Run};
use nicteam_statistics::Estimate;

use crate::clients::clients;
use crate::repeated::{repeated, typical};
use crate::svg::{esc, px};
use crate::units::{down_and_up, mbps};

/// The pairs of runs that the file names (`compared_with`).
pub(super) fn section(record: &Record) -> String {
    let groups = repeated(record);
    let pairs = groups.iter().filter_map(|after| {
        let named = after.runs.first()?.compared_with.as_deref()?;
        let before = groups.iter().find(|group| group.name == named)?;
        let title = format!("<h3>{} and {}</h3>\n", esc(before.name), esc(after.name));
        Some(title + &picture([before.name, after.name], [&before.runs, &after.runs]))
    });
    let pairs: String = pairs.collect();
    if pairs.is_empty() {
        return pairs;
    }
    format!(
        "<section aria-labelledby=\"before-after\">\n<h2 id=\"before-after\">Before and after</h2>\n{pairs}</section>\n"
    )
}

/// Two runs, each carried out once or several times, by client and direction.
pub(super) fn picture(names: [&str; 2], runs: [&[&Run]; 2]) -> String {
    let rows = rows(&runs);
    if rows.is_empty() {
        return String::new();
    }
    let most = rows.iter().flat_map(|row| row.bars.iter().flat_map(Bar::all)).fold(0.0, f64::max).max(1.0);
    let x = |bps: f64| LEFT + (RIGHT - LEFT) * (bps / most).clamp(0.0, 1.0);
    let (mut svg, mut y) = (String::new(), 4.0);
    let mut client = "";
    for row in &rows {
        if row.client != client {
            y += if client.is_empty() { 0.0 } else { GAP };
            client = &row.client;
            svg += &format!("<text x=\"0\" y=\"{}\" class=\"client\">{}</text>\n", px(y + 12.0), esc(&row.client));
        }
        svg += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
            px(LEFT - 8.0),
            px(y + HIGH + 4.0),
            row.way
        );
        for (bar, class) in row.bars.iter().zip(["before", "after"]) {
            svg += &bar_of(bar, class, y, &x);
            y += HIGH + 2.0;
        }
        y += 8.0;
    }
    let [before, after] = names;
    let intervals = if runs.iter().any(|runs| runs.len() > 1) {
        " Whiskers: of the median, 95 % (of five times or fewer the lowest and the highest)."
    } else {
        ""
    };
    let published = if rows.iter().any(|row| row.bars.iter().any(|bar| bar.published.is_some())) {
        "<span class=\"key-tick\"></span>published. "
    } else {
        ""
    };
    format!(
        "<div class=\"scroll\"><figure class=\"pair\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{label}\">\n{svg}</svg></figure></div>\n{sums}<p class=\"quiet\"><i class=\"swatch before\"></i>{} \
         <i class=\"swatch after\"></i>{}, Mbit/s by client and direction. {published}{intervals}</p>\n",
        esc(before),
        esc(after),
        height = px(y),
        label = esc(&format!("{before} and {after} by client and direction")),
        sums = sums(names, runs),
    )
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
fn bar_of(bar: &Bar, class: &str, y: f64, x: &impl Fn(f64) -> f64) -> String {
    let mut svg = String::new();
    let middle = px(y + HIGH / 2.0);
    if let Some(of) = bar.estimate {
        let width = px(x(of.median) - LEFT);
        svg += &format!("<rect class=\"{class}\" x=\"{LEFT}\" y=\"{}\" width=\"{width}\" height=\"{HIGH}\"/>", px(y));
        if of.samples > 1 {
            let (low, high) = (px(x(of.low)), px(x(of.high)));
            let (top, bottom) = (px(y + 2.0), px(y + HIGH - 2.0));
            svg += &format!(
                "<path class=\"whisker\" d=\"M{low} {middle}H{high}M{low} {top}V{bottom}M{high} {top}V{bottom}\"/>"
            );
        }
        // Behind the published figure only where that would cross the number.
        let high = x(of.high);
        let crosses = bar.published.map(x).filter(|at| (high - 2.0..high + NUMBER).contains(at));
        let end = px(crosses.unwrap_or(high).max(high) + 6.0);
        svg += &format!("<text x=\"{end}\" y=\"{}\">{}</text>", px(y + HIGH - 1.0), mbps(of.median));
    } else {
        svg += &format!("<text x=\"{LEFT}\" y=\"{}\">none</text>", px(y + HIGH - 1.0));
    }
    if let Some(published) = bar.published {
        let at = px(x(published));
        svg += &format!("<path class=\"published\" d=\"M{at} {}V{}\"/>", px(y - 1.0), px(y + HIGH + 1.0));
    }
    svg + "\n"
}

/// Sums as people write them: `427.3 = 312.5 down + 114.8 up`.
fn sums(names: [&str; 2], runs: [&[&Run]; 2]) -> String {
    let line = |name: &str, runs: &[&Run]| {
        let typical = typical(runs)?;
        let each: Vec<String> = clients(typical)
            .iter()
            .map(|client| format!("{} {}", client.name, down_and_up(client.download_bps, client.upload_bps)))
            .collect();
        Some(format!("<p class=\"figures\">{}: {}</p>\n", esc(name), esc(&each.join("; "))))
    };
    names.into_iter().zip(runs).filter_map(|(name, runs)| line(name, runs)).collect()
}
