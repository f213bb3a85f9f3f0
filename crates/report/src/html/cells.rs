//! Cells of the headline tables.

use maud::{Markup, html};
use nicteam_findings::units::ratio;
use nicteam_findings::view::MemberView;
use nicteam_record::Run;

use crate::like::{TeamGroup, busy_groups};
use crate::svg::{hue, px};

/// The bars of the hosts' members.
pub(super) fn teams(run: &Run) -> Markup {
    let groups = busy_groups(run);
    html! { @if !groups.is_empty() { div.teams { @for group in &groups { (host_bars(group)) } } } }
}

/// The published figure's part of its limit, and its words.
pub(super) fn published(run: &Run) -> Markup {
    html! {
        @if run.published.is_none() && run.published_of_limit.is_none() { "–" }
        @if let Some(part) = run.published_of_limit { b { (ratio(part)) } " " }
        @if let Some(words) = &run.published { (words) }
    }
}

/// Part of the limit as a number of two decimals.
pub(super) fn of_limit(run: &Run) -> String {
    if run.limit_bps > 0.0 { ratio(run.of_limit) } else { "–".to_owned() }
}

/// Part of the limit as a bar, the published one as a tick.
pub(super) fn meter(run: &Run) -> Markup {
    let x = |part: f64| px(if part.is_finite() { part.clamp(0.0, 1.0) * 100.0 } else { 0.0 });
    let number = of_limit(run);
    html! {
        div.meter {
            strong { (number) }
            svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label={ (number) " of the limit" } {
                rect.track y="3" width="100" height="8" {}
                rect.value y="3" width=(x(run.of_limit)) height="8" {}
                @if let Some(x) = run.published_of_limit.map(x) {
                    line.tick x1=(x) x2=(x) y1="0" y2="14" vector-effect="non-scaling-stroke" {}
                }
            }
        }
    }
}

/// The two groups of bars of a host, or of like hosts.
fn host_bars(group: &TeamGroup<'_>) -> Markup {
    html! {
        span.duo {
            b { (group.name) }
            " tx " (mini_bars(group, "tx", |member| member.tx_load()))
            " rx " (mini_bars(group, "rx", |member| member.rx_load()))
        }
    }
}

/// A bar a member.
fn mini_bars(group: &TeamGroup<'_>, label: &str, load: fn(&MemberView<'_>) -> f64) -> Markup {
    const WIDTH: usize = 7;
    const PITCH: usize = 9;
    const HEIGHT: f64 = 26.0;
    let loads = group.loads(load);
    let mean = if group.teams.len() > 1 { "mean load by member" } else { "each link’s load" };
    let width = (loads.len() * PITCH).saturating_sub(PITCH - WIDTH);
    let numbers: Vec<String> = loads.iter().map(|load| ratio(*load)).collect();
    let height = |load: f64| if load.is_finite() { load.clamp(0.0, 1.0) * HEIGHT } else { 0.0 };
    html! {
        svg width=(width) height=(HEIGHT) viewBox={ "0 0 " (width) " " (HEIGHT) } role="img" {
            title { (group.name) " " (label) ", " (mean) ": " (numbers.join(", ")) }
            @for (place, height) in loads.iter().map(|load| height(*load)).enumerate() {
                @let x = place * PITCH;
                rect.track x=(x) width=(WIDTH) height=(HEIGHT) {}
                rect class={ "fill " (hue(place)) } x=(x) y=(px(HEIGHT - height)) width=(WIDTH) height=(px(height)) {}
            }
        }
    }
}
