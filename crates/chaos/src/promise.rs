//! How long a fault may keep a team from carrying anything, by mode. docs/chaos.md has this as a table.

use nicteam_record::{Fault, Team, Topology};

/// What a busy machine, and addresses that are asked for again, may add, milliseconds.
const MARGIN_MS: f64 = 1000.0;
/// From when a node is back until a team carries again: ARP, and no more, milliseconds.
const BACK_MS: f64 = 1500.0;
/// The same for a team that has to agree by LACP: it listens for 3 s, and waits for 2 s.
const BACK_LACP_MS: f64 = 6000.0;
/// A team finds its filters gone, and puts them back, milliseconds.
const REPAIR_MS: f64 = 1000.0;
/// Stripe misses its probes, milliseconds.
const STRIPE_MS: f64 = 1000.0;

/// The longest time for which nothing may arrive after this fault began, milliseconds. Several teams have the longest of theirs.
/// None: the fault is not of a team with a promise (another program's, or none at all).
pub fn promised_ms(fault: &Fault, topology: &Topology) -> Option<f64> {
    let is_host = |team: &&Team| topology.hosts.iter().any(|host| host.name == team.node);
    let teams: Vec<&Team> = topology.teams.iter().filter(is_host).collect();
    if teams.is_empty() || teams.iter().any(|team| !matches!(team.engine.as_str(), "" | "nicteam")) {
        return None;
    }
    let lasts_ms = fault.over_ms.unwrap_or(fault.until_ms) - fault.t_ms;
    teams.iter().map(|team| of_team(fault, lasts_ms, team)).reduce(f64::max)
}

/// For how long after a fault the teams of hosts may be agreeing anew by LACP, milliseconds.
pub(crate) fn agrees_again_ms(topology: &Topology) -> f64 {
    if topology.teams.iter().any(speaks_lacp) { BACK_LACP_MS } else { 0.0 }
}

/// An option of a team that is a number; 0 if it has none.
pub(crate) fn number(team: &Team, name: &str) -> f64 {
    team.options.get(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

fn of_team(fault: &Fault, lasts_ms: f64, team: &Team) -> f64 {
    let is_bpf = team.dataplane == "bpf";
    // Until the fault is over, and the team carries again.
    let whole_ms = lasts_ms + if speaks_lacp(team) { BACK_LACP_MS } else { BACK_MS };
    match fault.kind.as_str() {
        // The cable is no member: nobody has another one.
        "cable" | "silence" if fault.team.is_none() => whole_ms,
        // A carrier is seen at once, or at the next look.
        "cable" => number(team, "miimon") + number(team, "downdelay") + MARGIN_MS,
        "silence" => detects_ms(team).map_or(whole_ms, |ms| (ms + MARGIN_MS).min(whole_ms)),
        // The programs forward without the process; packet sockets do not.
        "stop" | "kill" | "busy" if is_bpf => detects_ms(team).map_or(MARGIN_MS, |_| whole_ms),
        "filters" => REPAIR_MS + MARGIN_MS,
        _ => whole_ms,
    }
}

/// After how long a team knows that a link is silent, milliseconds; none: it does not look.
fn detects_ms(team: &Team) -> Option<f64> {
    if team.mode == "stripe" {
        return Some(STRIPE_MS);
    }
    if speaks_lacp(team) {
        // Three LACPDUs are missed, and then three short timeouts pass until the other end, which may hear all, is told that the
        // link is out of step.
        let is_fast = team.options.get("lacp_rate").is_some_and(|rate| matches!(rate.as_str(), "fast" | "1"));
        return Some(if is_fast { 6000.0 } else { 93_000.0 });
    }
    let interval_ms = number(team, "arp_interval");
    (interval_ms > 0.0).then(|| interval_ms * (number(team, "arp_missed_max").max(1.0) + 1.0))
}

fn speaks_lacp(team: &Team) -> bool {
    team.mode == "802.3ad" || team.options.get("lacp").is_some_and(|lacp| lacp != "off")
}
