//! Which nodes of a network are alike, so that they can be drawn and named as one.

use std::collections::{BTreeMap, BTreeSet};

/// What of a node counts when nodes are compared. Its name and its addresses do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Its name.
    pub name: String,
    /// What it is: its team with all options, what makes it slow, how many guests it has.
    pub own: Vec<String>,
    /// Its links by the node at their other end, each with what it is: rate, MTU, what it does to frames.
    pub links: BTreeMap<String, Vec<String>>,
    /// What it does in the workloads: the name of each, and whether it is at the end that connects.
    pub roles: BTreeSet<(String, bool)>,
}

impl Looks {
    /// Whether two nodes are alike: the same team, as many links of the same kind to the same neighbours, the same
    /// roles. Nodes with a link between them are not: each has a neighbour that the other has not.
    pub fn is_like(&self, other: &Looks) -> bool {
        (&self.own, &self.links, &self.roles) == (&other.own, &other.links, &other.roles)
    }
}

/// The nodes in groups of like ones. Groups stand in the order of their first members, members in the order of the nodes.
pub fn alike(nodes: &[Looks]) -> Vec<Vec<&str>> {
    let mut groups: Vec<(&Looks, Vec<&str>)> = Vec::new();
    for node in nodes {
        match groups.iter_mut().find(|(first, _)| first.is_like(node)) {
            Some((_, members)) => members.push(&node.name),
            None => groups.push((node, vec![&node.name])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Up to so many nodes, and groups of fewer than so many, are drawn one by one.
const FEW: [usize; 2] = [8, 5];

/// The nodes as they are drawn and named: like ones in a group where there are many, each other one alone.
pub fn drawn(nodes: &[Looks]) -> Vec<Vec<&str>> {
    let [few_nodes, small] = FEW;
    let is_one = |group: &[&str]| nodes.len() > few_nodes && group.len() >= small;
    let groups = alike(nodes).into_iter();
    groups
        .flat_map(|group| if is_one(&group) { vec![group] } else { group.into_iter().map(|name| vec![name]).collect() })
        .collect()
}
