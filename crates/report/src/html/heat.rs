//! The members of many like hosts over time, as a heat map: a row a member, a column a moment.

use std::fmt::Write as _;

use maud::{Markup, html};
use nicteam_findings::units::{plural, ratio, share};
use nicteam_findings::view::MemberView;
use nicteam_record::{Run, Sample};

use super::lanes::{AXIS, LEFT, RIGHT, Time, WIDTH, axis};
use super::way::{RECEIVED, SENT, Way};
use crate::like::TeamGroup;
use crate::series::{Interval, member_series};
use crate::svg::px;

/// Steps of darkness; the first one is left empty.
const LEVELS: usize = 9;
/// Columns at most.
const COLUMNS: usize = 80;
/// The height of all rows together that is aimed at, and the bounds of a row's height.
const HEIGHT: f64 = 190.0;
const ROW: [f64; 2] = [2.5, 9.0];
/// Between two members' rows.
const GAP: f64 = 6.0;

/// Like hosts: their name and two maps.
pub(super) fn row(run: &Run, group: &TeamGroup<'_>, samples: &[Sample]) -> Markup {
    let Some(first) = group.teams.first() else { return Markup::default() };
    let series: Vec<Vec<Vec<Interval>>> = group
        .teams
        .iter()
        .map(|team| {
            let of = |member: &MemberView<'_>| member_series(samples, team.team.node, team.team.device, member.device);
            team.members.iter().map(of).collect()
        })
        .collect();
    html! {
        div.who {
            b { (group.name) }
            span {
                (plural(group.teams.len(), "host")) ": " (first.team.mode_name)
                @if !first.team.policy_name.is_empty() { ", " (first.team.policy_name) }
            }
        }
        @for way in [&SENT, &RECEIVED] {
            div { div.narrow { (way.name) } (map(run, group, &series, way)) }
        }
    }
}

/// A map: for each member, by its place, a row a host.
fn map(run: &Run, group: &TeamGroup<'_>, series: &[Vec<Vec<Interval>>], way: &Way) -> Markup {
    let time = Time::of(run);
    let loads = group.loads(way.load);
    let (places, hosts) = (loads.len(), group.teams.len());
    let row = (HEIGHT / (places * hosts).max(1) as f64).clamp(ROW[0], ROW[1]);
    let block = row * hosts as f64;
    let top = |place: usize| (block + GAP) * place as f64;
    let bottom = top(places.saturating_sub(1)) + block;
    let mut levels: Vec<String> = vec![String::new(); LEVELS];
    let mut values: Vec<String> = Vec::new();
    for place in 0..places {
        for (host, team) in group.teams.iter().enumerate() {
            let (Some(member), Some(series)) = (team.members.get(place), series[host].get(place)) else { continue };
            let (y, loads) = (top(place) + row * host as f64, columns(series, member.rate_bps, way, &time));
            cells(&loads, &time, (y, row), &mut levels);
            let name = format!("{} {}", team.team.node, member.device).replace('\n', " ");
            values.push(format!("{}|{}|{name}", px(y), per_mille(&loads)));
        }
    }
    let label = format!("{}, {}, the load of each member over time", group.name, way.name);
    html! {
        svg.map viewBox={ "0 0 " (WIDTH) " " (px(bottom + AXIS)) } role="img" aria-label=(label)
            data-span={ (LEFT) " " (px(WIDTH - RIGHT)) } data-ends={ (px(time.from_ms)) " " (px(time.to_ms)) }
            data-row=(px(row)) data-loads=(values.join("\n")) {
            @for (place, load) in loads.iter().enumerate() {
                @let device = group.teams.iter().find_map(|team| team.members.get(place)).map_or("", |member| member.device);
                @let middle = px(top(place) + block / 2.0 + 4.0);
                rect.track x=(LEFT) y=(px(top(place))) width=(px(WIDTH - LEFT - RIGHT)) height=(px(block)) {}
                text.dev x=(px(LEFT - 8.0)) y=(middle) text-anchor="end" { (device) }
                text x=(px(WIDTH)) y=(middle) text-anchor="end" { (ratio(*load)) }
            }
            @for (level, path) in levels.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                path.heat d=(path) fill-opacity=(ratio((level + 1) as f64 / LEVELS as f64)) {}
            }
            @for place in 0..places {
                line.begin x1=(px(time.x(0.0))) x2=(px(time.x(0.0))) y1=(px(top(place))) y2=(px(top(place) + block)) {}
            }
            (axis(&time, bottom))
        }
    }
}

/// A member's load in each column, as a part of its link's rate; 0 where no sample is.
fn columns(series: &[Interval], rate_bps: f64, way: &Way, time: &Time) -> Vec<f64> {
    let span = time.to_ms - time.from_ms;
    let column = |ms: f64| ((ms - time.from_ms) / span * COLUMNS as f64).clamp(0.0, COLUMNS as f64);
    let (mut carried, mut weights) = (vec![0.0; COLUMNS], vec![0.0; COLUMNS]);
    for interval in series {
        let (from, to) = (column(interval.from_ms), column(interval.to_ms));
        let load = share((way.of_interval)(interval), rate_bps).clamp(0.0, 1.0);
        for place in from.floor() as usize..(to.ceil() as usize).min(COLUMNS) {
            let weight = (to.min(place as f64 + 1.0) - from.max(place as f64)).max(0.0);
            carried[place] += load * weight;
            weights[place] += weight;
        }
    }
    carried.iter().zip(&weights).map(|(carried, weight)| share(*carried, *weight)).collect()
}

/// Adds a row's cells to the path of their darkness, equal neighbours as one.
fn cells(loads: &[f64], time: &Time, (y, height): (f64, f64), levels: &mut [String]) {
    let level = |load: f64| (load * LEVELS as f64).round() as usize;
    let x = |column: usize| time.x(time.from_ms + (time.to_ms - time.from_ms) * column as f64 / COLUMNS as f64);
    let mut from = 0;
    for same in loads.chunk_by(|one, other| level(*one) == level(*other)) {
        let to = from + same.len();
        if let Some(path) = level(same[0]).checked_sub(1).and_then(|place| levels.get_mut(place)) {
            let (x, width) = (px(x(from)), px(x(to) - x(from)));
            let _ = write!(path, "M{x} {}h{width}v{height}h-{width}z", px(y), height = px(height));
        }
        from = to;
    }
}

/// Loads in thousandths, for the value at the pointer; equal neighbours as one: `0x12 998 1000x3`.
fn per_mille(loads: &[f64]) -> String {
    let of: Vec<u16> = loads.iter().map(|load| (load * 1000.0).round() as u16).collect();
    let part = |same: &[u16]| if same.len() > 1 { format!("{}x{}", same[0], same.len()) } else { same[0].to_string() };
    of.chunk_by(u16::eq).map(part).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Time = Time { from_ms: -1000.0, to_ms: 7000.0 };

    fn interval(from_ms: f64, to_ms: f64, tx_bps: f64) -> Interval {
        Interval { from_ms, to_ms, tx_bps, rx_bps: 0.0 }
    }

    #[test]
    fn columns_hold_the_mean_of_their_time() {
        // A column is 100 ms.
        let loads = columns(&[interval(0.0, 50.0, 0.0), interval(50.0, 200.0, 1e6)], 1e6, &SENT, &TIME);
        assert_eq!((loads.len(), loads[9], loads[12]), (COLUMNS, 0.0, 0.0));
        assert!((loads[10] - 0.5).abs() < 1e-9 && (loads[11] - 1.0).abs() < 1e-9, "{loads:?}");
    }

    #[test]
    fn numbers_that_no_run_can_have_are_harmless() {
        let loads = columns(&[interval(-1e300, 1e300, 1e300), interval(5.0, 6.0, f64::INFINITY)], 0.0, &SENT, &TIME);
        assert!(loads.iter().all(|load| (0.0..=1.0).contains(load)), "{loads:?}");
    }

    #[test]
    fn equal_neighbours_are_one_cell_and_idle_ones_none() {
        assert_eq!(per_mille(&[0.0, 0.0, 0.0004, 0.4567, 1.0]), "0x3 457 1000");
        let mut levels = vec![String::new(); LEVELS];
        cells(&[0.0, 1.0, 1.0, 0.01, 1.0], &TIME, (0.0, 3.0), &mut levels);
        assert_eq!(levels[LEVELS - 1].matches('M').count(), 2, "{levels:?}");
        assert!(levels[..LEVELS - 1].iter().all(String::is_empty), "{levels:?}");
    }
}
