//! How fast probes go back.
//!
//! Whoever forwards frames sends a peer's probes back, and anybody can write a peer's address into a frame. A
//! team sends 2400 probes a second at most (`pace.rs`); so many go back to each address, and as
//! many as come in a second at once, for those that wait somewhere come together. One whose probes somebody else
//! uses up so is the one whose address he took: no other's probes count there. That is a token bucket,
//! kept as the time at which it is full again (the generic cell rate algorithm of ITU-T I.371).
//!
//! Mirrored in `bpf/echoes.h`; a change here is a change there.

use std::collections::BTreeMap;

use nicteam_wire::Mac;

use super::MAX_PEERS;
use crate::MAX_MEMBERS;

/// Which bucket: a peer's, by its team's address, and its member's; none: of all its other addresses.
pub(super) type Asker = (Mac, Option<Mac>);

/// When the buckets are full again, nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Echoes(BTreeMap<Asker, u64>);

/// Between two echoes to one address, if they are as many as may be.
const INTERVAL_NS: u64 = 400_000;
/// The time for whose echoes there is room at once.
const AT_ONCE_NS: u64 = 1_000_000_000;

impl Echoes {
    /// True if a probe from there may go back now.
    pub(super) fn may(&mut self, asker: Asker, now: u64) -> bool {
        if self.0.len() > MAX_PEERS * (MAX_MEMBERS + 1) {
            // A full bucket needs no note: so those of peers that are gone go, too.
            self.0.retain(|_, full| *full > now);
        }
        let full = self.0.entry(asker).or_default();
        let after = now.max(*full) + INTERVAL_NS;
        let may = after <= now + AT_ONCE_NS;
        if may {
            *full = after;
        }
        may
    }
}
