//! Coordinates of the panels of traffic: the run's time from left to right, a lane a member from top to bottom.

use maud::{Markup, html};
use nicteam_record::Run;

use crate::svg::px;

/// Width of a panel; its lanes leave room for names at the left, and for figures at the right.
pub(super) const WIDTH: f64 = 440.0;
pub(super) const LEFT: f64 = 48.0;
pub(super) const RIGHT: f64 = 34.0;
const TOP: f64 = 3.0;
/// Below the lanes, where the seconds stand.
pub(super) const AXIS: f64 = 18.0;
/// Height of a lane, and from one to the next.
const LANE: f64 = 22.0;
const PITCH: f64 = 29.0;

/// What something spans from top to bottom.
pub(super) struct Span {
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Span {
    /// The lane of the member at this place.
    pub(super) fn of_lane(place: usize) -> Span {
        let top = TOP + PITCH * place as f64;
        Span { top, bottom: top + LANE }
    }

    /// So many lanes.
    pub(super) fn of_lanes(count: usize) -> Span {
        Span { top: TOP, bottom: TOP + PITCH * count as f64 - (PITCH - LANE) }
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// The run's time from left to right.
pub(super) struct Time {
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
}

impl Time {
    pub(super) fn of(run: &Run) -> Time {
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

/// Seconds below the lanes.
pub(super) fn axis(time: &Time, bottom: f64) -> Markup {
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0];
    let seconds = time.to_ms / 1000.0;
    let step = step.into_iter().find(|step| seconds / step <= 6.0).unwrap_or((seconds / 6.0).ceil());
    let ticks = (0..=6).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= seconds + 1e-6);
    html! {
        @for tick in ticks {
            text x=(px(time.x(tick * 1000.0))) y=(px(bottom + 14.0)) text-anchor="middle" {
                (tick) @if tick == 0.0 { " s" }
            }
        }
    }
}
