//! How fast probes go back.
//!
//! The dataplane sends a peer's probes back, and anybody can write a peer's address into a frame. A team sends 2400
//! probes a second at most (`pace.rs`). The limit of the echoes to one address is eight times as high, and allows as
//! many at once as in a second. Forged probes with a peer's address count against it, so the peer's own probes still
//! come back beside 17,000 forged ones a second. The limit also bounds what forged probes can make the team send to an
//! address: 20,000 frames of 78 bytes a second, 16 Mbit/s of the wire. The probes of other addresses have limits of
//! their own.
//!
//! Mirrored in `bpf/echoes.h`; a change here is a change there.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_machine::{MAX_MEMBERS, Time, TokenBucket};
use nicteam_wire::Mac;

use super::limits::MAX_PEERS;

/// Which bucket: a peer's, by its team's address, and its member's; none: of all its other addresses.
pub(super) type Asker = (Mac, Option<Mac>);

/// How many more echoes may go to each.
#[derive(Clone, Debug, Default)]
pub(super) struct Echoes(BTreeMap<Asker, TokenBucket>);

/// Between two echoes to one address, if they are as many as may be.
const INTERVAL: Duration = Duration::from_nanos(nicteam_machine::constants::ECHO_INTERVAL_NS);
/// Those of a second at once.
const BURST: u32 = nicteam_machine::constants::ECHO_BURST;

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
