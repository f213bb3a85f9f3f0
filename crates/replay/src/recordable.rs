//! What can be recorded and replayed.

use nicteam_events::{Effect, Input, TeamError};
use nicteam_machine::bytes::Unreadable;
use nicteam_machine::{MemberId, Source, Time};
use nicteam_options::Config;
use nicteam_wire::Mac;

use super::encode::Keys;

/// A team, as far as its course goes: inputs in, effects out, its state as bytes.
pub trait Recordable: Sized {
    /// One without members.
    ///
    /// # Errors
    /// The configuration is refused.
    fn begin(config: Config, mac: Mac, now: Time) -> Result<Self, TeamError>;

    /// Tells it something.
    ///
    /// # Errors
    /// It refuses; nothing has changed then.
    fn apply(&mut self, input: Input<'_>, now: Time) -> Result<(), TeamError>;

    /// The next thing to do, in order.
    fn poll_effect(&mut self) -> Option<Effect>;

    /// Where a device of this name would join.
    ///
    /// # Errors
    /// It has joined, or there is no room.
    fn place_for(&self, name: &str) -> Result<MemberId, TeamError>;

    /// What follows from secrets comes from there from now on.
    fn set_source(&mut self, source: Source);

    /// What followed from secrets since the last call; where it is given, what nobody asked for.
    fn take_derived(&mut self) -> impl Iterator<Item = u64>;

    /// What follows from secrets next.
    fn give_derived(&mut self, numbers: &[u64]);

    /// Its state; none while it is about to do something.
    fn state(&self, keys: &mut Keys) -> Option<Vec<u8>>;

    /// One that goes on from a state, to be replayed.
    ///
    /// # Errors
    /// The bytes are no state, or one of another version.
    fn of_state(state: &[u8]) -> Result<Self, Unreadable>;
}
