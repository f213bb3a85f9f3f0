//! Distributions of sums of ranks, exact, ties included.

/// Ranks of these values from the smallest, twice as large so that those of ties are whole: of `[5, 7, 5]`
/// they are 3, 6, 3.
pub(crate) fn doubled(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let alike = order[first..].iter().take_while(|place| values[**place] == values[order[first]]).count();
        for place in &order[first..first + alike] {
            ranks[*place] = 2 * first + alike + 1;
        }
        first += alike;
    }
    ranks
}

/// Probability of each sum if every rank is in it or not with the same chance (Wilcoxon 1945, signed ranks).
pub(crate) fn of_signs(ranks: &[usize]) -> Vec<f64> {
    let mut chances = vec![0.0; ranks.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    for rank in ranks {
        for sum in (0..chances.len()).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |without| chances[without]);
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances
}

/// Probability of each sum if so many of the ranks are in it, each choice with the same chance (Mann and Whitney 1947).
pub(crate) fn of_choices(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let all: usize = ranks.iter().sum();
    // By how many are chosen among those seen so far.
    let mut chances = vec![vec![0.0; all + 1]; chosen + 1];
    chances[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        let left = (ranks.len() - seen) as f64;
        let mut next = vec![vec![0.0; all + 1]; chosen + 1];
        for (count, sums) in chances.iter().enumerate() {
            // Of those left, as many as are still wanted are taken, each with the same chance.
            let taken = (chosen - count) as f64 / left;
            for (sum, chance) in sums.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                next[count][sum] += chance * (1.0 - taken);
                if count < chosen && sum + rank <= all {
                    next[count + 1][sum + rank] += chance * taken;
                }
            }
        }
        chances = next;
    }
    chances.swap_remove(chosen)
}

/// Chance of a sum as far from the middle as this one, or farther, to both sides.
pub(crate) fn two_sided(chances: &[f64], sum: usize) -> f64 {
    let below: f64 = chances.iter().take(sum + 1).sum();
    let above: f64 = chances.iter().skip(sum).sum();
    (2.0 * below.min(above)).min(1.0)
}

/// How many of the smallest of these sums have together a chance of at most this.
pub(crate) fn within(chances: &[f64], chance: f64) -> usize {
    let mut sum = 0.0;
    chances
        .iter()
        .take_while(|of| {
            sum += **of;
            sum <= chance
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(doubled(&[5.0, 7.0, 5.0]), [3, 6, 3]);
        assert_eq!(doubled(&[3.0, 1.0, 2.0]), [6, 2, 4]);
        assert_eq!(doubled(&[]), [0; 0]);
    }

    #[test]
    fn signed_ranks_are_as_in_the_tables() {
        // Two-sided critical values at 5 %: 8 of ten pairs, 25 of fifteen, 0 of six, none of five.
        for (pairs, critical) in [(6, Some(0)), (10, Some(8)), (15, Some(25)), (5, None)] {
            let ranks: Vec<usize> = (1..=pairs).collect();
            let count = within(&of_signs(&ranks), 0.025);
            assert_eq!(count.checked_sub(1), critical, "{pairs} pairs");
        }
    }

    #[test]
    fn rank_sums_are_as_in_the_tables() {
        // Critical U at 5 %, two-sided: 2 of 5 and 5, 23 of 10 and 10. U is the sum less its least.
        for (one, other, critical) in [(5, 5, 2), (10, 10, 23), (4, 4, 0)] {
            let ranks: Vec<usize> = (1..=one + other).collect();
            let least = one * (one + 1) / 2;
            let chances = of_choices(&ranks, one);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert_eq!(within(&chances, 0.025) - least - 1, critical, "{one} and {other}");
        }
    }
}
