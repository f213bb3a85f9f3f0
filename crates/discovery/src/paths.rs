//! Which of the possible paths to use: few, and enough.

/// Chooses paths between senders and receivers of these rates (Mbit/s), among
/// those that `may` allows: about as many as the larger side has members, not
/// one for each pair, so that few have to be probed.
///
/// First the rates are assigned, the largest part first and between equal member indices first: on a segment where all
/// members reach each other, and on separate cables, all that the narrower side can carry is assigned. Then each member
/// that is left over gets one path: a sender that one peer does not need serves it while others are busy with other
/// peers.
pub(super) fn choose(
    senders_mbps: &[u32],
    receivers_mbps: &[u32],
    may: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let (mut sends, mut receives) = (senders_mbps.to_vec(), receivers_mbps.to_vec());
    let pairs = |sends: &[u32], receives: &[u32]| -> Vec<(usize, usize)> {
        let all = (0..sends.len()).flat_map(|s| (0..receives.len()).map(move |r| (s, r)));
        all.filter(|&(s, r)| may(s, r)).collect()
    };
    let pairs = pairs(&sends, &receives);
    let mut chosen = Vec::new();
    loop {
        let part = |&(s, r): &(usize, usize)| sends[s].min(receives[r]);
        let open = pairs.iter().filter(|pair| part(pair) > 0);
        let Some(&(s, r)) = open.max_by_key(|&pair| (part(pair), std::cmp::Reverse((pair.0.abs_diff(pair.1), pair.0))))
        else {
            break;
        };
        let assigned = part(&(s, r));
        sends[s] -= assigned;
        receives[r] -= assigned;
        chosen.push((s, r));
    }
    for &(s, r) in &pairs {
        let has = |pair: fn(&(usize, usize)) -> usize, place: usize| chosen.iter().any(|chosen| pair(chosen) == place);
        if !has(|pair| pair.0, s) || !has(|pair| pair.1, r) {
            chosen.push((s, r));
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(_: usize, _: usize) -> bool {
        true
    }

    #[test]
    fn like_goes_to_like() {
        assert_eq!(choose(&[1000; 4], &[1000; 4], anywhere), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(choose(&[1000; 2], &[1000; 2], |s, r| s != r), [(0, 1), (1, 0)]);
    }

    #[test]
    fn everybody_has_a_path() {
        assert_eq!(choose(&[1000; 4], &[1000], anywhere), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(choose(&[1000], &[1000; 3], anywhere), [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(choose(&[100], &[1000, 10], |_, r| r == 1), [(0, 1)]);
        assert_eq!(choose(&[100], &[100], |_, _| false), []);
    }

    #[test]
    fn unlike_rates_are_assigned_whole() {
        let (sends, receives) = ([1000, 100, 100, 10], [100, 1000, 10, 100]);
        let paths = choose(&sends, &receives, anywhere);
        assert_eq!(paths, [(0, 1), (1, 0), (2, 3), (3, 2)]);
        let paths = choose(&[3000], &[1000, 1000, 1000, 1000], anywhere);
        assert_eq!(paths.len(), 4);
    }

    #[test]
    fn there_are_few() {
        let paths = choose(&[1000; 8], &[800; 7], anywhere);
        assert!(paths.len() <= 8 + 7, "{paths:?}");
    }
}
