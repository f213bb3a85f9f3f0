//! One end of an aggregate.

use crate::failure::Failure;

/// The standard's, milliseconds.
pub(super) const AGGREGATE_WAIT_MS: u32 = 2000;

/// Links of each aggregate.
pub(crate) const PORTS: usize = 4;

/// How often a bond and a team read their carriers: the kernel's default for 802.3ad.
pub(crate) const MIIMON: (&str, &str) = ("miimon", "100");

/// Something that has ports and aggregates them.
pub(crate) trait End: Send {
    /// How long it waits by itself before it aggregates, milliseconds.
    fn wait_ms(&self) -> u32;

    /// What it waits for, in words.
    fn waits(&self) -> String;

    /// Starts anew, as if it had never had a partner. Its cables are pulled.
    fn renew(&mut self) -> Result<(), Failure>;

    /// True if every port distributes.
    fn distributes(&mut self) -> Result<bool, Failure>;

    /// Its state, for people.
    fn state(&mut self) -> String;

    /// True if its ports do not see the carrier of their cables.
    fn has_own_carrier(&self) -> bool {
        false
    }

    /// Gives such a port carrier, or takes it away.
    fn plug(&mut self, port: usize, carrier: bool) -> Result<(), Failure> {
        let _ = (port, carrier);
        Ok(())
    }
}

/// The device of a host at a cable.
pub(crate) fn device(port: usize) -> String {
    format!("eth{port}")
}
