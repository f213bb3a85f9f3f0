//! How often a hash would do by chance what was seen.

/// How often a hash puts so many flows on the links where they are: each of them could be on any of `links`. 0 to 1.
pub fn all_by_chance(links: usize, flows: usize) -> f64 {
    (links.max(1) as f64).powi(-i32::try_from(flows).unwrap_or(i32::MAX))
}

/// How often so many flows use so few of the links, at most: the ways to choose these links times the odds that all flows are on
/// them. 0 to 1.
pub fn part_by_chance(links: usize, used: usize, flows: usize) -> f64 {
    let ways = (0..used.min(links)).fold(1.0, |ways, at| ways * (links - at) as f64 / (at + 1) as f64);
    (ways * (used as f64 / links.max(1) as f64).powi(i32::try_from(flows).unwrap_or(i32::MAX))).min(1.0)
}

/// A chance for people: `one of 128 cases`.
pub fn odds(chance: f64) -> String {
    match 1.0 / chance.max(1e-12) {
        of if of >= 1e6 => "one of more than a million cases".to_owned(),
        of => format!("one of {of:.0} cases"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_as_likely_as_counting_says() {
        // Three coins: all heads, or all tails.
        assert_eq!((part_by_chance(2, 1, 3), all_by_chance(2, 3)), (0.25, 0.125));
        assert_eq!((part_by_chance(4, 4, 9), part_by_chance(1, 1, 5)), (1.0, 1.0));
        assert_eq!(odds(part_by_chance(2, 1, 8)), "one of 128 cases");
    }
}
