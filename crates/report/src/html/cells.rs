//! Cells of the headline tables.

use nicteam_record::Run;

use crate::svg::{esc, hue, px};
use crate::units::ratio;
use crate::view::{MemberView, TeamView, busy_host_teams};

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
