//! Numbers that look random and depend on their input alone.

/// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): every bit of the input changes about half of the output,
/// and no two inputs have the same output.
#[inline(always)]
pub(crate) const fn mix(input: u64) -> u64 {
    let z = (input ^ (input >> 30)).wrapping_mul(FIRST);
    let z = (z ^ (z >> 27)).wrapping_mul(SECOND);
    z ^ (z >> 31)
}

/// The input of [`mix`] that has this output.
pub(crate) const fn unmix(output: u64) -> u64 {
    let z = (output ^ (output >> 31) ^ (output >> 62)).wrapping_mul(inverse(SECOND));
    let z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(inverse(FIRST));
    z ^ (z >> 30) ^ (z >> 60)
}

/// What an odd number has to be multiplied with to give 1, modulo 2^64 (Newton's iteration: each step doubles the
/// bits that are right, and an odd number is its own inverse in the lowest three).
pub(crate) const fn inverse(odd: u64) -> u64 {
    let mut guess = odd;
    let mut step = 0;
    while step < 5 {
        guess = guess.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(guess)));
        step += 1;
    }
    guess
}

const FIRST: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND: u64 = 0x94d0_49bb_1331_11eb;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmixing_undoes_mixing() {
        for input in [0, 1, 2, 0x0123_4567_89ab_cdef, u64::MAX, 1 << 63] {
            assert_eq!(unmix(mix(input)), input);
            assert_eq!(mix(unmix(input)), input);
        }
    }
}
