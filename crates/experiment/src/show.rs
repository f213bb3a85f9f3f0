//! An experiment drawn in text, for `nicteam lab show`.
//!
//! Hosts stand on the left, switches as boxes on the right, a bundle of cables is
//! one line between them:
//!
//! ```text
//!                                                   ┌─ sw ──────────────────┐
//! a  10.3.0.1/24  team0 balance-rr ══ 4 x 100mbit ══╡ group a  src-dst-mac  │
//!                                                   └───────────────────────┘
//! ```

mod drawing;
mod gateways;
mod impairments;
mod like;
mod targets;
mod wrapped;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nicteam_team::{Config, ConfigOption};

use crate::guests;
use crate::limit::{MOST_NAMED, limit};
use crate::units::{show_bytes, show_duration, show_rate};
use drawing::{address, draw};
use nicteam_elements::resolved::{
    Bounds, Cable, Direction, End, Experiment, GranularityChoice, Run, Switch, Team, Topology, Workload,
};
use wrapped::{paragraph, paragraph_after};

/// Draws an experiment: its topology, teams, runs and their limits.
///
/// The topology is the first run's; what other runs change stands with them.
pub fn show(experiment: &Experiment) -> String {
    let mut out = String::new();
    paragraph(&format!("{}: {}", experiment.name, experiment.title), "", &mut out);
    if let Some(question) = &experiment.question {
        paragraph(question, "", &mut out);
    }
    let Some(first) = experiment.runs.first() else { return out };
    out.push('\n');
    let (merged, like) = like::merged(&first.topology, &experiment.runs);
    draw(&merged, &like, &mut out);
    show_hosts(&first.topology, &mut out);
    out.push_str("\nruns\n");
    for run in &experiment.runs {
        show_run(run, &first.topology, &mut out);
    }
    out.push('\n');
    show_conditions(experiment, &mut out);
    out
}

fn show_hosts(topology: &Topology, out: &mut String) {
    out.push_str("\nhosts\n");
    let width = topology.hosts.iter().map(|host| host.name.len()).max().unwrap_or(0);
    for host in &topology.hosts {
        let behind = match &host.parent {
            Some(parent) => format!("  {}, guest behind {} of {parent}", address(host), guests::BRIDGE),
            None => String::new(),
        };
        let slow = slow(&host.bounds).map_or_else(String::new, |text| format!("  {text}"));
        let _ = writeln!(out, "  {:<width$}  {}{behind}{slow}", host.name, host.mac);
    }
    let cards: Vec<String> = topology.cables.iter().filter_map(card).collect();
    if !cards.is_empty() {
        out.push_str("\ncards\n");
        cards.iter().for_each(|text| paragraph(text, "  ", out));
    }
    let gateways = gateways::texts(topology);
    if !gateways.is_empty() {
        out.push_str("\ngateways\n");
        gateways.iter().for_each(|text| paragraph(text, "  ", out));
    }
    let teams: Vec<_> = topology.teams.iter().map(|team| (team.node.as_str(), team_text(team, topology))).collect();
    if !teams.is_empty() {
        out.push_str("\nteams\n");
        for (nodes, text) in by_text(&teams) {
            paragraph(&like::named(&nodes), "  ", out);
            paragraph(text, "      ", out);
        }
    }
    show_switches(topology, out);
    if !topology.targets.is_empty() {
        out.push_str("\ntargets\n");
        for target in &topology.targets {
            paragraph(&targets::text(target), "  ", out);
        }
    }
    let impairments = impairments::texts(topology);
    if !impairments.is_empty() {
        out.push_str("\nimpairments\n");
        let width = impairments.keys().map(|name| name.len()).max().unwrap_or(0);
        for (name, text) in impairments {
            paragraph_after(&format!("  {name:<width$}  "), &text, out);
        }
    }
}

/// The makers' switches.
fn show_switches(topology: &Topology, out: &mut String) {
    let texts: Vec<_> =
        topology.switches.iter().filter_map(|switch| Some((switch.name.as_str(), switch_text(switch)?))).collect();
    if texts.is_empty() {
        return;
    }
    out.push_str("\nswitches\n");
    for (names, text) in by_text(&texts) {
        paragraph(&names.join(", "), "  ", out);
        paragraph(text, "      ", out);
    }
}

/// `Cisco Catalyst 2960-S: port-channel load-balance src-ip; ...`, of a switch that stands for a maker's or is one.
fn switch_text(switch: &Switch) -> Option<String> {
    if switch.unknown {
        return Some("a real switch; how it chooses links is unknown.".to_owned());
    }
    let model = switch.model?;
    let mut text = model.title.to_owned();
    if let Some(spread) = &switch.spread {
        let command = if model.command.is_empty() { "spreads by" } else { model.command };
        let _ = write!(text, ": {command} {spread}");
        let values = match model.hash_buckets {
            0 => "as many values of the hash as links".to_owned(),
            buckets => format!("{buckets} values of the hash, assigned to the links in turn"),
        };
        let _ = write!(text, "; {values}, at most {} links a group. Assumed: {}.", model.most_links, model.assumed);
    }
    if let Some(pagp) = switch.pagp {
        let ports = switch.pagp_ports.len();
        let _ = write!(text, " channel-group mode {}: {ports} ports speak PAgP and stay plain ones.", pagp.name());
    }
    Some(text)
}

/// The owners of each text, in the order of the first owner.
fn by_text<'t>(texts: &'t [(&'t str, String)]) -> Vec<(Vec<&'t str>, &'t str)> {
    let mut grouped: Vec<(Vec<&str>, &str)> = Vec::new();
    for (node, text) in texts {
        match grouped.iter_mut().find(|(_, known)| known == text) {
            Some((nodes, _)) if nodes.contains(node) => {}
            Some((nodes, _)) => nodes.push(node),
            None => grouped.push((vec![node], text)),
        }
    }
    grouped
}

/// A host's `team0 of eth0 .. eth3: mode balance-rr, miimon 100`; of a switch's group what all its groups share.
fn team_text(team: &Team, topology: &Topology) -> String {
    if topology.switches.iter().any(|switch| switch.name == team.node) {
        return format!("link aggregation groups: {}", config_text(&team.config));
    }
    let members = match team.members.as_slice() {
        [first, .., last] => format!("{first} .. {last}"),
        [one] => one.clone(),
        [] => "nothing".to_owned(),
    };
    format!("{} of {members}: {}", team.device, config_text(&team.config))
}

/// The mode, and every option that is not at its default.
fn config_text(config: &Config) -> String {
    let defaults = Config { mode: config.mode, ..Config::default() }.options();
    let mut said = Vec::new();
    for (name, value) in config.options_and_wish() {
        let hashes = config.mode.hashes() && name == "xmit_hash_policy";
        if ConfigOption::named(name).is_some_and(ConfigOption::is_secret) {
            continue;
        }
        if name == "mode" || name == "miimon" || hashes || !defaults.contains(&(name, value.clone())) {
            said.push(format!("{name} {value}"));
        }
    }
    said.join(", ")
}

fn show_run(run: &Run, base: &Topology, out: &mut String) {
    let _ = writeln!(out, "  {}", run.name);
    if let Some(description) = &run.description {
        paragraph(description, "      ", out);
    }
    for workload in &run.workloads {
        paragraph_after("      traffic    ", &traffic_text(workload), out);
    }
    for change in changes(&run.topology, base) {
        paragraph_after("      changed    ", &change, out);
    }
    if run.measures_latency_alone() {
        paragraph_after(
            "      links      ",
            "let two frames go at once, so that a packet takes as long as on the wire",
            out,
        );
    }
    for timed in &run.events {
        let text = format!("after {}: {}", show_duration(timed.at), timed.event.words());
        paragraph_after("      event      ", &text, out);
    }
    let limit = limit(run);
    let limit_bps = limit.bps.round().max(0.0) as u64;
    // More digits than a measurement has are of no use here.
    let step = if limit_bps >= 1_000_000_000 { 10_000_000 } else { 100_000 };
    let rounded = show_rate((limit_bps + step / 2) / step * step);
    paragraph_after("      limit      ", &format!("{rounded} of payload: {}", limit.reason), out);
    if let Some(published) = &run.published {
        let part = run.published_of_limit.map_or(String::new(), |part| format!(" ({part} of its limit)"));
        paragraph_after("      published  ", &format!("{published}{part}"), out);
    }
}

fn traffic_text(workload: &Workload) -> String {
    let (arrow, note) = match workload.direction {
        Direction::Send => ("->", ""),
        Direction::Receive => ("<-", ""),
        Direction::Both => ("<->", " each way"),
    };
    let connections = if workload.connections == 1 { "connection" } else { "connections" };
    let (kind, how) = workload.task.words();
    // What opens connections of its own says in its words what they are.
    if workload.task.finds_connections() {
        let arrow = match workload.task.shares() {
            Some([there, _]) if there <= 0.0 => "<-",
            Some([_, back]) if back > 0.0 => "<->",
            _ => arrow,
        };
        let many = workload.connections as usize > workload.pairs.len();
        let times = if many { format!("{} times ", workload.connections) } else { String::new() };
        return format!("{times}{how}: {}", pairs_text(workload, arrow));
    }
    format!("{} {kind} {connections}{note}, {how}: {}", workload.connections, pairs_text(workload, arrow))
}

/// More pairs are not named one by one.
const MOST_PAIRS: usize = 8;

/// Who connects to whom: the hosts on either side if each connects to each other one, else every pair.
fn pairs_text(workload: &Workload, arrow: &str) -> String {
    fn unique<'a>(ends: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        ends.filter(|end| seen.insert(*end)).collect()
    }
    let from = unique(workload.pairs.iter().map(|(from, _)| from.as_str()));
    let mut to = unique(workload.pairs.iter().map(|(_, to)| to.as_str()));
    if to.len() > MOST_NAMED {
        // The first host does not connect to itself and comes last; ranges need the order of those that connect.
        to.sort_by_key(|host| from.iter().position(|other| other == host));
    }
    let in_both = from.iter().filter(|host| to.contains(host)).count();
    if workload.pairs.len() == from.len() * to.len() - in_both {
        return format!("{} {arrow} {}", like::named(&from), like::named(&to));
    }
    let pairs: Vec<String> = workload.pairs.iter().map(|(from, to)| format!("{from} {arrow} {to}")).collect();
    if pairs.len() <= MOST_PAIRS {
        return pairs.join(", ");
    }
    format!("{} and {} more", pairs[..MOST_PAIRS].join(", "), pairs.len() - MOST_PAIRS)
}

/// What makes a host slow, in words; nothing if nothing does.
fn slow(bounds: &Bounds) -> Option<String> {
    let Bounds { processor_bps, receive_window_bytes, receive_queues } = *bounds;
    let parts = [
        processor_bps.map(|bps| format!("processor {}", show_rate(bps))),
        receive_window_bytes.map(|bytes| format!("receive window {}", show_bytes(bytes.into()))),
        receive_queues.map(|queues| format!("{queues} receive queue{}", if queues == 1 { "" } else { "s" })),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The cards at the ends of a cable, if they are cheap ones.
fn card(cable: &Cable) -> Option<String> {
    let offloads = cable.without_offloads.then(|| "no offloads".to_owned());
    let queue = cable.queue_bytes.map(|bytes| format!("a queue of {}", show_bytes(bytes.into())));
    let burst = cable.burst_bytes.map(|bytes| format!("a burst of {}", show_bytes(bytes.into())));
    let parts: Vec<String> = [offloads, queue, burst].into_iter().flatten().collect();
    let end = |end: &End| format!("{} of {}", end.device, end.node);
    (!parts.is_empty()).then(|| format!("{} and {}: {}", end(&cable.a), end(&cable.b), parts.join(", ")))
}

/// What a run builds otherwise than the first.
fn changes(topology: &Topology, base: &Topology) -> Vec<String> {
    let mut changes = Vec::new();
    // Another way to spread shows on the groups.
    let kind = |switch: &Switch| (switch.model, switch.pagp, switch.spread.is_some());
    for host in &topology.hosts {
        let number = |topology: &Topology| topology.guests_of(&host.name).count();
        let (now, then) = (number(topology), number(base));
        if now != then {
            let guests = if now == 1 { "guest" } else { "guests" };
            changes.push(format!("{} has {now} {guests}", host.name));
        }
        let Some(before) = base.hosts.iter().find(|before| before.name == host.name) else { continue };
        if host.bounds != before.bounds {
            let now = slow(&host.bounds).unwrap_or_else(|| "not slow".to_owned());
            changes.push(format!("{}: {now}", host.name));
        }
        if host.mac != before.mac {
            changes.push(format!("{} has MAC address {}", host.name, host.mac));
        }
        if (host.address, host.prefix) != (before.address, before.prefix) {
            changes.push(format!("{} has address {}", host.name, address(host)));
        }
    }
    let same_team = |team: &Team, other: &Team| (&team.node, &team.device) == (&other.node, &other.device);
    let is_changed = |team: &&Team| {
        let before = base.teams.iter().find(|before| same_team(before, team));
        before.is_none_or(|before| before.config != team.config)
    };
    let teams: Vec<_> =
        topology.teams.iter().filter(is_changed).map(|t| (t.node.as_str(), team_text(t, topology))).collect();
    changes.extend(by_text(&teams).into_iter().map(|(nodes, text)| format!("{}: {text}", like::named(&nodes))));
    for (switch, before) in
        topology.switches.iter().zip(&base.switches).filter(|(now, before)| kind(now) != kind(before))
    {
        changes.extend(switch_text(switch).map(|text| format!("{}: {text}", before.name)));
    }
    for gone in base.teams.iter().filter(|before| !topology.teams.iter().any(|team| same_team(before, team))) {
        let is_group = topology.switches.iter().any(|switch| switch.name == gone.node);
        let what = if is_group { format!("plain ports to {}", gone.peer) } else { format!("no {}", gone.device) };
        changes.push(format!("{}: {what}", gone.node));
    }
    let before = impairments::texts(base);
    let impairments = impairments::texts(topology).into_iter();
    let changed = impairments.filter(|(name, text)| before.get(name) != Some(text));
    changes.extend(changed.map(|(name, text)| format!("{name}: {text}")));
    changes.extend(targets::changes(topology, base));
    changes
}

fn show_conditions(experiment: &Experiment, out: &mut String) {
    let granularity = match experiment.granularity {
        GranularityChoice::Auto => "MTU-sized packets if this machine can carry them, else the smallest GSO frames",
        GranularityChoice::Packets => "MTU-sized packets",
        GranularityChoice::SuperFrames => "GSO frames",
    };
    let mut times: Vec<(String, String)> = Vec::new();
    for run in &experiment.runs {
        let time = (show_duration(run.duration), show_duration(run.warmup));
        if !times.contains(&time) {
            times.push(time);
        }
    }
    let times: Vec<_> =
        times.iter().map(|(duration, warmup)| format!("{duration} after {warmup} of warm-up")).collect();
    let mut line = format!(
        "each run is measured for {}; a sample every {}; {granularity}; seed {}",
        times.join(", or "),
        show_duration(experiment.interval),
        experiment.seed
    );
    if !experiment.overrides.is_empty() {
        let _ = write!(line, "; other than in the file: {}", experiment.overrides.join(", "));
    }
    paragraph(&line, "", out);
}
