//! What the tests of 802.3ad ask of a team.

use nicteam_daemon::{RunningTeam, TeamSpec};
use nicteam_dataplane::Kind;

use super::spec;

/// Fast in everything, so that a test is short.
pub const FAST: &[(&str, &str)] =
    &[("mode", "802.3ad"), ("lacp_rate", "fast"), ("aggregate_wait", "0"), ("miimon", "20")];

/// A fast team of these members, with these options.
pub fn fast(members: &[&str], options: &[(&str, &str)], kind: Kind) -> TeamSpec {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    TeamSpec { members, ..spec(&[FAST, options].concat(), kind) }
}

/// Which members frames are sent by.
pub fn aggregating(team: &RunningTeam) -> Vec<bool> {
    team.report().unwrap().members.iter().map(|member| member.status.active).collect()
}

/// Everything that the team says is wrong, a line each.
pub fn problems(team: &RunningTeam) -> String {
    let problems = team.handle().status().unwrap().problems;
    problems.into_iter().map(|problem| problem.text + "\n").collect()
}

/// True if the team says of each of these members that it does not aggregate, with words that begin so.
pub fn says(team: &RunningTeam, members: &[&str], reason: &str) -> bool {
    let problems = problems(team);
    members.iter().all(|name| problems.contains(&format!("member {name} does not aggregate: {reason}")))
}
