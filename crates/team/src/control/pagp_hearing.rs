//! What switches said last by PAgP.

use std::collections::BTreeMap;

use nicteam_events::PagpHeard;
use nicteam_machine::bytes::{Reader, Unreadable};
use nicteam_machine::state::State;
use nicteam_machine::{MemberId, Time};

/// The last hello of each member.
#[derive(Clone, Debug, Default)]
pub(super) struct PagpHearing(pub(super) BTreeMap<MemberId, (PagpHeard, Time)>);

impl State for PagpHearing {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        State::take(from).map(PagpHearing)
    }
}

impl PagpHearing {
    /// A member has left.
    pub(super) fn forget(&mut self, id: MemberId) {
        self.0.remove(&id);
    }
}
