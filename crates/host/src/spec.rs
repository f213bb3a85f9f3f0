//! The team of a file, as a team that can be run.

use nicteam_daemon::{PersistedTeam, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_formats::Team;

use crate::{Error, Refusal};

/// The team as its process is told it.
///
/// # Errors
/// An option or a value that there is not, a dataplane that there is not, or members that are not enough.
pub fn persisted(team: &Team) -> Result<PersistedTeam, Error> {
    Ok(PersistedTeam::of(&spec(team).map_err(|refusal| Error::Refused { refusals: vec![refusal] })?, None))
}

/// The team as it is to be run, or what is wrong with its options.
pub(crate) fn spec(team: &Team) -> Result<TeamSpec, Refusal> {
    let config = team.config().map_err(|error| {
        let hint = error.hint().unwrap_or_else(|| "docs/team.md lists the options and their values".to_owned());
        Refusal::new(format!("{}: {error}", team.name), hint)
    })?;
    let dataplane = Choice::of(team.dataplane.as_deref())
        .map_err(|error| Refusal::new(format!("{}: {error}", team.name), format!("it is {}", Kind::names())))?;
    let (name, members) = (team.name.clone(), team.members.clone());
    let spec = TeamSpec { name, config, members, mac: team.mac, mtu: team.mtu, dataplane };
    match spec.check() {
        Ok(()) => Ok(spec),
        Err(error) => {
            let said = error.to_string();
            let (what, hint) = said.split_once("; hint: ").unwrap_or((&said, "docs/team.md describes teams"));
            Err(Refusal::new(what, hint))
        }
    }
}
