//! How fast probes go back.
//!
//! Whoever forwards frames sends a peer's probes back, and anybody can write a peer's address into a frame. A
//! team sends 2400 probes a second at most (`pace.rs`); so many go back to each address, and as
//! many as come in a second at once, for those that wait somewhere come together. One whose probes somebody else
//! uses up so is the one whose address he took: no other's probes count there.
//!
//! Mirrored in `bpf/echoes.h`; a change here is a change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_wire::Mac;

use super::limits::MAX_PEERS;
use crate::{MAX_MEMBERS, Time, TokenBucket};

/// Which bucket: a peer's, by its team's address, and its member's; none: of all its other addresses.
pub(super) type Asker = (Mac, Option<Mac>);

/// How many more echoes may go to each.
#[derive(Clone, Debug, Default)]
pub(super) struct Echoes(BTreeMap<Asker, TokenBucket>);

/// Between two echoes to one address, if they are as many as may be.
const INTERVAL: Duration = Duration::from_nanos(crate::constants::ECHO_INTERVAL_NS);
/// Those of a second at once.
const BURST: u32 = crate::constants::ECHO_BURST;

impl Echoes {
    /// True if a probe from there may go back now, in nanoseconds.
    pub(super) fn may(&mut self, asker: Asker, now: u64) -> bool {
        let now = Time::from_nanos(now);
        if self.0.len() > MAX_PEERS * (MAX_MEMBERS + 1) {
            // A full bucket needs no note: so those of peers that are gone go, too.
            self.0.retain(|_, bucket| !bucket.is_full(now));
        }
        self.0.entry(asker).or_insert_with(|| TokenBucket::new(BURST, INTERVAL)).take(now)
    }
}
