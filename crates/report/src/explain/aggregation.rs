//! Members that LACP keeps out of their team's aggregate, in words.

use nicteam_record::{Port, Run};

use crate::units::list;

/// A sentence for each team of mode 802.3ad some of whose members do not aggregate.
pub(super) fn of_run(run: &Run) -> Vec<String> {
    let mut teams: Vec<(&str, &str)> = run.ports.iter().map(|port| (&*port.host, &*port.team)).collect();
    teams.dedup();
    let words = |(node, team): (&str, &str)| {
        let ports = run.ports.iter().filter(|port| (&*port.host, &*port.team) == (node, team));
        words(&ports.collect::<Vec<_>>())
    };
    teams.into_iter().filter_map(words).collect()
}

/// `of 4 members of team0 on a 1 aggregates, because eth1, eth2 and eth3 do not: partner silent.`
/// Nothing if all members do.
pub(super) fn words(ports: &[&Port]) -> Option<String> {
    let first = ports.first()?;
    let (used, idle): (Vec<&Port>, Vec<&Port>) = ports.iter().copied().partition(|port| port.aggregates);
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for port in &idle {
        let reason = port.why_not.as_deref().unwrap_or("the record gives no reason");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, members)) => members.push(&port.member),
            None => reasons.push((reason, vec![&port.member])),
        }
    }
    let does = match used.len() {
        1 if used[0].partner.is_none() => "carries the traffic alone",
        1 => "aggregates",
        _ => "aggregate",
    };
    let because = reasons.iter().map(|(reason, members)| {
        format!("{} {} not: {reason}", list(members), if members.len() == 1 { "does" } else { "do" })
    });
    let because = because.collect::<Vec<_>>().join("; ");
    let (all, some) = (ports.len(), if used.is_empty() { "none".to_owned() } else { used.len().to_string() });
    (!idle.is_empty())
        .then(|| format!("of {all} members of {} on {} {some} {does}, because {because}.", first.team, first.host))
}
