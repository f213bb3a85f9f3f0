//! The address of a member that was lost.

use nicteam_machine::{MemberId, Time, state};
use nicteam_wire::Mac;

/// A lost member's address, while the active one hears it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inherited {
    pub(super) lost: MemberId,
    pub(super) mac: Mac,
    pub(super) until: Time,
}

state!(struct Inherited { lost, mac, until });
