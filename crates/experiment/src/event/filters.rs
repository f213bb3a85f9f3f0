//! `filters`: another program removes the filters of a member, with which the team's programs hang on it.

use std::sync::Arc;

use nicteam_chaos::Chance;
use serde_json::{Value, json};

use super::cables::{named, team_of, words};
use super::ends::chosen_end;
use super::kind::{Happens, Kind, PLAIN, Told};
use crate::record::{Record, Span};
use crate::timed::Event;
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind =
    Kind { name: NAME, also: &["link", "number", "end"], chance: Chance::Member, resolve, ..PLAIN };

const NAME: &str = "filters";

/// The filters of a member are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiltersRemoved {
    /// The node.
    pub node: String,
    /// Its device.
    pub device: String,
    /// The team that this is a member of.
    pub team: String,
    /// Both ends of its cable, in words.
    pub ends: String,
}

impl Event for FiltersRemoved {
    fn kind(&self) -> &'static str {
        NAME
    }

    fn words(&self) -> String {
        format!("the filters at {} of the cable between {} are removed", self.node, self.ends)
    }

    fn node(&self) -> &str {
        &self.node
    }

    fn details(&self) -> Value {
        let FiltersRemoved { node, device, team, .. } = self;
        json!({ "node": node, "device": device, "team": team })
    }
}

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
    let removed = FiltersRemoved {
        node: end.node.clone(),
        device: end.device.clone(),
        team: team.device.clone(),
        ends: words(ends),
    };
    Some(Happens { event: Arc::new(removed), undone: None })
}
