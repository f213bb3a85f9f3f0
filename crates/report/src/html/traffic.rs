//! Members' traffic over time: a lane a member, the lane's top its link's rate.

use nicteam_record::{Run, Sample, Stall};

use super::timeline;
use crate::explain::is_idle;
use crate::series::{Interval, member_series};
use crate::svg::{esc, hue, px, steps};
use crate::team::TeamMode;
use crate::units::{link_rate, percent, rate, ratio, share};
use crate::view::{MemberView, TeamView, busy_host_teams};

/// The busy hosts' teams, sent and received apart.
pub(super) fn section(run: &Run, samples: &[Sample]) -> String {
    let teams = busy_host_teams(run);
    if teams.is_empty() {
        return "<p class=\"quiet\">No host of this run has a team, so no member was sampled.</p>\n".to_owned();
    }
    let rows: String = teams.iter().map(|team| row(run, team, samples)).collect();
    let what = if teams.iter().all(|team| team.team.mode == TeamMode::Multipath) { "path" } else { "member" };
    format!(
        "<h3>Traffic of every {what}</h3>\n\
         <div class=\"traffic\">\n<div class=\"head\"></div><div class=\"head\">sent</div><div class=\"head\">received</div>\n\
         {rows}</div>\n<p class=\"quiet\">A lane a {what}; the dotted line is its link’s rate, the figure its mean load in the measured \
         window (1 is all that full frames can carry, {payload} of the wire’s rate). Shaded: the warm-up, which no figure counts.{stalls}</p>\n",
        stalls = if stalls(run).next().is_some() { " Red: nothing was answered." } else { "" },
        payload = ratio(share(
            teams.iter().flat_map(|team| &team.members).map(|member| member.capacity_bps).sum(),
            teams.iter().flat_map(|team| &team.members).map(|member| member.rate_bps).sum(),
        )),
    )
}

/// A host: its name and two panels.
fn row(run: &Run, team: &TeamView<'_>, samples: &[Sample]) -> String {
    let series: Vec<Vec<Interval>> = team
        .members
        .iter()
        .map(|member| member_series(samples, team.team.node, team.team.device, member.device))
        .collect();
    let panel = |way: &Way| {
        format!(
            "<div><div class=\"narrow\">{}</div>{}{}</div>\n",
            way.name,
            panel(run, team, &series, way),
            shares(team, way)
        )
    };
    let policy = match team.team.policy_name {
        "" => String::new(),
        policy => format!(", {policy}"),
    };
    format!(
        "<div class=\"who\"><b>{}</b><span>{}{}</span></div>\n{}{}",
        esc(team.team.node),
        esc(team.team.mode_name),
        esc(&policy),
        panel(&SENT),
        panel(&RECEIVED),
    )
}

/// One of the two directions.
struct Way {
    name: &'static str,
    of_interval: fn(&Interval) -> f64,
    of_member: fn(&MemberView<'_>) -> f64,
    load: fn(&MemberView<'_>) -> f64,
}

const SENT: Way = Way {
    name: "sent",
    of_interval: |interval| interval.tx_bps,
    of_member: |member| member.tx_bps,
    load: |member| member.tx_load(),
};

const RECEIVED: Way = Way {
    name: "received",
    of_interval: |interval| interval.rx_bps,
    of_member: |member| member.rx_bps,
    load: |member| member.rx_load(),
};

/// Coordinates of a panel.
const WIDTH: f64 = 440.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 34.0;
const LANE: f64 = 22.0;
const PITCH: f64 = 29.0;
const TOP: f64 = 3.0;
const AXIS: f64 = 18.0;

/// A panel: the lanes of a team's members over the run's time.
fn panel(run: &Run, team: &TeamView<'_>, series: &[Vec<Interval>], way: &Way) -> String {
    let time = Time::of(run);
    let bottom = TOP + PITCH * team.members.len() as f64 - (PITCH - LANE);
    let lanes: String = team
        .members
        .iter()
        .zip(series)
        .enumerate()
        .map(|(place, (member, series))| lane(place, member, series, way, &time))
        .collect();
    let marks = timeline::marks(run, &team.team, &time, |place| match place {
        Some(place) => Span { top: TOP + PITCH * place as f64, bottom: TOP + PITCH * place as f64 + LANE },
        None => Span { top: TOP, bottom },
    });
    let stalls: String = stalls(run).map(|stall| shade(&stall, &time, bottom)).collect();
    let warm = time.x(0.0) - LEFT;
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{node}, {way}, each member over time\">\
         <rect class=\"warm\" x=\"{LEFT}\" y=\"0\" width=\"{warm}\" height=\"{bottom}\"/>{stalls}{lanes}{marks}{axis}</svg>",
        height = px(bottom + AXIS),
        node = esc(team.team.node),
        way = way.name,
        warm = px(warm),
        bottom = px(bottom),
        axis = axis(&time, bottom),
    )
}

/// What part of a direction's bytes each link carried, where the host has no team that spreads them.
fn shares(team: &TeamView<'_>, way: &Way) -> String {
    let all: f64 = team.members.iter().map(way.of_member).sum();
    // What answers payload the other way is not what the paths share.
    let is_busy = team.members.iter().any(|member| !is_idle((way.load)(member)));
    if !team.team.mode.has_an_address_a_link() || !is_busy {
        return String::new();
    }
    let part = |(place, member): (usize, &MemberView<'_>)| {
        let part = share((way.of_member)(member), all);
        format!(
            "<i class=\"{}\" style=\"width:{:.2}%\" title=\"{}: {}\">{}</i>",
            hue(place),
            part * 100.0,
            esc(member.device),
            percent(part),
            percent(part)
        )
    };
    format!("<div class=\"shares\">{}</div>", team.members.iter().enumerate().map(part).collect::<String>())
}

/// Times in which nothing was answered that are long enough to be seen.
fn stalls(run: &Run) -> impl Iterator<Item = Stall> {
    const SEEN_MS: f64 = 20.0;
    let operations = run.operations.iter().filter_map(|task| task.stall);
    let all = operations.chain(run.transfers.iter().filter_map(|task| task.stall));
    all.filter(|stall| stall.took_ms >= SEEN_MS && stall.from_ms.is_finite() && stall.took_ms.is_finite())
}

fn shade(stall: &Stall, time: &Time, bottom: f64) -> String {
    const NARROWEST: f64 = 1.5;
    let (from, to) = (time.x(stall.from_ms), time.x(stall.from_ms + stall.took_ms));
    format!(
        "<rect class=\"stall\" x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\"><title>nothing was answered for {:.0} ms</title></rect>",
        px(from),
        px((to - from).max(NARROWEST)),
        px(bottom),
        stall.took_ms,
    )
}

/// A member's lane.
fn lane(place: usize, member: &MemberView<'_>, series: &[Interval], way: &Way, time: &Time) -> String {
    let top = TOP + PITCH * place as f64;
    let base = top + LANE;
    let height = |bps: f64| share(bps, member.rate_bps).clamp(0.0, 1.0) * LANE;
    let points: Vec<(f64, f64, f64)> = series
        .iter()
        .map(|interval| (time.x(interval.from_ms), time.x(interval.to_ms), height((way.of_interval)(interval))))
        .filter(|(from, to, _)| to > from)
        .collect();
    let (right, end) = (px(WIDTH - RIGHT), px(WIDTH));
    let (text, base_text, top_text) = (px(base - 7.0), px(base), px(top));
    format!(
        "<g><title>{device} {way}: {mean} of {rate}, mean of the measured window</title>\
         <path class=\"fill {hue}\" d=\"{path}\"/>\
         <line class=\"rate\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{top_text}\" y2=\"{top_text}\"/>\
         <line class=\"base\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{base_text}\" y2=\"{base_text}\"/>\
         <text class=\"dev\" x=\"{label}\" y=\"{text}\" text-anchor=\"end\">{device}</text>\
         <text x=\"{end}\" y=\"{text}\" text-anchor=\"end\">{load}</text></g>",
        device = esc(member.device),
        way = way.name,
        mean = rate((way.of_member)(member)),
        rate = link_rate(member.rate_bps as u64),
        hue = hue(place),
        path = steps(&points, base),
        label = px(LEFT - 8.0),
        load = ratio((way.load)(member)),
    )
}

/// Seconds below the lanes.
fn axis(time: &Time, bottom: f64) -> String {
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0];
    let seconds = time.to_ms / 1000.0;
    let step = step.into_iter().find(|step| seconds / step <= 6.0).unwrap_or((seconds / 6.0).ceil());
    let ticks = (0..=6).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= seconds + 1e-6);
    let ticks = ticks.map(|tick| {
        let unit = if tick == 0.0 { " s" } else { "" };
        format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{tick}{unit}</text>",
            px(time.x(tick * 1000.0)),
            px(bottom + 14.0)
        )
    });
    ticks.collect()
}

/// What a mark spans on the y axis.
pub(super) struct Span {
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The run's time on the x axis.
pub(super) struct Time {
    from_ms: f64,
    to_ms: f64,
}

impl Time {
    fn of(run: &Run) -> Time {
        let usable = |ms: f64| if ms.is_finite() { ms.max(0.0) } else { 0.0 };
        Time { from_ms: -usable(run.warmup_ms), to_ms: usable(run.measured_ms).max(1.0) }
    }

    /// Whether a moment is on it.
    pub(super) fn has(&self, ms: f64) -> bool {
        (self.from_ms..=self.to_ms).contains(&ms)
    }

    pub(super) fn x(&self, ms: f64) -> f64 {
        let part = (ms - self.from_ms) / (self.to_ms - self.from_ms);
        LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }
}
