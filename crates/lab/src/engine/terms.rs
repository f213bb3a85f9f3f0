//! What an engine is.

use nicteam_record::{MemberSample, PagpHeard, Port};
use nicteam_sys::netlink::Netlink;

use crate::error::Failure;
use crate::protocol::AddTeam;
use crate::say::Output;

/// Who runs teams in the network namespace of the caller.
pub trait Engine: Sync {
    /// Its name in the file and in the record.
    fn name(&self) -> &'static str;

    /// Runs a team. What happens to it later is told to `output`.
    ///
    /// # Errors
    /// It cannot be run, in words for the lab's user.
    fn add(&self, team: &AddTeam, output: &Output) -> Result<Box<dyn Running>, Failure>;
}

/// A team that runs; it ends with this value.
pub trait Running: Send {
    /// Its device.
    fn device(&self) -> &str;

    /// What executes it frame by frame, in the engine's own words.
    fn dataplane(&self) -> String;

    /// What each member carried so far.
    ///
    /// # Errors
    /// The counters cannot be read.
    fn sample(&self, netlink: &mut Netlink) -> Result<Vec<MemberSample>, Failure>;

    /// Its members as ports, if it agrees on them by LACP; their host is for the lab to name.
    ///
    /// # Errors
    /// It does not say.
    fn ports(&self) -> Result<Vec<Port>, Failure>;

    /// The members at whose other end a port speaks PAgP, if it listens for that; their host is for the lab to name.
    ///
    /// # Errors
    /// It does not say.
    fn pagp(&self) -> Result<Vec<PagpHeard>, Failure> {
        Ok(Vec::new())
    }

    /// Waits until it has agreed with its partners on its members; tells `output` of those that have not in a fair time.
    ///
    /// # Errors
    /// It does not say.
    fn settle(&self, output: &Output) -> Result<(), Failure>;
}
