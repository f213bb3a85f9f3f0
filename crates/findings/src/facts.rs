//! What else a reader should know about a run.

use nicteam_record::{Connection, EventKind, Member, Relayed, Run, Switch};

use super::hop::Hop;
use super::path::Picture;
use super::{moves, mtu, notes, one_sided};
use crate::team::Team;
use crate::units::{hosts, list, percent, ratio, share, thousands};
use crate::view;

/// From this part on, segments sent again are worth a sentence.
pub(super) const RETRANSMITS_NOTABLE: f64 = 0.01;

/// The part of the segments that was sent again.
pub(super) fn retransmit_share(connections: &[&Connection]) -> f64 {
    let sum = |of: fn(&Connection) -> u64| connections.iter().map(|connection| of(connection) as f64).sum::<f64>();
    share(sum(|connection| connection.retransmits), sum(|connection| connection.segments))
}

/// How full each hop's links were, hops alike together: every side of the
/// story, the limiting one included.
pub(super) fn of_hops(picture: &Picture<'_>) -> Vec<String> {
    let mut alike: Vec<(Vec<&str>, String)> = Vec::new();
    for hop in picture.hops.iter().filter(|hop| hop.links.len() > 1) {
        let loads = loads(hop);
        match alike.iter_mut().find(|(_, same)| *same == loads) {
            Some((nodes, _)) => nodes.push(hop.node),
            None => alike.push((vec![hop.node], loads)),
        }
    }
    if alike.len() > MOST_HOPS {
        return of_many_hops(picture);
    }
    alike.iter().map(|(nodes, loads)| format!("{} {loads}", hosts(nodes))).collect()
}

/// More hops are told together.
const MOST_HOPS: usize = 16;

/// Hops to one node from several, or from one node to several, by the same mode.
struct Hops<'a> {
    nodes: Vec<&'a str>,
    peers: Vec<&'a str>,
    how: String,
    /// The lowest and the highest load of each link.
    loads: Vec<[f64; 2]>,
}

/// The lowest and the highest load of each link, of like hops together.
fn of_many_hops(picture: &Picture<'_>) -> Vec<String> {
    let mut all: Vec<Hops<'_>> = Vec::new();
    for hop in picture.hops.iter().filter(|hop| hop.links.len() > 1) {
        let (how, loads) = (how(hop), hop.links.iter().map(|link| link.load()));
        let is_like = |known: &&mut Hops<'_>| {
            let joins = known.peers == [hop.peer] || known.nodes == [hop.node];
            joins && known.how == how && known.loads.len() == hop.links.len()
        };
        match all.iter_mut().find(is_like) {
            Some(known) => {
                let (names, name) =
                    if known.peers == [hop.peer] { (&mut known.nodes, hop.node) } else { (&mut known.peers, hop.peer) };
                names.push(name);
                for (range, load) in known.loads.iter_mut().zip(loads) {
                    *range = [range[0].min(load), range[1].max(load)];
                }
            }
            None => {
                let loads = loads.map(|load| [load; 2]).collect();
                all.push(Hops { nodes: vec![hop.node], peers: vec![hop.peer], how, loads });
            }
        }
    }
    let range = |[low, high]: &[f64; 2]| format!("{} to {}", ratio(*low), ratio(*high));
    let words = |Hops { nodes, peers, how, loads }: &Hops<'_>| {
        let loads: Vec<String> = loads.iter().map(range).collect();
        format!("{} towards {}{how}: links {} full.", hosts(nodes), hosts(peers), loads.join(", "))
    };
    all.iter().map(words).collect()
}

/// `towards sw (balance-rr): links 0.25, ... full.`
fn loads(hop: &Hop<'_>) -> String {
    let loads: Vec<String> = hop.links.iter().map(|link| ratio(link.load())).collect();
    format!("towards {}{}: links {} full.", hop.peer, how(hop), loads.join(", "))
}

/// ` (balance-rr)`
fn how(hop: &Hop<'_>) -> String {
    hop.team.map_or(String::new(), |team| match team.policy_name {
        "" => format!(" ({})", team.mode_name),
        policy => format!(" ({} {policy})", team.mode_name),
    })
}

/// What concerns a run as a whole: segments sent again, drops, busy processors.
pub(super) fn of_run(picture: &Picture<'_>) -> Vec<String> {
    let run = picture.run;
    let connections: Vec<&Connection> = run.connections.iter().collect();
    let retransmits: u64 = connections.iter().map(|connection| connection.retransmits).sum();
    let again = retransmit_share(&connections);
    let mut facts = Vec::new();
    if again >= RETRANSMITS_NOTABLE {
        let cause = if reorders(picture) { "; balance-rr over several links delivers out of order" } else { "" };
        facts.push(format!("{} segments ({}) were sent again{cause}.", thousands(retransmits), percent(again)));
    }
    for team in &picture.teams {
        facts.extend(drops(run, team, "out", |member| member.tx_drops));
        facts.extend(drops(run, team, "in", |member| member.rx_drops));
    }
    facts.extend(run.topology.switches.iter().filter_map(model));
    facts.extend(pagp(run));
    facts.extend(moves::facts(run));
    facts.extend(one_sided::facts(run));
    facts.extend(mtu::facts(picture));
    facts.extend(losses(run));
    facts.extend(silences(run));
    facts.extend(notes::of(run));
    facts.extend(run.relay_trouble());
    if run.cpu.busy > 0.9 {
        facts.push(format!("The processors were {} busy; figures may be lower for it.", percent(run.cpu.busy)));
    }
    facts
}

/// The hosts that received PAgP, and by which members.
fn pagp(run: &Run) -> Vec<String> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for heard in &run.pagp {
        let head = format!("{} receives PAgP from {} (mode {})", heard.host, heard.switch, heard.mode);
        match said.iter_mut().find(|(known, _)| *known == head) {
            Some((_, members)) => members.push(&heard.member),
            None => said.push((head, vec![&heard.member])),
        }
    }
    said.iter().map(|(head, members)| format!("{head} on {}; no team answers it.", members.join(", "))).collect()
}

/// Whose switch this stood for, and what of its choices is assumed.
fn model(switch: &Switch) -> Option<String> {
    let (model, spread) = (switch.model.as_ref()?, switch.spread.as_ref()?);
    let (name, title, assumed) = (&switch.name, &model.title, &model.assumed);
    Some(format!("{name} is modelled on {title} and spreads by {spread}. Assumed: {assumed}."))
}

/// What the lab did to the network, in words.
pub fn faults(run: &Run) -> Vec<&str> {
    run.events.iter().filter(|event| event.kind == EventKind::Fault).map(|event| &*event.text).collect()
}

/// How long datagrams stayed away in a run in which the lab did something to the network.
fn silences(run: &Run) -> Vec<String> {
    let done = faults(run);
    if done.is_empty() {
        return Vec::new();
    }
    let of = |connection: &Connection| {
        let datagrams = connection.datagrams.as_ref()?;
        let (from, to) = (&connection.from, &connection.to);
        let ms = datagrams.longest_silence_us as f64 / 1e3;
        Some(format!("{}: no datagram from {from} to {to} arrived for {ms:.1} ms.", list(&done)))
    };
    let echoes = run.probes.iter().filter(|task| task.sent > 0).map(|task| {
        let (from, to, ms) = (&task.from, &task.to, task.longest_silence_ms);
        format!("{}: no echo of {from} came back from {to} for {ms:.1} ms.", list(&done))
    });
    run.connections.iter().filter_map(of).chain(echoes).collect()
}

/// What impaired links lost because they were declared to.
fn losses(run: &Run) -> Option<String> {
    let sum = |of: fn(&Relayed) -> u64| run.relayed.iter().map(of).sum::<u64>();
    let (frames, lost) = (sum(|relayed| relayed.frames), sum(|relayed| relayed.lost));
    let part = percent(share(lost as f64, frames as f64));
    (lost > 0).then(|| {
        format!("Impaired links lost {} of {} frames ({part}), as declared.", thousands(lost), thousands(frames))
    })
}

/// What a team's members dropped in one direction, if anything.
fn drops(run: &Run, team: &Team<'_>, way: &str, of: fn(&Member) -> u64) -> Option<String> {
    let counters = |device: &String| view::counters(run, team.node, device).map_or(0, of);
    let counts: Vec<u64> = team.members.iter().map(counters).collect();
    let sum: u64 = counts.iter().sum();
    let each: Vec<String> = counts.iter().map(|count| thousands(*count)).collect();
    (sum > 0).then(|| {
        format!(
            "{} of {} dropped {} frames on the way {way} (by member: {}).",
            team.device,
            team.node,
            thousands(sum),
            each.join("; ")
        )
    })
}

/// Whether a host's team sends in turn over several links.
fn reorders(picture: &Picture<'_>) -> bool {
    picture.teams.iter().any(|team| {
        team.mode.takes_turns()
            && team.members.len() > 1
            && picture.run.connections.iter().any(|it| picture.run.topology.links_of(&it.from) == team.node)
    })
}
