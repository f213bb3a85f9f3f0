//! The headline table.

use nicteam_record::{Record, Run};

use crate::columns::{columns, skipped};
use crate::explain;
use crate::svg::{esc, hue, px};
use crate::units::{rate, ratio};
use crate::view::{MemberView, TeamView, busy_host_teams, lowered_rate};

/// The headline table: a row a run, or where runs differ by their engine alone, a column an engine.
pub(super) fn section(record: &Record) -> String {
    let table = columns(record).map_or_else(|| table(record), |columns| super::columns::table(&columns));
    let skipped: String = skipped(record).map(|line| format!("<p>{}</p>\n", esc(&line))).collect();
    let lowered = lowered_rate(record).map_or_else(String::new, |line| format!("<p>{}</p>\n", esc(&line)));
    format!(
        "<section aria-labelledby=\"results\">\n<h2 id=\"results\">What was delivered</h2>\n{table}\
         <p class=\"quiet\">Small bars: a bar a member, sent (tx) and received (rx), as high as its link was full. \
         A colour is the same member everywhere on this page.</p>\n{skipped}{lowered}</section>\n"
    )
}

/// Every run in a row, its sentence and its members' bars below.
fn table(record: &Record) -> String {
    let rows: String = record.runs.iter().enumerate().map(|(index, run)| rows(index, run)).collect();
    format!(
        "<table class=\"results\">\n<thead><tr><th scope=\"col\">run</th><th scope=\"col\" class=\"num\">delivered</th>\
         <th scope=\"col\" class=\"num\">limit</th><th scope=\"col\">of the limit</th>\
         <th scope=\"col\"><span class=\"key-tick\"></span>published, of its limit</th></tr></thead>\n{rows}</table>\n"
    )
}

fn rows(index: usize, run: &Run) -> String {
    let teams = teams(run);
    format!(
        "<tbody>\n<tr><th scope=\"row\"><a href=\"#run-{index}\">{name}</a></th>\
         <td class=\"num\" data-label=\"delivered\">{delivered}</td>\
         <td class=\"num\" data-label=\"limit\">{limit}</td><td>{meter}</td>\
         <td class=\"words\" data-label=\"published\">{published}</td></tr>\n\
         <tr><td colspan=\"5\"><p class=\"say\">{sentence}</p>{teams}</td></tr>\n</tbody>\n",
        name = esc(&run.name),
        delivered = rate(run.delivered_bps),
        limit = rate(run.limit_bps),
        meter = meter(run),
        published = published(run),
        sentence = esc(&explain(run).sentence),
    )
}

/// The bars of the hosts' members.
pub(super) fn teams(run: &Run) -> String {
    let teams: String = busy_host_teams(run).iter().map(duo).collect();
    if teams.is_empty() { teams } else { format!("<div class=\"teams\">{teams}</div>") }
}

/// The published figure's part of its limit, and its words.
pub(super) fn published(run: &Run) -> String {
    match (&run.published, run.published_of_limit) {
        (None, None) => "–".to_owned(),
        (words, part) => {
            let part = part.map_or_else(String::new, |part| format!("<b>{}</b> ", ratio(part)));
            format!("{part}{}", esc(words.as_deref().unwrap_or_default()))
        }
    }
}

/// Part of the limit as a number of two decimals.
pub(super) fn of_limit(run: &Run) -> String {
    if run.limit_bps > 0.0 { ratio(run.of_limit) } else { "–".to_owned() }
}

/// Part of the limit as a bar, the published one as a tick.
pub(super) fn meter(run: &Run) -> String {
    let x = |part: f64| px(if part.is_finite() { part.clamp(0.0, 1.0) * 100.0 } else { 0.0 });
    let tick = run.published_of_limit.map_or_else(String::new, |part| {
        format!(
            "<line class=\"tick\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"14\" vector-effect=\"non-scaling-stroke\"/>",
            x = x(part)
        )
    });
    let number = of_limit(run);
    format!(
        "<div class=\"meter\"><strong>{number}</strong><svg viewBox=\"0 0 100 14\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{number} of the limit\"><rect class=\"track\" y=\"3\" width=\"100\" height=\"8\"/>\
         <rect class=\"value\" y=\"3\" width=\"{}\" height=\"8\"/>{tick}</svg></div>",
        x(run.of_limit),
    )
}

/// A host's two groups of bars.
fn duo(team: &TeamView<'_>) -> String {
    let group = |label: &str, load: fn(&MemberView<'_>) -> f64| {
        let loads: Vec<f64> = team.members.iter().map(load).collect();
        format!("{label} {}", mini_bars(&loads, label, team.team.node))
    };
    format!(
        "<span class=\"duo\"><b>{}</b> {} {}</span>\n",
        esc(team.team.node),
        group("tx", |member| member.tx_load()),
        group("rx", |member| member.rx_load()),
    )
}

/// A bar a load.
fn mini_bars(loads: &[f64], label: &str, node: &str) -> String {
    const WIDTH: usize = 7;
    const PITCH: usize = 9;
    const HEIGHT: f64 = 26.0;
    let bars: String = loads
        .iter()
        .enumerate()
        .map(|(place, load)| {
            let x = place * PITCH;
            let height = if load.is_finite() { load.clamp(0.0, 1.0) * HEIGHT } else { 0.0 };
            format!(
                "<rect class=\"track\" x=\"{x}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\
                 <rect class=\"fill {}\" x=\"{x}\" y=\"{}\" width=\"{WIDTH}\" height=\"{}\"/>",
                hue(place),
                px(HEIGHT - height),
                px(height),
            )
        })
        .collect();
    let width = (loads.len() * PITCH).saturating_sub(PITCH - WIDTH);
    let numbers: Vec<String> = loads.iter().map(|load| ratio(*load)).collect();
    format!(
        "<svg width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\">\
         <title>{} {label}, each link’s load: {}</title>{bars}</svg>",
        esc(node),
        numbers.join(", "),
    )
}
