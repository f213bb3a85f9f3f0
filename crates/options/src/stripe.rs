//! What stripe can be told; the kernel has no such mode.

use std::fmt;
use std::time::Duration;

use crate::names::choice;

/// The longest that a gap may be kept from who sends.
pub const MAX_SACK_DELAY: Duration = Duration::from_millis(100);

/// What teams that stripe share, so that each knows the other's hellos. Its
/// `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct StripeKey(pub(crate) String);

impl StripeKey {
    /// Its bytes: [`StripeKey::SHORTEST`] to [`StripeKey::LONGEST`].
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The fewest characters of a key.
    pub const SHORTEST: usize = 16;
    /// The most: a block of the hash.
    pub const LONGEST: usize = 64;
}

impl fmt::Debug for StripeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StripeKey")
    }
}

/// What goes by several members towards a host, or a next hop, that does not stripe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StripePlain {
    /// Nothing: all is balance-alb's.
    Off,
    /// TCP, where that delivers more.
    #[default]
    Tcp,
    /// Every IP flow, where that delivers more. Its frames may arrive in another order.
    All,
}

choice!(StripePlain, "stripe_plain");

impl StripePlain {
    /// Every choice, by number.
    pub const ALL: [StripePlain; 3] = [StripePlain::Off, StripePlain::Tcp, StripePlain::All];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            StripePlain::Off => "off",
            StripePlain::Tcp => "tcp",
            StripePlain::All => "all",
        }
    }

    /// Its number, as in a plan.
    pub const fn number(self) -> u32 {
        match self {
            StripePlain::Off => nicteam_machine::constants::PLAIN_OFF,
            StripePlain::Tcp => nicteam_machine::constants::PLAIN_TCP,
            StripePlain::All => nicteam_machine::constants::PLAIN_ALL,
        }
    }
}

/// So a silent failure is found within 30 ms: three probes have to be missing, and a fourth to come back by another path.
pub(crate) const DEFAULT_INTERVAL_MS: u32 = 5;
/// So TCP bears the wait in a queue that one segment has and the next has not.
pub(crate) const DEFAULT_TCP_MIN_RTT_WLEN_S: Option<u32> = Some(0);
/// So what a queue or a late processor does to the order of frames is over, mostly.
pub(crate) const DEFAULT_SACK_DELAY_MS: u32 = 3;
