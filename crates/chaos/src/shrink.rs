//! Faults with which a run fails -> the fewest of them with which it still does.

/// The fewest of these with which it still fails: without any one of them it does not (`ddmin`: Zeller and Hildebrandt,
/// Simplifying and Isolating Failure-Inducing Input, 2002). `fails` must say so of all of them; what is given to it keeps its
/// order.
///
/// # Errors
/// Those of `fails`.
pub fn shrink<T: Clone, E>(all: &[T], mut fails: impl FnMut(&[T]) -> Result<bool, E>) -> Result<Vec<T>, E> {
    let mut left = all.to_vec();
    let mut parts = 2;
    while left.len() > 1 {
        let size = left.len().div_ceil(parts);
        let chunks: Vec<Vec<T>> = left.chunks(size).map(<[T]>::to_vec).collect();
        let without = |place: usize| -> Vec<T> {
            let others = chunks.iter().enumerate().filter(|(other, _)| *other != place);
            others.flat_map(|(_, chunk)| chunk.clone()).collect()
        };
        let mut found = None;
        // Of two parts, each is what is left without the other.
        let alone = chunks.iter().filter(|_| chunks.len() > 2).map(|chunk| (chunk.clone(), 2));
        let fewer = (0..chunks.len()).map(|place| (without(place), (chunks.len() - 1).max(2)));
        for (some, next) in alone.chain(fewer) {
            if fails(&some)? {
                found = Some((some, next));
                break;
            }
        }
        match found {
            Some((some, next)) => (left, parts) = (some, next),
            None if size == 1 => break,
            None => parts = (parts * 2).min(left.len()),
        }
    }
    Ok(left)
}
