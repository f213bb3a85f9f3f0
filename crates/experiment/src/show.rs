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

mod gateways;
mod impairments;
mod targets;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nicteam_team::{Config, ConfigOption};

use crate::guests;
use crate::limit::limit;
use crate::resolved::{
    Bounds, Cable, Direction, End, Experiment, GranularityChoice, Host, Run, Switch, Team, Topology, Workload,
};
use crate::units::{show_bytes, show_duration, show_rate};

/// No line is longer, in characters, but for words of the file that have no spaces.
const WIDTH: usize = 100;

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
    draw(&first.topology, &mut out);
    show_hosts(&first.topology, &mut out);
    out.push_str("\nruns\n");
    for run in &experiment.runs {
        show_run(run, &first.topology, &mut out);
    }
    out.push('\n');
    show_conditions(experiment, &mut out);
    out
}

/// The cables between two nodes.
struct Bundle<'t> {
    a: &'t str,
    b: &'t str,
    a_devices: Vec<&'t str>,
    b_devices: Vec<&'t str>,
    rates_bps: Vec<u64>,
    /// Of the ends at `a` and at `b`.
    mtus: BTreeSet<[u32; 2]>,
    impaired: BTreeSet<String>,
}

impl Bundle<'_> {
    /// `══ 4 x 100mbit ══`
    fn wire(&self) -> String {
        let line = if self.rates_bps.len() > 1 { "══" } else { "──" };
        format!("{line} {} {line}", self.label())
    }

    /// `4 x 100mbit mtu 9000`
    fn label(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut rates_bps = self.rates_bps.clone();
        rates_bps.sort_unstable();
        for same in rates_bps.chunk_by(|a, b| a == b) {
            let rate = show_rate(same[0]);
            parts.push(if same.len() > 1 { format!("{} x {rate}", same.len()) } else { rate });
        }
        let mut label = parts.join(" + ");
        if self.mtus.iter().any(|mtus| *mtus != [1500; 2]) {
            let ends = |[a, b]: &[u32; 2]| if a == b { a.to_string() } else { format!("{a} to {b}") };
            let mtus: Vec<_> = self.mtus.iter().map(ends).collect();
            let _ = write!(label, " mtu {}", mtus.join("/"));
        }
        for names in &self.impaired {
            let _ = write!(label, " {names}");
        }
        label
    }
}

/// Cables by the pair of nodes, in the order of the file.
fn bundles(topology: &Topology) -> Vec<Bundle<'_>> {
    let is_host = |node: &str| topology.hosts.iter().any(|host| host.name == node);
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    for cable in &topology.cables {
        // The host first, where there is one.
        let (a, b) =
            if is_host(&cable.a.node) || !is_host(&cable.b.node) { (&cable.a, &cable.b) } else { (&cable.b, &cable.a) };
        let known = bundles.iter().position(|bundle| {
            (bundle.a, bundle.b) == (a.node.as_str(), b.node.as_str())
                || (bundle.b, bundle.a) == (a.node.as_str(), b.node.as_str())
        });
        let place = known.unwrap_or_else(|| {
            bundles.push(Bundle {
                a: &a.node,
                b: &b.node,
                a_devices: Vec::new(),
                b_devices: Vec::new(),
                rates_bps: Vec::new(),
                mtus: BTreeSet::new(),
                impaired: BTreeSet::new(),
            });
            bundles.len() - 1
        });
        let bundle = &mut bundles[place];
        let (a, b) = if bundle.a == a.node { (a, b) } else { (b, a) };
        bundle.a_devices.push(&a.device);
        bundle.b_devices.push(&b.device);
        bundle.rates_bps.push(cable.rate_bps);
        bundle.mtus.insert(if bundle.a == cable.a.node { cable.mtus } else { [cable.mtus[1], cable.mtus[0]] });
        bundle.impaired.extend(cable.impaired.as_ref().map(impairments::label));
    }
    bundles
}

fn draw(topology: &Topology, out: &mut String) {
    let bundles = bundles(topology);
    let is_switch = |node: &str| topology.switches.iter().any(|switch| switch.name == node);
    for switch in &topology.switches {
        let here: Vec<_> = bundles.iter().filter(|bundle| bundle.b == switch.name && !is_switch(bundle.a)).collect();
        draw_switch(&switch.name, &here, topology, out);
    }
    let direct: Vec<_> = bundles.iter().filter(|bundle| !is_switch(bundle.b)).collect();
    for bundle in direct {
        let (left, right) = (host_text(bundle.a, topology), host_text(bundle.b, topology));
        let one_line = format!("{left} {} {right}", bundle.wire());
        if one_line.chars().count() <= WIDTH {
            let _ = writeln!(out, "{one_line}");
        } else {
            let _ = writeln!(out, "{left}\n  {}\n{right}", bundle.wire());
        }
    }
    for bundle in bundles.iter().filter(|bundle| is_switch(bundle.a)) {
        let group = topology.teams.iter().find(|team| team.node == bundle.a && team.device == bundle.b);
        let how = group.map_or("plain port".to_owned(), |team| format!("group {}", spread(team, topology)));
        let _ = writeln!(out, "{} {} {}  {how}", bundle.a, bundle.wire(), bundle.b);
    }
}

/// A box on the right; a line to it from each host.
fn draw_switch(switch: &str, bundles: &[&Bundle<'_>], topology: &Topology, out: &mut String) {
    let names = bundles.iter().map(|bundle| bundle.a.len()).max().unwrap_or(0);
    let port = |bundle: &Bundle<'_>| match topology.teams.iter().find(|t| t.node == switch && t.device == bundle.a) {
        Some(group) => format!("group {:<names$}  {}", bundle.a, spread(group, topology)),
        None => match bundle.b_devices.as_slice() {
            [first, .., last] => format!("{first} .. {last}  plain ports"),
            [one] => format!("{one}  plain port"),
            [] => String::new(),
        },
    };
    let rows: Vec<[String; 3]> =
        bundles.iter().map(|bundle| [host_text(bundle.a, topology), bundle.label(), port(bundle)]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (hosts, labels, ports) = (width(0), width(1), width(2).max(switch.len() + 3));
    // A line of its own for the host where all three do not fit beside each other.
    let narrow = hosts + labels + ports + 12 > WIDTH;
    let indent = if narrow { 4.max((hosts + 1).saturating_sub(labels + 6)) } else { hosts + 1 };
    let left = indent + labels + 6;
    let _ = writeln!(out, "{:left$}┌─ {switch} {}┐", "", "─".repeat(ports - switch.len()));
    for ([host, label, port], bundle) in rows.iter().zip(bundles) {
        let (line, plug) = if bundle.rates_bps.len() > 1 { ("═", "╡") } else { ("─", "┤") };
        let stretch = line.repeat(labels - label.chars().count() + 2);
        let mut before = host.as_str();
        if narrow {
            let _ = writeln!(out, "{host:<left$}│ {:ports$}  │", "");
            before = "";
        }
        let _ = writeln!(out, "{before:<indent$}{line}{line} {label} {stretch}{plug} {port:<ports$}  │");
    }
    let _ = writeln!(out, "{:left$}└{}┘", "", "─".repeat(ports + 3));
}

/// How a switch's group spreads, in the words of the file.
fn spread(group: &Team, topology: &Topology) -> String {
    let switch = topology.switches.iter().find(|switch| switch.name == group.node);
    let word = switch.and_then(|switch| switch.spread.clone());
    word.unwrap_or_else(|| group.config.xmit_hash_policy.to_string())
}

/// `client1  10.3.0.1/24  team0 balance-rr`
fn host_text(name: &str, topology: &Topology) -> String {
    let on_cables = || topology.hosts.iter().filter(|host| host.parent.is_none());
    let names = on_cables().map(|host| host.name.len()).max().unwrap_or(0);
    let addresses = on_cables().map(|host| address(host).len()).max().unwrap_or(0);
    let Some(host) = topology.hosts.iter().find(|host| host.name == name) else { return name.to_owned() };
    let team = topology.teams.iter().find(|team| team.node == name);
    let device = match (team, host.further.as_slice()) {
        (None, [.., last]) if host.forwards => format!("{} to {} gateway", host.device, last.device),
        (Some(team), _) => format!("{} {}", team.device, team.config.mode),
        (None, [.., last]) if host.mptcp => format!("{} to {} multipath TCP", host.device, last.device),
        (None, [.., last]) => format!("{} to {}, an address each", host.device, last.device),
        (None, []) => "eth0".to_owned(),
    };
    let device = match topology.guests_of(name).count() {
        0 => device,
        1 => format!("1 guest behind {device}"),
        guests => format!("{guests} guests behind {device}"),
    };
    format!("{name:<names$}  {:<addresses$}  {device}", address(host))
}

fn address(host: &Host) -> String {
    format!("{}/{}", host.address, host.prefix)
}

fn show_hosts(topology: &Topology, out: &mut String) {
    out.push_str("\nhosts\n");
    let names = topology.hosts.iter().map(|host| host.name.len()).max().unwrap_or(0);
    for host in &topology.hosts {
        let behind = match &host.parent {
            Some(parent) => format!("  {}, guest behind {} of {parent}", address(host), guests::BRIDGE),
            None => String::new(),
        };
        let slow = slow(&host.bounds).map_or_else(String::new, |text| format!("  {text}"));
        let _ = writeln!(out, "  {:<names$}  {}{behind}{slow}", host.name, host.mac);
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
            paragraph(&nodes.join(", "), "  ", out);
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
        let names = impairments.keys().map(|name| name.len()).max().unwrap_or(0);
        for (name, text) in impairments {
            paragraph_after(&format!("  {name:<names$}  "), &text, out);
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

/// `Cisco Catalyst 2960-S: port-channel load-balance src-ip; ...`, of a switch that stands for a maker's.
fn switch_text(switch: &Switch) -> Option<String> {
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

/// Who has the same text, in the order of the first.
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
    let unique = |ends: Vec<&str>| {
        let mut seen = BTreeSet::new();
        ends.into_iter().filter(|end| seen.insert(end.to_string())).collect::<Vec<_>>().join(", ")
    };
    let from = unique(workload.pairs.iter().map(|(from, _)| from.as_str()).collect());
    let to = unique(workload.pairs.iter().map(|(_, to)| to.as_str()).collect());
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
        return format!("{times}{how}: {from} {arrow} {to}");
    }
    format!("{} {kind} {connections}{note}, {how}: {from} {arrow} {to}", workload.connections)
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
    let parts: Vec<String> = [offloads, queue].into_iter().flatten().collect();
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
    changes.extend(by_text(&teams).into_iter().map(|(nodes, text)| format!("{}: {text}", nodes.join(", "))));
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

/// Text broken at spaces, every line indented.
fn paragraph(text: &str, indent: &str, out: &mut String) {
    wrapped(indent, indent, text, out);
}

/// Text broken at spaces beside a label, the following lines indented as far.
fn paragraph_after(label: &str, text: &str, out: &mut String) {
    wrapped(label, &" ".repeat(label.chars().count()), text, out);
}

fn wrapped(first: &str, indent: &str, text: &str, out: &mut String) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_beside_its_label() {
        let mut out = String::new();
        paragraph_after("  label  ", &"word ".repeat(30), &mut out);
        assert!(out.lines().all(|line| line.chars().count() <= WIDTH), "{out}");
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with("         word")), "{out}");
    }
}
