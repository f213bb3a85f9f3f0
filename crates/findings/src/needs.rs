//! Teams that need a group at the switch, towards one that has none.

use nicteam_record::{Run, Team as Recorded};
use nicteam_team::mode::Agrees;

use super::moves;
use crate::team::{Team, TeamMode};
use crate::units::{self, thousands};

/// A sentence for each mode that needs of a switch what that does not have: what happens instead.
pub fn needs(run: &Run) -> Vec<String> {
    let mut alike: Vec<(Missing<'_>, Vec<&str>)> = Vec::new();
    for team in &run.topology.teams {
        let Some(missing) = missing(run, team) else { continue };
        match alike.iter_mut().find(|(known, _)| *known == missing) {
            Some((_, hosts)) => hosts.push(&team.node),
            None => alike.push((missing, vec![&team.node])),
        }
    }
    alike.iter().map(|(missing, hosts)| missing.words(run, &units::hosts(hosts))).collect()
}

/// What a host's team needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missing<'a> {
    mode: &'a str,
    switch: &'a str,
    /// Members that carry, and all, where LACP would agree on them; none: a static group.
    carry: Option<(usize, usize)>,
}

fn missing<'a>(run: &'a Run, team: &'a Recorded) -> Option<Missing<'a>> {
    let TeamMode::Of(mode) = Team::read(team).mode else { return None };
    let (host, switch) = (&team.node, &team.peer);
    let is_host = run.topology.hosts.iter().any(|of| of.name == *host);
    let is_switch = run.topology.switches.iter().any(|of| of.name == *switch);
    let has_group = run.topology.teams.iter().any(|group| group.node == *switch && group.peer == *host);
    let is_used = team.members.len() > 1 && run.connections.iter().any(|it| it.from == *host || it.to == *host);
    if !is_host || !is_switch || has_group || !is_used {
        return None;
    }
    let agrees = Team::read(team).speaks_lacp || mode.traits().agrees == Agrees::Always;
    let own = || run.ports.iter().filter(|port| port.host == *host);
    let carry = agrees.then(|| (own().filter(|port| port.aggregates).count(), own().count()));
    (agrees || mode.traits().needs_group).then_some(Missing { mode: &team.mode, switch, carry })
}

impl Missing<'_> {
    fn words(self, run: &Run, hosts: &str) -> String {
        let Missing { mode, switch, carry } = self;
        if let Some((carry, all)) = carry {
            return format!(
                "{hosts}: {mode} needs a group with LACP at {switch}, which has none: {carry} of {all} members carries everything."
            );
        }
        let moves = run.mac_moves.iter().find(|of| of.switch == switch && moves::is_notable(of));
        let learned = moves.map_or_else(String::new, |of| {
            format!(" It learned addresses at another port {} times.", thousands(of.moves))
        });
        format!(
            "{hosts}: {mode} needs a static group at {switch}, which has none. {switch} sends by the port on which it last learned \
             the address.{learned}"
        )
    }
}
