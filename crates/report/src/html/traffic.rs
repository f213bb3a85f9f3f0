//! Members' traffic over time: a lane a member, the lane's top its link's rate.

use maud::{Markup, html};
use nicteam_findings::TeamMode;
use nicteam_findings::is_idle;
use nicteam_findings::units::{link_rate, percent, rate, ratio, share};
use nicteam_findings::view::{MemberView, TeamView};
use nicteam_record::{Run, Sample, Stall};

use super::lanes::{AXIS, LEFT, RIGHT, Span, Time, WIDTH, axis};
use super::way::{RECEIVED, SENT, Way};
use super::{heat, timeline};
use crate::like::busy_groups;
use crate::series::{Interval, member_series};
use crate::svg::{hue, px, steps};

/// The busy hosts' teams, sent and received apart.
pub fn section(run: &Run, samples: &[Sample]) -> Markup {
    let groups = busy_groups(run);
    if groups.is_empty() {
        return html! { p.quiet { "No host of this run has a team, so no member was sampled." } };
    }
    let teams: Vec<&TeamView<'_>> = groups.iter().flat_map(|group| &group.teams).collect();
    let (lanes, maps) = groups.iter().partition::<Vec<_>, _>(|group| group.teams.len() == 1);
    let what = if teams.iter().all(|team| team.team.mode == TeamMode::Multipath) { "path" } else { "member" };
    let members = || teams.iter().flat_map(|team| &team.members);
    let payload =
        share(members().map(|member| member.capacity_bps).sum(), members().map(|member| member.rate_bps).sum());
    html! {
        h3 { "Traffic of every " (what) }
        div.traffic {
            div.head {}
            div.head { "sent" }
            div.head { "received" }
            @for group in &groups {
                @match &group.teams[..] {
                    [team] => (row(run, team, samples)),
                    _ => (heat::row(run, group, samples)),
                }
            }
        }
        @if !maps.is_empty() {
            p.quiet {
                "Like hosts stand together: a row a " (what) ", from the first host at the top to the last one, the members one below "
                "the other; the darker, the fuller the link was. The figure is the members’ mean load in the measured window."
            }
        }
        @if !lanes.is_empty() { p.quiet {
            "A lane a " (what) "; the dotted line is its link’s rate, the figure its mean load in the measured window (1 is all "
            "that full frames can carry, " (ratio(payload)) " of the wire’s rate). Shaded: the warm-up, which no figure counts."
            @if stalls(run).next().is_some() { " Red: nothing was answered." }
        } }
    }
}

/// A host: its name and two panels.
fn row(run: &Run, team: &TeamView<'_>, samples: &[Sample]) -> Markup {
    let series = |member: &MemberView<'_>| member_series(samples, team.team.node, team.team.device, member.device);
    let series: Vec<Vec<Interval>> = team.members.iter().map(series).collect();
    html! {
        div.who {
            b { (team.team.node) }
            span { (team.team.mode_name) @if !team.team.policy_name.is_empty() { ", " (team.team.policy_name) } }
        }
        @for way in [&SENT, &RECEIVED] {
            div { div.narrow { (way.name) } (panel(run, team, &series, way)) (shares(team, way)) }
        }
    }
}

/// A panel: the lanes of a team's members over the run's time.
fn panel(run: &Run, team: &TeamView<'_>, series: &[Vec<Interval>], way: &Way) -> Markup {
    let time = Time::of(run);
    let bottom = Span::of_lanes(team.members.len()).bottom;
    let label = format!("{}, {}, each member over time", team.team.node, way.name);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (px(bottom + AXIS)) } role="img" aria-label=(label)
            data-time={ (px(time.from_ms)) " " (px(time.to_ms)) } data-span={ (LEFT) " " (px(WIDTH - RIGHT)) } {
            rect.warm x=(LEFT) y="0" width=(px(time.x(0.0) - LEFT)) height=(px(bottom)) {}
            @for stall in stalls(run) { (shade(&stall, &time, bottom)) }
            @for (place, (member, series)) in team.members.iter().zip(series).enumerate() {
                (lane(place, member, series, way, &time))
            }
            (timeline::marks(run, &team.team, &time))
            (axis(&time, bottom))
        }
    }
}

/// What part of a direction's bytes each link carried, where the host has no team that spreads them.
fn shares(team: &TeamView<'_>, way: &Way) -> Markup {
    let all: f64 = team.members.iter().map(way.of_member).sum();
    // What answers payload the other way is not what the paths share.
    let is_busy = team.members.iter().any(|member| !is_idle((way.load)(member)));
    if !team.team.mode.has_an_address_a_link() || !is_busy {
        return Markup::default();
    }
    html! {
        div.shares {
            @for (place, member) in team.members.iter().enumerate() {
                @let part = share((way.of_member)(member), all);
                @let words = percent(part);
                i class=(hue(place)) style={ "width:" (format!("{:.2}", part * 100.0)) "%" }
                    title={ (member.device) ": " (words) } { (words) }
            }
        }
    }
}

/// Times in which nothing was answered that are long enough to be seen.
fn stalls(run: &Run) -> impl Iterator<Item = Stall> {
    const SEEN_MS: f64 = 20.0;
    let operations = run.operations.iter().filter_map(|task| task.stall);
    let all = operations.chain(run.transfers.iter().filter_map(|task| task.stall));
    all.filter(|stall| stall.took_ms >= SEEN_MS && stall.from_ms.is_finite() && stall.took_ms.is_finite())
}

fn shade(stall: &Stall, time: &Time, bottom: f64) -> Markup {
    const NARROWEST: f64 = 1.5;
    let (from, to) = (time.x(stall.from_ms), time.x(stall.from_ms + stall.took_ms));
    html! {
        rect.stall x=(px(from)) y="0" width=(px((to - from).max(NARROWEST))) height=(px(bottom)) {
            title { "nothing was answered for " (format!("{:.0}", stall.took_ms)) " ms" }
        }
    }
}

/// A member's lane.
fn lane(place: usize, member: &MemberView<'_>, series: &[Interval], way: &Way, time: &Time) -> Markup {
    let span = Span::of_lane(place);
    let height = |bps: f64| share(bps, member.rate_bps).clamp(0.0, 1.0) * span.height();
    let wide = |interval: &&Interval| time.x(interval.to_ms) > time.x(interval.from_ms);
    let drawn: Vec<&Interval> = series.iter().filter(wide).collect();
    let point =
        |interval: &&Interval| (time.x(interval.from_ms), time.x(interval.to_ms), height((way.of_interval)(interval)));
    let points: Vec<(f64, f64, f64)> = drawn.iter().map(point).collect();
    // What each step is, in kbit/s: its height is rounded.
    let values: Vec<String> = drawn.iter().map(|interval| px(((way.of_interval)(interval) / 1e3).round())).collect();
    let right = px(WIDTH - RIGHT);
    let (text, base, top) = (px(span.bottom - 7.0), px(span.bottom), px(span.top));
    html! {
        g data-kbps=(values.join(" ")) {
            title {
                (member.device) " " (way.name) ": " (rate((way.of_member)(member))) " of "
                (link_rate(member.rate_bps as u64)) ", mean of the measured window"
            }
            path class={ "fill " (hue(place)) } d=(steps(&points, span.bottom)) {}
            line.rate x1=(LEFT) x2=(right) y1=(top) y2=(top) {}
            line.base x1=(LEFT) x2=(right) y1=(base) y2=(base) {}
            text.dev x=(px(LEFT - 8.0)) y=(text) text-anchor="end" { (member.device) }
            text x=(px(WIDTH)) y=(text) text-anchor="end" { (ratio((way.load)(member))) }
        }
    }
}
