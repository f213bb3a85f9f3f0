//! What the thread of a team knows of how the team is kept over the end of its process.

use std::fmt;
use std::path::PathBuf;

use nicteam_team::MemberId;

use crate::persisted::{ForSuccessor, PersistedInputs, PersistedTeam, StateStore};
use crate::{Entry, TeamSpec};

/// How a team is kept over the end of its process.
pub struct Persistence {
    /// Where.
    pub(crate) store: StateStore,
    /// What was asked for.
    pub(crate) spec: TeamSpec,
    /// The places that the members had.
    pub(crate) places: Vec<(String, MemberId)>,
    /// What an earlier process noted.
    pub(crate) for_successor: ForSuccessor,
    /// Where the process writes what happens; noted for the next one.
    pub(crate) log: Option<PathBuf>,
    /// Hears every entry of the journal.
    pub(crate) listener: Box<dyn Fn(&Entry) + Send>,
    /// What was written last, and of which state of the team.
    pub(crate) persisted: Option<PersistedTeam>,
    pub(crate) persisted_inputs: Option<PersistedInputs>,
    /// It was read back: members may have gone since.
    pub(crate) recalled: bool,
    /// Members whose devices are not there.
    pub(crate) missing: Vec<MissingMember>,
}

/// A member whose device is gone, or was not there, or could not join, when its team was taken over. It joins when it appears.
#[derive(Clone, Debug)]
pub(crate) struct MissingMember {
    /// The place that waits for it.
    pub(crate) id: MemberId,
    /// The device.
    pub(crate) device: String,
    /// Why it is not there.
    pub(crate) why: String,
    /// Index and master of the device when it was tried last: it is tried again when these have changed.
    pub(crate) tried: Option<(u32, Option<u32>)>,
}

impl Persistence {
    /// The place that a device had.
    pub(crate) fn place_of(&self, device: &str) -> Option<MemberId> {
        self.places.iter().find(|(name, _)| name == device).map(|&(_, id)| id)
    }
}

impl fmt::Debug for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Persistence").field("spec", &self.spec).finish_non_exhaustive()
    }
}
