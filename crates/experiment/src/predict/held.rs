//! What holds the flows of a run, in a phrase.

use nicteam_predict::{Held, Prediction};

use super::translate::Translated;
use nicteam_elements::resolved::{Run, Team, Topology};

/// From this load on a link counts as full.
const FULL: f64 = 0.97;

/// Phrases, each with the flows that it holds times the seconds for which it does.
#[derive(Default)]
pub(super) struct Holds(Vec<(String, f64)>);

impl Holds {
    /// What holds the flows for so long.
    pub(super) fn add(&mut self, run: &Run, translated: &Translated, prediction: &Prediction, seconds: f64) {
        for held in translated.counted(&prediction.held) {
            let phrase = phrase(run, translated, prediction, *held);
            match self.0.iter_mut().find(|(known, _)| *known == phrase) {
                Some((_, weight)) => *weight += seconds,
                None => self.0.push((phrase, seconds)),
            }
        }
    }

    /// The phrase that holds most flows for the longest time, the first of equal ones.
    pub(super) fn longest(self) -> String {
        let mut longest = (String::new(), 0.0);
        for (phrase, weight) in self.0 {
            if weight > longest.1 * (1.0 + 1e-9) {
                longest = (phrase, weight);
            }
        }
        longest.0
    }
}

fn phrase(run: &Run, translated: &Translated, prediction: &Prediction, held: Held) -> String {
    let topology = &run.topology;
    let name = |node: usize| match topology.hosts.get(node) {
        Some(host) => host.name.as_str(),
        None => topology.switches[node - topology.hosts.len()].name.as_str(),
    };
    match held {
        Held::NoWay => "its frames do not arrive".to_owned(),
        Held::Asked => {
            let carrying = run.workloads.iter().find(|workload| workload.task.asked_bps(false).is_some());
            carrying.map_or_else(|| "one path at a time".to_owned(), |workload| workload.task.asked_reason())
        }
        Held::Processor { node } => format!("the processor of {}", name(node)),
        Held::Team { team, sending } => {
            let team = &topology.teams[team];
            let end = if sending { "sent by" } else { "received by" };
            format!("all {} links of {}, {end} {}", team.members.len(), team.node, team.config.mode)
        }
        Held::Cable { cable, from } => {
            let ends = translated.network.cables[cable].ends;
            let to = if ends[0] == from { ends[1] } else { ends[0] };
            let beside = |number: &usize| {
                let other = translated.network.cables[*number].ends;
                other == [from, to] || other == [to, from]
            };
            let links: Vec<usize> = (0..translated.network.cables.len()).filter(beside).collect();
            let way = |number: usize| usize::from(translated.network.cables[number].ends[0] != from);
            let full = links.iter().filter(|number| prediction.load[**number][way(**number)] >= FULL).count().max(1);
            links_in_words(topology, [name(from), name(to)], full, links.len())
        }
    }
}

/// `1 of 4 links from sw to b, by src-dst-mac`.
fn links_in_words(topology: &Topology, [from, to]: [&str; 2], full: usize, links: usize) -> String {
    if links == 1 {
        return format!("the link from {from} to {to}");
    }
    let count = if full == links { format!("all {links}") } else { format!("{full} of {links}") };
    let own = |node: &str, peer: &str| {
        let leads = |team: &&Team| team.node == node && (team.peer == peer || !topology.is_switch(node));
        topology.teams.iter().find(leads)
    };
    let by = match (own(from, to), own(to, from)) {
        (Some(team), _) if team.config.mode.traits().has_hash_buckets() => {
            format!(", by {}", team.config.xmit_hash_policy)
        }
        (Some(team), _) => format!(", by {}", team.config.mode),
        (None, Some(team)) => format!(", as {} of {to} receives", team.config.mode),
        (None, None) => String::new(),
    };
    format!("{count} links from {from} to {to}{by}")
}
