//! The chart of shares: a line with its band over the number of flows.

use maud::{Markup, html};
use nicteam_report::px;

/// A point of the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) flows: u32,
    /// Share of the limit: p5, median, p95.
    pub(crate) shares: [f64; 3],
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// The chart; `chosen` is the point that is marked.
pub(crate) fn chart(points: &[Point], chosen: Point) -> Markup {
    let most = points.iter().map(|point| point.flows).max().unwrap_or(1).max(2);
    let x = |flows: u32| LEFT + f64::from(flows.max(1)).log2() / f64::from(most).log2() * (WIDTH - LEFT - RIGHT);
    let y = |share: f64| TOP + (1.0 - share.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM);
    let at = |point: &Point, of: usize| format!("{} {}", px(x(point.flows)), px(y(point.shares[of])));
    let line = |of: usize| points.iter().map(|point| at(point, of)).collect::<Vec<_>>().join("L");
    let back: Vec<String> = points.iter().rev().map(|point| at(point, 0)).collect();
    let [low, middle, high] = chosen.shares;
    let marked = px(x(chosen.flows));
    let powers = (0..).map(|power| 1_u32 << power).take_while(|flows| *flows <= most);
    html! {
        svg.shares viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
            aria-label={ "Share of the limit over the number of flows; for " (chosen.flows) ": p5 " (share(low)) ", median " (share(middle)) ", p95 " (share(high)) } {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(px(y(tick))) y2=(px(y(tick))) {}
                text x=(LEFT - 8.0) y=(px(y(tick) + 4.0)) text-anchor="end" { (tick) }
            }
            @for flows in powers {
                text x=(px(x(flows))) y=(HEIGHT - BOTTOM + 18.0) text-anchor="middle" { (flows) }
            }
            text x=(px((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 4.0) text-anchor="middle" { "flows" }
            @if !points.is_empty() {
                path.band d={ "M" (line(2)) "L" (back.join("L")) "Z" } {}
                path.median d={ "M" (line(1)) } {}
            }
            line.chosen x1=(marked) x2=(marked) y1=(px(y(low))) y2=(px(y(high))) {}
            circle.chosen cx=(marked) cy=(px(y(middle))) r="5" {}
        }
    }
}

/// A share as it is shown.
pub(crate) fn share(share: f64) -> String {
    format!("{share:.2}")
}
