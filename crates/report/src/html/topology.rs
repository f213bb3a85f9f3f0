//! The topology, drawn: switches above, hosts below, a line a cable; guests below their host.

mod guests;
mod merged;
mod places;

use maud::{Markup, html};
use nicteam_findings::units::{link_rate, percent, share};
use nicteam_findings::view::link_at;
use nicteam_findings::{Team, TeamMode};
use nicteam_record::{Connection, Impairments, Link, LinkEnd, Member, Record, Run, Topology};

use super::document;
use crate::like;
use crate::svg::{hue, px};
use merged::Merged;
use places::{Place, arrange, tag};

/// A drawing for each topology that differs in more than addresses and engines.
pub(super) fn section(record: &Record) -> Markup {
    let mut drawings: Vec<(Topology, Vec<&Run>)> = Vec::new();
    for run in &record.runs {
        let shape = as_drawn(&run.topology);
        match drawings.iter_mut().find(|(seen, _)| *seen == shape) {
            Some((_, runs)) => runs.push(run),
            None => drawings.push((shape, vec![run])),
        }
    }
    let several = drawings.len() > 1;
    let body = html! {
        @for (_, runs) in &drawings {
            @let topology = &runs[0].topology;
            @let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
            @let connections: Vec<&Connection> = runs.iter().flat_map(|run| &run.connections).collect();
            figure.map {
                div.scroll { (draw(&Merged::of(topology, like::groups(topology, &connections)), &[])) }
                @if several { figcaption.quiet { (names.join(", ")) } }
            }
        }
    };
    document::section("topology", "What was built", &body)
}

/// The topology of a run with what its cables carry: of like hosts what the first one's do.
pub fn loaded(run: &Run) -> Markup {
    let connections: Vec<&Connection> = run.connections.iter().collect();
    let merged = Merged::of(&run.topology, like::groups(&run.topology, &connections));
    html! { figure.map { div.scroll { (draw(&merged, &run.members)) } } }
}

/// What of a topology its drawing shows: no MAC addresses, and not who runs a team by which programs and offloads.
fn as_drawn(topology: &Topology) -> Topology {
    let mut shape = topology.clone();
    shape.hosts.iter_mut().for_each(|host| host.mac.clear());
    for team in &mut shape.teams {
        team.options.clear();
        for by in [&mut team.engine, &mut team.dataplane, &mut team.engine_version] {
            by.clear();
        }
        team.offloads.clear();
    }
    shape
}

/// The cables between two nodes.
struct Bundle<'a> {
    a: &'a str,
    b: &'a str,
    rates_bps: Vec<u64>,
    /// What each is declared to do to frames, in words; empty for a plain cable.
    impaired: Vec<String>,
    /// Colour places: of the host's end, where there is one.
    hues: Vec<usize>,
    /// What each carries from `a` to `b` and back, as a part of its rate; none: that is not drawn.
    loads: Vec<[Option<f64>; 2]>,
}

const CABLE: f64 = 8.0;
/// How thick a cable is drawn that carries nothing.
const THIN: f64 = 1.0;
/// How far below a row its long cables run.
const BOW: f64 = 34.0;

fn draw(merged: &Merged<'_>, members: &[Member]) -> Markup {
    let topology = &merged.topology;
    let places = arrange(topology);
    let bundles = bundles(topology, members);
    let width = places.iter().map(|place| place.x + place.width).fold(0.0, f64::max) + 2.0;
    // Cables that run below their row stay inside.
    let below = bundles.iter().map(|bundle| bundle.hues.len() as f64 * CABLE + BOW).fold(0.0, f64::max);
    let row = topology.hosts.iter().filter(|host| host.parent.is_none()).count();
    let hosts = merged.hosts();
    let below = if topology.switches.is_empty() && row > 2 { below } else { 2.0 };
    let below = below.max(guests::height(topology));
    let height = places.iter().map(|place| place.y + place.height).fold(0.0, f64::max) + below;
    let (w, h) = (px(width), px(height));
    let label = format!("{hosts} hosts, {} switches", topology.switches.len());
    html! {
        svg width=(w) height=(h) viewBox={ "0 0 " (w) " " (h) } style={ "min-width:" (px(width.min(700.0))) "px" }
            role="img" aria-label=(label) {
            @for bundle in &bundles { (cables(topology, &places, &bundles, bundle)) }
            @for place in &places { (node(merged, place)) (guests::draw(topology, place)) }
        }
    }
}

fn bundles<'a>(topology: &'a Topology, members: &[Member]) -> Vec<Bundle<'a>> {
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    for link in &topology.links {
        let place = |end: &nicteam_record::LinkEnd| {
            let is_host = topology.hosts.iter().any(|host| host.name == end.node);
            topology
                .teams
                .iter()
                .filter(|team| is_host && team.node == end.node)
                .find_map(|team| team.members.iter().position(|device| *device == end.device))
        };
        let (a, b) = (link.a.node.as_str(), link.b.node.as_str());
        let same = |bundle: &&mut Bundle<'_>| (bundle.a, bundle.b) == (a, b) || (bundle.a, bundle.b) == (b, a);
        let hue = place(&link.a).or_else(|| place(&link.b));
        let [there, back] = loads(members, link);
        match bundles.iter_mut().find(same) {
            Some(bundle) => {
                bundle.loads.push(if bundle.a == a { [there, back] } else { [back, there] });
                bundle.hues.push(hue.unwrap_or(bundle.hues.len()));
                bundle.rates_bps.push(link.rate_bps);
                bundle.impaired.push(impaired(link));
            }
            None => bundles.push(Bundle {
                a,
                b,
                rates_bps: vec![link.rate_bps],
                impaired: vec![impaired(link)],
                hues: vec![hue.unwrap_or(0)],
                loads: vec![[there, back]],
            }),
        }
    }
    bundles
}

/// What a link carries from its end `a` to `b` and back, as the members at either end have counted it.
fn loads(members: &[Member], link: &Link) -> [Option<f64>; 2] {
    let at = |end: &LinkEnd| members.iter().find(|of| (&of.host, &of.member) == (&end.node, &end.device));
    let way = |from: &LinkEnd, to: &LinkEnd| {
        let bps = at(from).map(|member| member.tx_bps).or_else(|| at(to).map(|member| member.rx_bps))?;
        Some(share(bps, link.rate_bps as f64).clamp(0.0, 1.0))
    };
    [way(&link.a, &link.b), way(&link.b, &link.a)]
}

/// A bundle's lines and its label.
fn cables(topology: &Topology, places: &[Place<'_>], bundles: &[Bundle<'_>], bundle: &Bundle<'_>) -> Markup {
    let find = |name: &str| places.iter().find(|place| place.name == name);
    let (Some(a), Some(b)) = (find(bundle.a), find(bundle.b)) else { return Markup::default() };
    let label = label(&bundle.rates_bps);
    if a.y == b.y {
        let (left, right) = if a.x <= b.x { (a, b) } else { (b, a) };
        return level(places, left, right, bundle, &label);
    }
    let (upper, lower) = if a.y < b.y { (a, b) } else { (b, a) };
    let (from, to) = (lower.y, upper.y + upper.height);
    let x = anchor(lower, bundles, bundle);
    let end = x.clamp(upper.x + 24.0, (upper.x + upper.width - 24.0).max(upper.x + 24.0));
    let lines = bundle.lines(&|offset| format!("M{} {}L{} {}", px(x + offset), px(from), px(end + offset), px(to)));
    let spread = tag(end, to + 26.0, &spread_label(topology, upper, lower));
    let middle = ((x + end) / 2.0, (from + to) / 2.0 + 4.0);
    let carried = tag(middle.0, middle.1 - 16.0, &bundle.carried(lower.name, ["↑", "↓"]));
    html! { (lines) (spread) (tag(middle.0, middle.1, &label)) (carried) (bundle.faults(middle.0, middle.1)) }
}

/// Cables between two nodes of a row; below the row if others stand between them.
fn level(places: &[Place<'_>], left: &Place<'_>, right: &Place<'_>, bundle: &Bundle<'_>, label: &str) -> Markup {
    if !beside(places, left, right) {
        let (from, to) = (left.x + left.width / 2.0, right.x + right.width / 2.0);
        let bottom = left.y + left.height;
        let lines = bundle.lines(&|offset| {
            let y = px(bottom + BOW + offset);
            format!("M{} {bottom}V{y}H{}V{bottom}", px(from - offset), px(to + offset), bottom = px(bottom))
        });
        let (x, y) = ((from + to) / 2.0, bottom + BOW + 4.0);
        let carried = tag(x, y - 16.0, &bundle.carried(left.name, ["→", "←"]));
        return html! { (lines) (tag(x, y, label)) (carried) (bundle.faults(x, y)) };
    }
    let (from, to) = (left.x + left.width, right.x);
    let middle = left.y + left.height / 2.0;
    let lines = bundle.lines(&|offset| format!("M{} {}H{}", px(from), px(middle + offset), px(to)));
    let half = bundle.hues.len() as f64 * CABLE / 2.0;
    let x = (from + to) / 2.0;
    let carried = tag(x, middle - half - 24.0, &bundle.carried(left.name, ["→", "←"]));
    html! { (lines) (tag(x, middle - half - 8.0, label)) (carried) (bundle.faults(x, middle + half)) }
}

/// Whether nothing stands between two nodes of a row.
fn beside(places: &[Place<'_>], left: &Place<'_>, right: &Place<'_>) -> bool {
    !places.iter().any(|place| place.y == left.y && place.x > left.x && place.x < right.x)
}

impl Bundle<'_> {
    /// A line a cable; `line` draws one that runs beside the middle.
    fn lines(&self, line: &dyn Fn(f64) -> String) -> Markup {
        let middle = (self.hues.len() as f64 - 1.0) / 2.0;
        let is_faulty = |index: usize| self.impaired.get(index).is_some_and(|words| !words.is_empty());
        html! {
            @for (index, place) in self.hues.iter().enumerate() {
                path class={ "wire " (hue(*place)) } stroke-dasharray=[is_faulty(index).then_some("7 4")] style=[self.width(index)]
                    d=(line((index as f64 - middle) * CABLE)) {}
            }
        }
    }

    /// How thick a cable is drawn that carries so much; as any other one where that is not known.
    fn width(&self, index: usize) -> Option<String> {
        let [there, back] = *self.loads.get(index)?;
        let most = there.into_iter().chain(back).reduce(f64::max)?;
        Some(format!("stroke-width:{}px", px(THIN + most * (CABLE - 1.0 - THIN))))
    }

    /// The mean load of the cables from a node to the other one and back: `↑ 97 % ↓ 2 %`; nothing where it is not known.
    fn carried(&self, from: &str, arrows: [&str; 2]) -> String {
        let mean = |way: usize| {
            let known: Vec<f64> = self.loads.iter().filter_map(|load| load[way]).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let ways = if self.a == from { [0, 1] } else { [1, 0] };
        let said = arrows.iter().zip(ways).filter_map(|(arrow, way)| Some(format!("{arrow} {}", percent(mean(way)?))));
        said.collect::<Vec<_>>().join(" ")
    }

    /// What the cables are declared to do to frames, a line each kind, below a point.
    fn faults(&self, x: f64, y: f64) -> Markup {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for words in self.impaired.iter().filter(|words| !words.is_empty()) {
            match kinds.iter_mut().find(|(known, _)| known == words) {
                Some((_, count)) => *count += 1,
                None => kinds.push((words, 1)),
            }
        }
        let all = self.impaired.len();
        html! {
            @for (number, (words, count)) in kinds.iter().enumerate() {
                @let which = if *count == all { String::new() } else { format!("{count} of {all}: ") };
                (tag(x, y + 16.0 * (number as f64 + 1.0), &format!("{which}{words}")))
            }
        }
    }
}

/// What a link is declared to do to frames; empty for a plain cable.
fn impaired(link: &Link) -> String {
    let Some(impaired) = &link.impaired else { return String::new() };
    let (there, back) = (words(&impaired.a_to_b), words(&impaired.b_to_a));
    match (there == back, &link.a.node, &link.b.node) {
        (true, ..) => there,
        (false, a, b) => format!("{a} → {b}: {there}; {b} → {a}: {back}"),
    }
}

/// What is done to the frames of one direction: `5 ms ± 0.5 ms, 0.1 % lost`.
fn words(impairments: &Impairments) -> String {
    let delay = match (impairments.delay_ms, impairments.jitter_ms) {
        (0.0, 0.0) => String::new(),
        (delay, 0.0) => format!("{delay} ms"),
        (delay, jitter) => format!("{delay} ms ± {jitter} ms"),
    };
    let part = |share: f64, what: &str| if share > 0.0 { format!("{} {what}", percent(share)) } else { String::new() };
    let lost = if impairments.gemodel.is_some() { "lost, in bursts" } else { "lost" };
    let all = [
        delay,
        part(impairments.loss, lost),
        part(impairments.duplicate, "doubled"),
        part(impairments.reorder, "not delayed"),
    ];
    let said: Vec<String> = all.into_iter().filter(|words| !words.is_empty()).collect();
    if said.is_empty() { "nothing done to frames".to_owned() } else { said.join(", ") }
}

/// Where a host's bundle meets its upper edge: several stand apart.
fn anchor(host: &Place<'_>, bundles: &[Bundle<'_>], bundle: &Bundle<'_>) -> f64 {
    let own: Vec<&Bundle<'_>> = bundles.iter().filter(|other| other.a == host.name || other.b == host.name).collect();
    let index = own.iter().position(|other| std::ptr::eq(*other, bundle)).unwrap_or(0) as f64;
    host.x + host.width * (index + 1.0) / (own.len() as f64 + 1.0)
}

/// `4 × 100 Mbit/s`, or the rates one by one.
fn label(rates_bps: &[u64]) -> String {
    match rates_bps {
        [] => String::new(),
        [one] => link_rate(*one),
        [first, rest @ ..] if rest.iter().all(|rate| rate == first) => {
            format!("{} × {}", rates_bps.len(), link_rate(*first))
        }
        all => {
            let alike = all.chunk_by(|one, other| one == other).map(|alike| match alike {
                [one] => link_rate(*one),
                [one, ..] => format!("{} × {}", alike.len(), link_rate(*one)),
                [] => String::new(),
            });
            alike.collect::<Vec<_>>().join(" + ")
        }
    }
}

/// How a switch spreads towards a node, if not all its groups do alike (then its box says it).
fn spread_label(topology: &Topology, switch: &Place<'_>, host: &Place<'_>) -> String {
    if common_spread(topology, switch.name).is_some() {
        return String::new();
    }
    groups(topology, switch.name)
        .find(|team| leads_to(topology, team, host.name))
        .map_or_else(String::new, |team| how(&team))
}

/// How all groups of a switch spread, if they are alike.
fn common_spread(topology: &Topology, switch: &str) -> Option<String> {
    let mut all = groups(topology, switch).map(|team| how(&team));
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

fn groups<'a>(topology: &'a Topology, node: &'a str) -> impl Iterator<Item = Team<'a>> {
    topology.teams.iter().map(Team::read).filter(move |team| team.node == node)
}

fn leads_to(topology: &Topology, team: &Team<'_>, peer: &str) -> bool {
    team.members.iter().any(|device| link_at(topology, team.node, device).is_some_and(|(_, far)| far.node == peer))
}

/// The hash policy, or the mode where none is.
fn how(team: &Team<'_>) -> String {
    if team.hashes() { team.policy_name } else { team.mode_name }.to_owned()
}

/// A node's box and what stands in it.
fn node(merged: &Merged<'_>, place: &Place<'_>) -> Markup {
    let topology = &merged.topology;
    let (class, lines): (&str, Vec<String>) = if place.is_switch {
        let spread = match (groups(topology, place.name).count(), common_spread(topology, place.name)) {
            (0, _) => "switch, no aggregation".to_owned(),
            (_, Some(how)) => format!("switch, spreads by {how}"),
            (_, None) => "switch, spreads each group by its own policy".to_owned(),
        };
        let switch = topology.switches.iter().find(|switch| switch.name == place.name);
        let title = switch.and_then(|switch| switch.model.as_ref()).map(|model| model.title.clone());
        ("switch", title.into_iter().chain([spread]).collect())
    } else {
        let team = groups(topology, place.name).next();
        let host = topology.hosts.iter().find(|host| host.name == place.name);
        let forwards = host.is_some_and(|host| host.forwards);
        let how = team.map_or_else(
            || if forwards { "gateway" } else { "one link, no team" }.to_owned(),
            |team| match team.policy_name {
                "" if team.mode == TeamMode::MultipathTcp => format!("{} links, multipath TCP", team.members.len()),
                "" if team.mode == TeamMode::Multipath => format!("{} links, an address each", team.members.len()),
                "" => team.mode_name.to_owned(),
                policy => format!("{}, {policy}", team.mode_name),
            },
        );
        ("box", vec![how, merged.last_line(place.name)])
    };
    let x = px(place.x + place.width / 2.0);
    let first = place.y + place.height / 2.0 - 4.0 - 10.0 * (lines.len() as f64 - 1.0);
    html! {
        g {
            rect class=(class) x=(px(place.x)) y=(px(place.y)) width=(px(place.width)) height=(px(place.height)) rx="5" {}
            text.name x=(x) y=(px(first)) text-anchor="middle" { (merged.name(place.name)) }
            @for (index, line) in lines.iter().enumerate() {
                text x=(x) y=(px(first + 19.0 + 17.0 * index as f64)) text-anchor="middle" { (line) }
            }
        }
    }
}
