//! Tags of hellos, by the team's keys.

use hmac::Hmac;
use hmac::digest::{FixedOutput, KeyInit, Mac as _};
use nicteam_wire::{Hello, Mac, Tagged};
use sha2::Sha256;

use nicteam_options::StripeKey;

/// Computes tags by a key. Printed as nothing.
#[derive(Clone)]
pub(super) struct Tagger {
    pub(super) key: StripeKey,
    keyed: Hmac<Sha256>,
}

/// For each of our keys: true if a tag is by it.
pub(super) type Fitting = [bool; MOST_KEYS];

/// Keys at once: the new one and the old one.
pub(super) const MOST_KEYS: usize = 2;

/// The new key first; the old one where it is worth something.
pub(super) fn taggers(key: Option<&StripeKey>, old: Option<&StripeKey>) -> Vec<Tagger> {
    let old = old.filter(|old| key.is_some_and(|key| key != *old));
    key.into_iter().chain(old).map(Tagger::new).collect()
}

impl Tagger {
    pub(super) fn new(key: &StripeKey) -> Tagger {
        // Zeros behind a key that is shorter than a block are what HMAC itself puts there.
        let mut block = [0; 64];
        for (byte, given) in block.iter_mut().zip(key.bytes()) {
            *byte = *given;
        }
        Tagger { key: key.clone(), keyed: <Hmac<Sha256> as KeyInit>::new(&block.into()) }
    }

    pub(super) fn tag(&self, covered: &[u8]) -> [u8; Hello::TAG] {
        let whole: [u8; 32] = self.keyed.clone().chain_update(covered).finalize_fixed().into();
        whole.first_chunk().copied().unwrap_or_default()
    }

    /// True if one of its tags is by this key; in the same time for every tag.
    pub(super) fn verifies(&self, tagged: &Tagged) -> bool {
        let keyed = self.keyed.clone().chain_update(&tagged.covered);
        let fits = |tag: &[u8; Hello::TAG]| keyed.clone().verify_truncated_left(tag).is_ok();
        fits(&tagged.tag) | tagged.second.as_ref().is_some_and(fits)
    }

    /// The stamp of a challenge. No hello starts with a zero, so it is part of no tag.
    pub(super) fn stamp(&self, system: u64, number: u64) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.tag(&[[0; 8], system.to_be_bytes(), number.to_be_bytes()].concat());
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// A token, which is not 0. Longer than what stamps are made of, so it is no stamp.
    pub(super) fn lost_token(&self, system: u64, announced: u64, mac: Mac) -> u64 {
        let numbers = [[0; 8], system.to_be_bytes(), announced.to_be_bytes()].concat();
        let [a, b, c, d, e, f, g, h, ..] = self.tag(&[&numbers, &mac.0[..]].concat());
        u64::from_be_bytes([a, b, c, d, e, f, g, h]).max(1)
    }
}

impl std::fmt::Debug for Tagger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tagger")
    }
}

/// Which of our keys it is true of.
pub(super) fn fitting_of(keys: &[Tagger], fits: impl Fn(&Tagger) -> bool) -> Fitting {
    let mut fitting = Fitting::default();
    fitting.iter_mut().zip(keys).for_each(|(is, key)| *is = fits(key));
    fitting
}

/// The same as a number: a bit for each key, the first the lowest.
pub(super) fn bits_of(fitting: Fitting) -> u64 {
    fitting.iter().enumerate().map(|(place, fits)| u64::from(*fits) << place).sum()
}

pub(super) fn fitting_of_bits(bits: u64) -> Fitting {
    std::array::from_fn(|place| bits >> place & 1 != 0)
}

#[cfg(test)]
mod tests {
    use nicteam_wire::HelloKind;

    use super::*;
    use nicteam_options::Config;

    fn tagger() -> Tagger {
        let mut config = Config::default();
        config.set("stripe_key", "nicteam-test-key").unwrap();
        Tagger::new(config.stripe_key.as_ref().unwrap())
    }

    #[test]
    fn the_tag_is_the_one_that_is_documented() {
        let probe = Hello {
            takes_rtags: false,
            rivals: 0,
            kind: HelloKind::Probe,
            system: 0x0102_0304_0506_0708,
            sequence: 0x0a0b_0c0d,
            team: Mac([2, 0, 0, 0, 0, 0xff]),
            place: 3,
            stamp: 0x1112_1314_1516_1718,
            next_ms: 0,
            members: Vec::new(),
        };
        let bytes = probe.encode_tagged(|covered| tagger().tag(covered));
        // Computed by Python's hmac module.
        let tag = [0xf0, 0xd7, 0x78, 0x80, 0xa0, 0x40, 0x8a, 0x32, 0xff, 0x09, 0x36, 0x59, 0x8e, 0x8e, 0x4c, 0xb5];
        assert_eq!(bytes[32..], tag);
    }
}
