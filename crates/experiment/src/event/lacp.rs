//! `lacp`: a switch sends no more LACPDUs, and forwards as before.

use super::cables::Relayed;
use super::kind::{Happens, Kind, Told};
use super::nodes::SwitchFault;
use crate::record::{Record, Span};
use nicteam_diagnostics::Problem;

pub(super) const KIND: Kind = Kind {
    name: NAME,
    keys: &[],
    also: &["switch", "for", "every"],
    bridged: |_| Vec::new(),
    relayed: Relayed::of_switch,
    resolve,
};

const NAME: &str = "lacp";
const WORDS: [&str; 2] = ["sends no more LACPDUs, and forwards as before", "sends LACPDUs again"];

fn resolve(record: &Record, kind: &Span, told: &mut Told<'_, '_>) -> Option<Happens> {
    let fault = SwitchFault::resolve((NAME, kind), WORDS, record, told)?;
    let SwitchFault { switch, .. } = &fault;
    let mut groups = told.topology.teams.iter().filter(|team| team.node == *switch);
    if !groups.any(|team| team.config.mode.traits().aggregates(&team.config)) {
        let problem = Problem::at(kind, format!("no group of switch `{switch}` speaks LACP"));
        told.problems.push(problem.hint("give the switch `spread`, and hosts at it a team that speaks LACP"));
        return None;
    }
    Some(fault.happens())
}
