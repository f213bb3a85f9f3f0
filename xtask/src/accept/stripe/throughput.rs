//! One connection and more, one way and both, over four links through a plain switch.

use super::bundles::Bundles;
use crate::accept::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::part::{Context, Part};

/// What frames are, and what is asked of them.
#[derive(Clone, Copy, Debug)]
struct Setting {
    experiment: &'static str,
    one_way: f64,
    both_ways: f64,
    /// Less of the segments than this is sent again, percent; none: it is told alone.
    retransmitted_percent: Option<f64>,
}

const SETTINGS: [Setting; 2] = [
    Setting { experiment: "stripe-gigabit", one_way: 0.97, both_ways: 0.95, retransmitted_percent: None },
    Setting { experiment: "stripe", one_way: 0.98, both_ways: 0.98, retransmitted_percent: Some(0.1) },
];

/// How far the directions' means may differ, and the least of any second.
const IMBALANCE: f64 = 0.03;
const WORST_SECOND: f64 = 0.9;

/// Mode stripe over four links through a plain switch.
pub(crate) const PART: Part<Arguments> =
    Part::new("stripe", "stripe: four links through a plain switch (bpf dataplane)", measure);

/// Measures both kinds of frames.
fn measure(run: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for setting in SETTINGS {
        let bundles = Bundles::run(run, setting.experiment)?;
        figures.push(bundles.about()?);
        figures.extend(setting.figures(&bundles)?);
    }
    Ok(figures)
}

impl Setting {
    fn figures(self, bundles: &Bundles) -> Result<Vec<Figure>, Failure> {
        let mut figures = Vec::new();
        let again = self.retransmitted_percent.map_or(Bound::None, Bound::Below);
        for run in ["one-connection", "four-connections", "sixteen-connections"] {
            figures.push(bundles.figure(run, "of limit", Bound::AtLeast(self.one_way), |run| run.of_limit())?);
            figures.push(bundles.figure(run, "% sent again", again, |run| Some(run.retransmitted()? * 1e2))?);
        }
        let both = "both-ways";
        let slower = Bound::AtLeast(self.both_ways);
        figures.push(bundles.figure(both, "slower way, of limit", slower, |run| Some(run.each_way()?[0]))?);
        figures.push(bundles.figure(both, "faster way, of limit", slower, |run| Some(run.each_way()?[1]))?);
        figures.push(bundles.figure(both, "ways apart", Bound::AtMost(IMBALANCE), |run| run.imbalance())?);
        figures.push(bundles.figure(both, "worst second", Bound::AtLeast(WORST_SECOND), |run| run.worst_second())?);
        figures.push(bundles.figure(both, "% sent again", again, |run| Some(run.retransmitted()? * 1e2))?);
        Ok(figures)
    }
}
