//! Whether two sets of measurements differ, and by how much.

use crate::{median, ranks};

/// What a second set of measurements is beside a first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What [`Comparison::middle`], `low` and `high` are.
    pub scale: Scale,
    /// The second beside the first (Hodges and Lehmann 1963): the median of the means of all pairs of differences.
    pub middle: f64,
    /// Lower end of the interval of 95 %; none: there are too few measurements for one.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The chance of a difference like this one, or a larger one, where there is none.
    pub chance: f64,
    /// The least chance that so many measurements can show, whatever they are.
    pub least_chance: f64,
    /// Pairs, or measurements of the smaller set.
    pub count: usize,
    /// True if each measurement of the one belongs to one of the other, made beside it.
    pub is_paired: bool,
}

/// How the second set is expressed by the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As its multiple.
    Ratio,
    /// As what it has more: some measurement is not above zero, so there is no ratio.
    Difference,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The second is higher.
    Higher,
    /// The second is lower.
    Lower,
    /// No difference is shown; there may be one.
    NotShown,
    /// So few measurements cannot show one.
    TooFew,
}

/// One measurement in forty lies outside each end of an interval of 95 %.
const TAIL: f64 = 0.025;

impl Comparison {
    /// The chance at which the one figure that a comparison is about counts as different: one in 32, which six pairs
    /// can show.
    pub const HEADLINE: f64 = 1.0 / 32.0;
    /// Part of the reported differences of the other figures that may be false. If no figure differs, it is the chance
    /// that one is reported.
    pub const BESIDE: f64 = 1.0 / 32.0;

    /// Of measurements made in pairs, by signed ranks; none if there are no pairs, or one is no number.
    pub fn of_pairs(first: &[f64], second: &[f64]) -> Option<Comparison> {
        Comparison::of_pairs_on(Scale::of(first, second)?, first, second)
    }

    /// The same on this scale; none if there is no ratio because a measurement is not above zero, too.
    pub fn of_pairs_on(scale: Scale, first: &[f64], second: &[f64]) -> Option<Comparison> {
        if first.len() != second.len() || !scale.takes(first, second) {
            return None;
        }
        let differences: Vec<f64> =
            first.iter().zip(second).map(|(first, second)| scale.value(*second) - scale.value(*first)).collect();
        let moved: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
        let sizes: Vec<f64> = moved.iter().map(|difference| difference.abs()).collect();
        let ranks = ranks::doubled(&sizes);
        let up: usize = ranks.iter().zip(&moved).filter(|(_, moved)| **moved > 0.0).map(|(rank, _)| rank).sum();
        let chance = ranks::two_sided(&ranks::of_signs(&ranks), up);
        let means = (0..differences.len())
            .flat_map(|one| (one..differences.len()).map(move |other| (one, other)))
            .map(|(one, other)| (differences[one] + differences[other]) / 2.0);
        let untied: Vec<usize> = (1..=differences.len()).collect();
        let cut = ranks::within(&ranks::of_signs(&untied), TAIL);
        let least_chance = 2.0 * 0.5f64.powi(i32::try_from(differences.len()).unwrap_or(i32::MAX));
        Some(Comparison {
            chance,
            least_chance: least_chance.min(1.0),
            count: first.len(),
            is_paired: true,
            ..scale.interval(means.collect(), cut)
        })
    }

    /// Of measurements that have nothing to do with each other, by rank sums; none if one set is empty, or one is no
    /// number.
    pub fn of_sets(first: &[f64], second: &[f64]) -> Option<Comparison> {
        Comparison::of_sets_on(Scale::of(first, second)?, first, second)
    }

    /// The same on this scale; none if there is no ratio because a measurement is not above zero, too.
    pub fn of_sets_on(scale: Scale, first: &[f64], second: &[f64]) -> Option<Comparison> {
        if !scale.takes(first, second) {
            return None;
        }
        let of = |set: &[f64]| set.iter().map(|value| scale.value(*value)).collect::<Vec<f64>>();
        let (first, second) = (of(first), of(second));
        let all: Vec<f64> = second.iter().chain(&first).copied().collect();
        let ranks = ranks::doubled(&all);
        let sum = ranks[..second.len()].iter().sum();
        let chance = ranks::two_sided(&ranks::of_choices(&ranks, second.len()), sum);
        let untied: Vec<usize> = (1..=all.len()).collect();
        let chances = ranks::of_choices(&untied, second.len());
        let least = second.len() * (second.len() + 1) / 2;
        let cut = ranks::within(&chances, TAIL).saturating_sub(least);
        let differences = second.iter().flat_map(|second| first.iter().map(move |first| second - first)).collect();
        Some(Comparison {
            chance,
            least_chance: (2.0 * chances[least]).min(1.0),
            count: first.len().min(second.len()),
            is_paired: false,
            ..scale.interval(differences, cut)
        })
    }

    /// What it says where a difference counts from this chance on.
    pub fn verdict(&self, chance: f64) -> Verdict {
        let nothing = if self.scale == Scale::Ratio { 1.0 } else { 0.0 };
        match () {
            () if self.least_chance > chance => Verdict::TooFew,
            () if self.chance > chance => Verdict::NotShown,
            () if self.middle > nothing => Verdict::Higher,
            () if self.middle < nothing => Verdict::Lower,
            () => Verdict::NotShown,
        }
    }

    /// The fewest pairs that can show a difference at this chance.
    pub fn fewest_pairs(chance: f64) -> usize {
        (1..64).find(|count| 2.0 * 0.5f64.powi(*count) <= chance).map_or(64, |count| count as usize)
    }
}

impl Scale {
    /// That of two sets; none if one is empty, or a measurement is no number.
    fn of(first: &[f64], second: &[f64]) -> Option<Scale> {
        let mut all = first.iter().chain(second);
        if first.is_empty() || second.is_empty() || all.clone().any(|value| !value.is_finite()) {
            return None;
        }
        Some(if all.all(|value| *value > 0.0) { Scale::Ratio } else { Scale::Difference })
    }

    /// Whether two sets can be compared on it.
    fn takes(self, first: &[f64], second: &[f64]) -> bool {
        Scale::of(first, second).is_some_and(|widest| self == Scale::Difference || widest == Scale::Ratio)
    }

    /// A measurement expressed by another one.
    pub fn apart(self, first: f64, second: f64) -> f64 {
        if self == Scale::Ratio { second / first } else { second - first }
    }

    /// What is subtracted.
    fn value(self, of: f64) -> f64 {
        if self == Scale::Ratio { of.ln() } else { of }
    }

    /// Back again.
    fn shown(self, difference: f64) -> f64 {
        if self == Scale::Ratio { difference.exp() } else { difference }
    }

    /// Middle and interval of these differences, of which so many are cut at each end.
    fn interval(self, mut differences: Vec<f64>, cut: usize) -> Comparison {
        differences.sort_by(f64::total_cmp);
        let end = |place: Option<usize>| {
            let found = place.filter(|_| cut > 0).and_then(|place| differences.get(place));
            found.map(|difference| self.shown(*difference))
        };
        Comparison {
            scale: self,
            middle: self.shown(median(&differences)),
            low: end(cut.checked_sub(1)),
            high: end(differences.len().checked_sub(cut)),
            chance: 1.0,
            least_chance: 1.0,
            count: 0,
            is_paired: false,
        }
    }
}

/// Which of several differences hold, so that at most this part of the reported ones is false (Benjamini and Hochberg
/// 1995).
pub fn hold_together(chances: &[f64], part: f64) -> Vec<bool> {
    let mut sorted = chances.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_within = |(place, chance): &(usize, &f64)| **chance <= part * (place + 1) as f64 / chances.len() as f64;
    let highest = sorted.iter().enumerate().filter(is_within).map(|(_, chance)| *chance).next_back();
    chances.iter().map(|chance| highest.is_some_and(|highest| *chance <= highest)).collect()
}
