//! What happened in a run: marks in the lanes of traffic, and a list.

use std::collections::BTreeSet;

use maud::{Markup, html};
use nicteam_findings::Team;
use nicteam_findings::units::{hosts, plural};
use nicteam_record::{Event, Run};

use super::document::{NUMBER, WORDS, plain_table};
use super::lanes::{Span, Time};
use crate::svg::px;

/// The most events that are marked and listed; the record has all.
const MOST: usize = 200;

/// The list; nothing where nothing happened.
pub(super) fn section(run: &Run) -> Markup {
    if run.events.is_empty() {
        return Markup::default();
    }
    let columns = [("when", NUMBER), ("where", WORDS), ("kind", WORDS), ("what", WORDS)];
    let rows = html! {
        @for alike in alike(&run.events[..run.events.len().min(MOST)]) {
            @let (first, last) = (alike[0], alike[alike.len() - 1]);
            @let nodes: Vec<&str> = alike.iter().map(|event| event.node.as_str()).collect();
            tr {
                td.num { @if alike.len() > 1 { (seconds(first.t_ms)) " to " } (seconds(last.t_ms)) }
                td { (hosts(&nodes)) }
                td { (first.kind.name()) }
                td { (first.text) }
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

/// More events are listed together where the same happened to so many hosts.
const FEW: usize = 24;
const MANY_HOSTS: usize = 5;

/// Events in rows; of many those that are the same but for host and time in one, where its first one stands.
fn alike(events: &[Event]) -> Vec<Vec<&Event>> {
    let mut rows: Vec<Vec<&Event>> = Vec::new();
    for event in events {
        let same = |row: &&mut Vec<&Event>| (row[0].kind, &row[0].text) == (event.kind, &event.text);
        match rows.iter_mut().find(same) {
            Some(row) => row.push(event),
            None => rows.push(vec![event]),
        }
    }
    let (mut listed, few): (Vec<Vec<&Event>>, Vec<_>) =
        rows.into_iter().partition(|row| events.len() > FEW && hosts_of(row) >= MANY_HOSTS);
    for event in few.into_iter().flatten() {
        listed.push(vec![event]);
    }
    let place = |event: &Event| events.iter().position(|other| std::ptr::eq(other, event));
    listed.sort_by_key(|row| place(row[0]));
    listed
}

fn hosts_of(events: &[&Event]) -> usize {
    events.iter().map(|event| event.node.as_str()).collect::<BTreeSet<_>>().len()
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
