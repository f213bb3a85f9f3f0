//! `lacp`: a switch sends no more LACPDUs, and forwards as before.

use nicteam_chaos::Chance;

use super::cables::Relayed;
use super::kind::{Happens, Kind, PLAIN, Told};
use super::nodes::NodeKind;
use crate::record::{Record, Span};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: OF_NODE.name,
    also: &["switch", "for", "every"],
    relayed: Relayed::of_switch,
    chance: Chance::LacpSwitch,
    resolve,
    ..PLAIN
};

const OF_NODE: NodeKind = NodeKind {
    name: "lacp",
    words: ["switch {} sends no more LACPDUs, and forwards as before", "switch {} sends LACPDUs again"],
    needs_process: false,
};

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let fault = OF_NODE.of_switch(record, kind, told)?;
    let mut groups = told.topology.teams.iter().filter(|team| team.node == fault.node);
    if !groups.any(|team| team.config.mode.traits().aggregates(&team.config)) {
        let problem = Problem::at(kind, format!("no group of switch `{}` speaks LACP", fault.node));
        told.problems.push(problem.hint("give the switch `spread`, and hosts at it a team that speaks LACP"));
        return None;
    }
    Some(fault.happens())
}
