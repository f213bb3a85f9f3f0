//! What happened in a run: marks in the lanes of traffic, and a list.

use nicteam_record::{Event, Run};

use super::traffic::{Span, Time};
use crate::svg::{esc, px};
use crate::team::Team;
use crate::units::plural;

/// The most events that are marked and listed; the record has all.
const MOST: usize = 200;

/// The list; nothing where nothing happened.
pub(super) fn section(run: &Run) -> String {
    if run.events.is_empty() {
        return String::new();
    }
    let rows: String = run.events.iter().take(MOST).map(row).collect();
    let more = run.events.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" {} more are in the record.", plural(more, "event")) } else { String::new() };
    format!(
        "<h3>What happened</h3>\n<div class=\"scroll\"><table class=\"plain\">\n<thead><tr>\
         <th scope=\"col\" class=\"num\">when</th><th scope=\"col\">where</th><th scope=\"col\">kind</th>\
         <th scope=\"col\">what</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n\
         <p class=\"quiet\">Seconds since the measured window began; what happened to a team is marked in its lanes.{more}</p>\n"
    )
}

fn row(event: &Event) -> String {
    format!(
        "<tr><td class=\"num\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        seconds(event.t_ms),
        esc(&event.node),
        event.kind.name(),
        esc(&event.text),
    )
}

/// A team's events over its lanes: over one of them if it happened to a member alone.
pub(super) fn marks(run: &Run, team: &Team<'_>, time: &Time, lane: impl Fn(Option<usize>) -> Span) -> String {
    let device = |event: &Event| event.team.as_deref().is_none_or(|device| device == team.device);
    let own = run.events.iter().filter(|event| event.node == team.node && device(event) && time.has(event.t_ms));
    let mark = |event: &Event| {
        let member = event.member.as_deref();
        let place = member.and_then(|member| team.members.iter().position(|device| device == member));
        mark(event, time.x(event.t_ms), &lane(place))
    };
    own.take(MOST).map(mark).collect()
}

/// A line with a flag, which says what it is when it is pointed at.
fn mark(event: &Event, x: f64, span: &Span) -> String {
    format!(
        "<g class=\"event {kind}\"><title>{when}: {text}</title>\
         <line x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{bottom}\"/><path d=\"M{x} {top}l6 3l-6 3Z\"/></g>",
        kind = event.kind.name(),
        when = seconds(event.t_ms),
        text = esc(&event.text),
        x = px(x),
        top = px(span.top),
        bottom = px(span.bottom),
    )
}

/// `1.25 s`; no number of a stranger's that no run can have.
fn seconds(ms: f64) -> String {
    if ms.abs() < 1e10 { format!("{:.2} s", ms / 1000.0) } else { "–".to_owned() }
}
