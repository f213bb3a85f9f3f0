//! Stamps of probes: numbers that nobody can know without having seen the probe.
//!
//! Where there is no key, an echo proves a path by its stamp alone. So stamps come from a secret that is given in
//! once ([`Discovery::new`](crate::Discovery::new)), by a keyed function: neither what stands in hellos nor stamps that somebody saw
//! say what the next ones are.

use std::fmt;

use hmac::Hmac;
use hmac::digest::{FixedOutput, KeyInit, Mac as _};
use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use sha2::Sha256;

/// Makes stamps, each of them once. Its `Debug` does not show the secret.
#[derive(Clone)]
pub(super) struct Stamps {
    keyed: Hmac<Sha256>,
    system: u64,
    count: u64,
}

impl State for Stamps {
    fn put(&self, to: &mut Vec<u8>) {
        // Not the secret.
        (self.system, self.count).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (system, count) = State::take(from)?;
        Ok(Stamps { count, ..Stamps::new([0; 32], system) })
    }
}

impl Stamps {
    /// From a secret of this process, for the hellos of this system, which is another one each time that discovery begins.
    pub(super) fn new(secret: [u8; 32], system: u64) -> Stamps {
        let mut block = [0; 64];
        block[..secret.len()].copy_from_slice(&secret);
        Stamps { keyed: <Hmac<Sha256> as KeyInit>::new(&block.into()), system, count: 0 }
    }

    /// The next one: 64 bits of HMAC-SHA-256 of the system and a count.
    pub(super) fn next(&mut self) -> u64 {
        self.count += 1;
        let message = [self.system.to_be_bytes(), self.count.to_be_bytes()].concat();
        let whole: [u8; 32] = self.keyed.clone().chain_update(message).finalize_fixed().into();
        whole.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    }
}

impl fmt::Debug for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stamps")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_differ_and_follow_from_the_secret_alone() {
        let of = |secret, system| {
            let mut stamps = Stamps::new([secret; 32], system);
            (0..1000).map(|_| stamps.next()).collect::<Vec<_>>()
        };
        assert_eq!(of(1, 7), of(1, 7));
        let all: std::collections::BTreeSet<u64> = [of(1, 7), of(2, 7), of(1, 8)].into_iter().flatten().collect();
        assert_eq!(all.len(), 3000);
        // Computed by Python's hmac module.
        assert_eq!(of(1, 7)[0], 0xa31c_ea63_6053_d919);
    }
}
