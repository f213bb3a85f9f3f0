//! What becomes of this host's network when a team comes up: a function of what there is and what is wanted.

use std::path::Path;

use nicteam_daemon::Notes;
use nicteam_daemon::control::{TeamState, teams};
use nicteam_dataplane::TeamDevice;
use nicteam_formats::Team;
use nicteam_netlink::object::{Address, Route};
use serde::Serialize;

use crate::facts::Facts;
use crate::found::Found;
use crate::journal::Journal;
use crate::managers::{self, Severity};
use crate::order::{self, Own};
use crate::step::{Step, TEAM};
use crate::survey::Survey;
use crate::{Error, Refusal, forecast, obstacles};

pub use crate::spec::persisted;

/// What would happen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The team.
    pub team: String,
    /// It is up already, so that nothing is to be moved.
    pub is_up: bool,
    /// The steps, in their order, each as a sentence.
    pub steps: Vec<String>,
    /// What keeps it from that.
    pub refusals: Vec<Refusal>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What is to be done, as values.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) found: Found,
    pub(crate) own: Own,
    pub(crate) steps: Vec<Step>,
}

/// Says what would happen, and changes nothing. `coming`: teams that come up ahead of it, and may be its members; `root`:
/// where other managers' files are looked for, `/`.
///
/// # Errors
/// The kernel does not tell what there is.
pub fn check(team: &Team, coming: &[String], root: &Path) -> Result<Plan, Error> {
    let (survey, teams) = (Survey::take(&team.members)?, teams()?);
    // A name that no team can have is refused with the rest.
    let journal = match TeamDevice::is_name(&team.name) {
        true => Journal::read(&team.name, &Notes::of(&team.name)?)?,
        false => None,
    };
    let facts = Facts { survey: &survey, teams: &teams, journal: journal.as_ref(), coming, waits: false, root };
    Ok(plan(team, &facts).0)
}

/// What is wrong with teams that are to be up at the same time, each behind those that it stands on.
pub fn between(teams: &[Team]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (at, team) in teams.iter().enumerate() {
        for other in &teams[..at] {
            if other.name == team.name {
                let what = format!("there are two teams `{}`", team.name);
                refusals.push(Refusal::new(what, "give each a name of its own"));
            }
            // It stands ahead, so this one stands on it, too.
            if other.members.contains(&team.name) {
                let what = format!("{} stands on {}, which stands on it", other.name, team.name);
                refusals.push(Refusal::new(what, "take one of the two out of the other's members"));
            }
            for member in team.members.iter().filter(|member| other.members.contains(member)) {
                let what = format!("{member} is a member of {} and of {}", other.name, team.name);
                refusals.push(Refusal::new(what, "a device has one team: take it out of the other"));
            }
            for address in team.addresses.iter().filter(|own| other.addresses.iter().any(|o| o.address == own.address))
            {
                let what = format!("{} is an address of {} and of {}", address.address, other.name, team.name);
                refusals.push(Refusal::new(what, "give each team addresses of its own"));
            }
        }
    }
    refusals
}

/// The plan, and what it is made of.
pub(crate) fn plan(team: &Team, facts: &Facts<'_>) -> (Plan, Wanted) {
    let (survey, journal) = (facts.survey, facts.journal);
    let device = survey.device_of(&team.name).map(|link| link.index);
    let by_now = |journal: &Journal| journal.found.by_now(device, &survey.addresses, &survey.routes);
    let found = journal.map_or_else(|| before(survey, team), by_now);
    let own = own(team);
    let steps = order::up(&team.name, &found, &own);
    let runs = facts.teams.iter().any(|listed| listed.team == team.name && listed.state == TeamState::Running);
    let is_up = runs && journal.is_some_and(|journal| journal.is_up);
    let mut refusals = obstacles::find(team, facts, &found);
    let mut notes = forecast::notes(team, &found, &own.routes, &survey.sessions);
    for member in &team.members {
        for claim in managers::claims(facts.root, &survey.links, member) {
            let place = claim.place.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
            let what = format!("{member}: {}: {}{place}", claim.manager, claim.why);
            match claim.severity {
                // What is done already is not prevented.
                Severity::Refuse if !is_up => refusals.push(Refusal::new(what, claim.cure)),
                _ => notes.push(format!("{what}; hint: {}", claim.cure)),
            }
        }
    }
    let name = |index: u32| match (index, found.member_at(index)) {
        (TEAM, _) => team.name.clone(),
        (_, Some(member)) => member.name.clone(),
        _ => survey.name_of(index),
    };
    let words = if is_up { Vec::new() } else { steps.iter().map(|step| step.words(&name)).collect() };
    (Plan { team: team.name.clone(), is_up, steps: words, refusals, notes }, Wanted { found, own, steps })
}

/// What is on members that are about to join. The settings of those that are in this team already, which somebody began
/// otherwise, are the team's work.
fn before(survey: &Survey, team: &Team) -> Found {
    let mut found = Found::of(survey, &team.members, team.mac);
    for member in &mut found.members {
        let alias = survey.link_at(member.index).map_or("", |link| link.alias.as_str());
        if obstacles::team_of(alias) == Some(team.name.as_str()) {
            member.sysctls.clear();
        }
    }
    found
}

/// What the file gives the team.
fn own(team: &Team) -> Own {
    let addresses = team.addresses.iter().map(|own| Address::new(TEAM, own.address, own.prefix)).collect();
    let route = |route: &nicteam_formats::Route| {
        Route::new((route.to.address, route.to.prefix), route.via, TEAM, route.metric, route.table)
    };
    Own { addresses, routes: team.routes.iter().map(route).collect(), accept_ra: team.accept_ra }
}
