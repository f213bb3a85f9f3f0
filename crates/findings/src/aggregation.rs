//! Members that LACP keeps out of their team's aggregate, in words.

use nicteam_record::{Port, Run};
use serde::{Deserialize, Serialize};

use crate::units::list;

/// A team some of whose members do not aggregate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LeftOut {
    /// Host or switch.
    pub(super) node: String,
    /// The team's device.
    team: String,
    /// Members it has, and those that aggregate.
    members: usize,
    aggregate: usize,
    /// Whether the one that aggregates has no partner that speaks LACP.
    alone: bool,
    /// The others, by reason.
    reasons: Vec<Reason>,
}

/// Why some members do not aggregate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Reason {
    members: Vec<String>,
    why_not: String,
}

/// Each team of mode 802.3ad some of whose members do not aggregate.
pub(super) fn of_run(run: &Run) -> Vec<LeftOut> {
    let mut teams: Vec<(&str, &str)> = run.ports.iter().map(|port| (&*port.host, &*port.team)).collect();
    teams.dedup();
    let left_out = |(node, team): (&str, &str)| {
        let ports = run.ports.iter().filter(|port| (&*port.host, &*port.team) == (node, team));
        LeftOut::of(&ports.collect::<Vec<_>>())
    };
    teams.into_iter().filter_map(left_out).collect()
}

impl LeftOut {
    /// Those of one team; nothing if all its members aggregate.
    pub(super) fn of(ports: &[&Port]) -> Option<LeftOut> {
        let first = ports.first()?;
        let (used, idle): (Vec<&Port>, Vec<&Port>) = ports.iter().copied().partition(|port| port.aggregates);
        let mut reasons: Vec<Reason> = Vec::new();
        for port in &idle {
            let why_not = port.why_not.as_deref().unwrap_or("the record gives no reason");
            match reasons.iter_mut().find(|known| known.why_not == why_not) {
                Some(known) => known.members.push(port.member.clone()),
                None => reasons.push(Reason { members: vec![port.member.clone()], why_not: why_not.to_owned() }),
            }
        }
        (!idle.is_empty()).then(|| LeftOut {
            node: first.host.clone(),
            team: first.team.clone(),
            members: ports.len(),
            aggregate: used.len(),
            alone: matches!(used.as_slice(), [port] if port.partner.is_none()),
            reasons,
        })
    }

    /// `of 4 members of team0 on a 1 aggregates, because eth1, eth2 and eth3 do not: partner silent.`
    pub(super) fn words(&self) -> String {
        let does = match self.aggregate {
            1 if self.alone => "carries the traffic alone",
            1 => "aggregates",
            _ => "aggregate",
        };
        let because = self.reasons.iter().map(|Reason { members, why_not }| {
            format!("{} {} not: {why_not}", list(members), if members.len() == 1 { "does" } else { "do" })
        });
        let because = because.collect::<Vec<_>>().join("; ");
        let some = if self.aggregate == 0 { "none".to_owned() } else { self.aggregate.to_string() };
        format!("of {} members of {} on {} {some} {does}, because {because}.", self.members, self.team, self.node)
    }
}
