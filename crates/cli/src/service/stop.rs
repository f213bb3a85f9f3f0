//! `nicteam service stop`: what a unit's `ExecStop=` does.

use std::path::Path;

use nicteam_host::managers::network_manager;
use nicteam_host::service::{self, Job};
use nicteam_host::{Error, down};

use crate::failure::Failure;
use crate::say;
use crate::team::require_root;

/// Take a team down and restore what `up` found, if its unit is stopped: not restarted, not by the machine's end.
///
/// A restart, of which an upgrade of the package is one, leaves the team forwarding for the next process. When the machine ends,
/// nothing has to be restored, and what still wants the network then has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Stop {
    /// The team.
    name: String,
}

/// Stops a team.
pub(super) fn run(stop: &Stop) -> Result<(), Failure> {
    let name = &stop.name;
    let left = |why: &str| say::line(format_args!("team {name} is left as it is: {why}"));
    match service::job(&format!("nicteam@{name}.service")) {
        Job::Restart => left("another process takes it over"),
        Job::Shutdown => left("the machine ends"),
        Job::None => left("nobody stops its unit"),
        Job::Stop => {
            require_root()?;
            match down::take_down(name) {
                Ok(done) => done.changes.iter().chain(&done.notes).for_each(|line| say::line(say::visible(line))),
                // Somebody was quicker.
                Err(Error::NoTeam { .. }) => {}
                Err(error) => return Err(Failure::failed(error)),
            }
            // What it has of the members now is what it would have had without us.
            let _ = network_manager::set_managed(Path::new("/"), name);
            service::forget(name).map_err(Failure::failed)?;
        }
    }
    Ok(())
}
