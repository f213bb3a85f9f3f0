//! The drawing: hosts, switches, and the links between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::impairments;
use super::like::Like;
use super::wrapped::WIDTH;
use crate::units::show_rate;
use nicteam_elements::resolved::{Host, Team, Topology};

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

/// By name: which hosts one stands for that is drawn.
type Alike = BTreeMap<String, Like>;

pub(super) fn draw(topology: &Topology, like: &Alike, out: &mut String) {
    let bundles = bundles(topology);
    let is_switch = |node: &str| topology.switches.iter().any(|switch| switch.name == node);
    for switch in &topology.switches {
        let here: Vec<_> = bundles.iter().filter(|bundle| bundle.b == switch.name && !is_switch(bundle.a)).collect();
        draw_switch(&switch.name, &here, (topology, like), out);
    }
    let direct: Vec<_> = bundles.iter().filter(|bundle| !is_switch(bundle.b)).collect();
    for bundle in direct {
        let (left, right) = (host_text(bundle.a, topology, like), host_text(bundle.b, topology, like));
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
fn draw_switch(switch: &str, bundles: &[&Bundle<'_>], (topology, like): (&Topology, &Alike), out: &mut String) {
    let names = bundles.iter().map(|bundle| bundle.a.len()).max().unwrap_or(0);
    let port = |bundle: &Bundle<'_>| match topology.teams.iter().find(|t| t.node == switch && t.device == bundle.a) {
        Some(group) if like.contains_key(bundle.a) => format!("a group each  {}", spread(group, topology)),
        Some(group) => format!("group {:<names$}  {}", bundle.a, spread(group, topology)),
        None if like.contains_key(bundle.a) => format!("{} plain ports each", bundle.b_devices.len()),
        None => match bundle.b_devices.as_slice() {
            [first, .., last] => format!("{first} .. {last}  plain ports"),
            [one] => format!("{one}  plain port"),
            [] => String::new(),
        },
    };
    let rows: Vec<[String; 3]> =
        bundles.iter().map(|bundle| [host_text(bundle.a, topology, like), bundle.label(), port(bundle)]).collect();
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
fn host_text(name: &str, topology: &Topology, like: &Alike) -> String {
    let on_cables = || topology.hosts.iter().filter(|host| host.parent.is_none());
    let shown = |host: &Host| like.get(&host.name).map_or_else(|| host.name.clone(), |like| like.name.clone());
    let place =
        |host: &Host| like.get(&host.name).map_or_else(|| address(host), |like| format!("{} hosts", like.hosts));
    let names = on_cables().map(|host| shown(host).len()).max().unwrap_or(0);
    let addresses = on_cables().map(|host| place(host).len()).max().unwrap_or(0);
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
    format!("{:<names$}  {:<addresses$}  {device}", shown(host), place(host))
}

pub(super) fn address(host: &Host) -> String {
    format!("{}/{}", host.address, host.prefix)
}
