//! What a plan follows from.

use nicteam_machine::MemberId;
use nicteam_wire::Mac;

use super::monitor::Members;
use super::parts::Parts;
use crate::{Config, Traits};

/// What a plan follows from.
pub(super) struct Facts<'a> {
    pub(super) config: &'a Config,
    pub(super) traits: &'a Traits,
    /// The team's address.
    pub(super) team: Mac,
    pub(super) members: &'a Members,
    pub(super) active: Option<MemberId>,
    pub(super) parts: &'a Parts,
}
