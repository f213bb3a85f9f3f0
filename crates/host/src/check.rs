//! What becomes of this host's network when a team comes up.

use std::path::Path;

use nicteam_daemon::{Kept, TeamSpec};
use nicteam_dataplane::{Choice, Kind};
use nicteam_formats::Team;
use serde::Serialize;

use crate::managers::{self, Severity};
use crate::survey::Survey;
use crate::{Error, Refusal};

/// What would happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The team.
    pub team: String,
    /// It is up already.
    pub is_up: bool,
    /// The steps, in their order, each as a sentence.
    pub steps: Vec<String>,
    /// What keeps it from that.
    pub refusals: Vec<Refusal>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Says what would happen, and changes nothing. `root`: where other managers' files are looked for, `/`.
///
/// # Errors
/// The kernel does not tell what there is.
pub fn check(team: &Team, root: &Path) -> Result<Plan, Error> {
    let survey = Survey::take(&team.members)?;
    let mut plan = Plan { team: team.name.clone(), ..Plan::default() };
    for member in &team.members {
        for claim in managers::claims(root, &survey.links, member) {
            match claim.severity {
                Severity::Refuse => plan.refusals.push(Refusal::new(claim.why, claim.cure)),
                Severity::Warn => plan.notes.push(format!("{}; hint: {}", claim.why, claim.cure)),
            }
        }
    }
    Ok(plan)
}

/// The team as its process is told it.
///
/// # Errors
/// An option or a value that there is not, a dataplane that there is not, or members that are not enough.
pub fn kept(team: &Team) -> Result<Kept, Error> {
    let refused = |what: String, hint: String| Error::Refused { refusals: vec![Refusal::new(what, hint)] };
    let config = team.config().map_err(|error| {
        refused(format!("team {}: {error}", team.name), error.hint().unwrap_or_else(|| "see docs/team.md".to_owned()))
    })?;
    let dataplane = match team.dataplane.as_deref() {
        None => Choice::Auto,
        Some("bpf") => Choice::Force(Kind::Bpf),
        Some("packet") => Choice::Force(Kind::Packet),
        Some(other) => {
            return Err(refused(format!("team {}: no dataplane `{other}`", team.name), "`bpf` or `packet`".to_owned()));
        }
    };
    let (name, members) = (team.name.clone(), team.members.clone());
    let spec = TeamSpec { name, config, members, mac: team.mac, mtu: team.mtu, dataplane };
    spec.check()?;
    Ok(Kept::of(&spec, None))
}
