//! `filters`: another program removes the filters of a member, with which the team's programs hang on it.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::json;

use super::cables::{named, team_of, words};
use super::changed::Changed;
use super::ends::chosen_end;
use super::kind::{Happens, Kind, PLAIN, Told};
use crate::record::{Record, Span};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind =
    Kind { name: NAME, also: &["link", "number", "end"], chance: Chance::Member, resolve, ..PLAIN };

const NAME: &str = "filters";

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let cable = named(record, (NAME, kind), told.problems)?;
    let ends = cable.find(told.topology, told.problems)?;
    let end = match record.has("end") {
        true => chosen_end(record, ends, told)?,
        false => ends.into_iter().find(|end| team_of(end, told.topology).is_some()).unwrap_or(ends[0]),
    };
    let own = |team: &&crate::resolved::Team| team.node == end.node && team.members.contains(&end.device);
    let Some(team) = told.topology.teams.iter().find(own).filter(|team| team.engine == "nicteam") else {
        let message = format!("{} of `{}` is no member of a team of engine `nicteam`", end.device, end.node);
        told.problems.push(Problem::at(kind, message).hint("only such members have filters of a team"));
        return None;
    };
    let (node, device) = (&end.node, &end.device);
    let removed = Changed {
        kind: NAME,
        node: node.clone(),
        words: format!("the filters at {node} of the cable between {} are removed", words(ends)),
        details: json!({ "node": node, "device": device, "team": team.device }),
    };
    Some(Happens { event: Arc::new(removed), undone: None })
}
