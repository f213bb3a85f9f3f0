//! All links are full.

use super::Rule;
use crate::finding::{Finding, Side, Weight};
use crate::units::rate;
use crate::view::{Direction, View};

pub(super) struct Full;

impl Rule for Full {
    fn find(&self, view: &View<'_>) -> Vec<Finding> {
        let active = view.active();
        let is_full = |direction: &Direction| active.len() > 1 && active.iter().all(|of| view.is_full(of, *direction));
        let full = [Direction::In, Direction::Out].into_iter().filter(is_full);
        full.map(|direction| {
            let verb = if direction == Direction::In { "receives" } else { "sends" };
            let carried = rate(view.total_bps(direction));
            let sentence =
                format!("All links are full: this host {verb} {carried}. More takes more links, or faster ones.");
            Finding::new("full", Weight::Notice, Side::Nowhere, sentence)
        })
        .collect()
    }
}
