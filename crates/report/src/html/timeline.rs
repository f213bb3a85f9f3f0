//! What happened in a run: marks in the lanes of traffic, and a list.

use maud::{Markup, html};
use nicteam_record::{Event, Run};

use super::document::{NUMBER, WORDS, plain_table};
use super::lanes::{Span, Time};
use crate::svg::px;
use crate::team::Team;
use crate::units::plural;

/// The most events that are marked and listed; the record has all.
const MOST: usize = 200;

/// The list; nothing where nothing happened.
pub(super) fn section(run: &Run) -> Markup {
    if run.events.is_empty() {
        return Markup::default();
    }
    let columns = [("when", NUMBER), ("where", WORDS), ("kind", WORDS), ("what", WORDS)];
    let rows = html! {
        @for event in run.events.iter().take(MOST) {
            tr {
                td.num { (seconds(event.t_ms)) }
                td { (event.node) }
                td { (event.kind.name()) }
                td { (event.text) }
            }
        }
    };
    let more = run.events.len().saturating_sub(MOST);
    html! {
        h3 { "What happened" }
        (plain_table(&columns, &rows))
        p.quiet {
            "Seconds since the measured window began; what happened to a team is marked in its lanes."
            @if more > 0 { " " (plural(more, "event")) " more are in the record." }
        }
    }
}

/// A team's events over its lanes: over one of them if it happened to a member alone.
pub(super) fn marks(run: &Run, team: &Team<'_>, time: &Time) -> Markup {
    let device = |event: &Event| event.team.as_deref().is_none_or(|device| device == team.device);
    let own = run.events.iter().filter(|event| event.node == team.node && device(event) && time.has(event.t_ms));
    let span = |event: &Event| {
        let place = team.members.iter().position(|device| Some(device) == event.member.as_ref());
        place.map_or_else(|| Span::of_lanes(team.members.len()), Span::of_lane)
    };
    html! { @for event in own.take(MOST) { (mark(event, time.x(event.t_ms), &span(event))) } }
}

/// A line with a flag; its title shows the event.
fn mark(event: &Event, x: f64, span: &Span) -> Markup {
    let (x, top) = (px(x), px(span.top));
    html! {
        g class={ "event " (event.kind.name()) } {
            title { (seconds(event.t_ms)) ": " (event.text) }
            line x1=(x) x2=(x) y1=(top) y2=(px(span.bottom)) {}
            path d={ "M" (x) " " (top) "l6 3l-6 3Z" } {}
        }
    }
}

/// `1.25 s`; a dash for a number that no run can have.
fn seconds(ms: f64) -> String {
    if ms.abs() < 1e10 { format!("{:.2} s", ms / 1000.0) } else { "–".to_owned() }
}
