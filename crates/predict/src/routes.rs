//! Which node comes next on the way to another.

use std::collections::VecDeque;

use crate::network::{Network, NodeKind, Receives, Sends};

/// No node.
const NONE: u32 = u32::MAX;

/// The ways through a network: by the fewest cables over which frames can go.
pub(crate) struct Routes {
    /// The cables of each node that carry frames, with the node at the other end, in the order of the cables.
    neighbours: Vec<Vec<(u32, u32)>>,
    /// For each destination the next node from each node; empty until it is asked for.
    next: Vec<Vec<u32>>,
    forwards: Vec<bool>,
}

impl Routes {
    pub(crate) fn new(network: &Network) -> Routes {
        let mut carries: Vec<bool> = network.cables.iter().map(|cable| cable.up).collect();
        for team in &network.teams {
            // Frames come in by the active member alone, and leave by it.
            if team.sends == Sends::Active && team.receives == Receives::Active {
                let active = crate::choose::active(network, team);
                team.members.iter().filter(|cable| Some(**cable) != active).for_each(|cable| carries[*cable] = false);
            }
        }
        let mut neighbours = vec![Vec::new(); network.nodes.len()];
        for (number, cable) in network.cables.iter().enumerate().filter(|(number, _)| carries[*number]) {
            let [a, b] = cable.ends;
            neighbours[a].push((number as u32, b as u32));
            neighbours[b].push((number as u32, a as u32));
        }
        let forwards = network.nodes.iter().map(|node| node.kind != NodeKind::Host).collect();
        Routes { neighbours, next: vec![Vec::new(); network.nodes.len()], forwards }
    }

    /// The node after `at` on the way to `to`; none if there is no way.
    pub(crate) fn next(&mut self, at: usize, to: usize) -> Option<usize> {
        if self.next[to].is_empty() {
            self.next[to] = self.search(to);
        }
        let next = self.next[to][at];
        (next != NONE).then_some(next as usize)
    }

    /// The cables that carry frames between two nodes, in their order.
    pub(crate) fn cables(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        // A switch has many, a host few.
        let (few, other) =
            if self.neighbours[from].len() <= self.neighbours[to].len() { (from, to) } else { (to, from) };
        self.neighbours[few].iter().filter(move |(_, far)| *far as usize == other).map(|(cable, _)| *cable as usize)
    }

    /// The next node from every node towards one: breadth first, from the destination.
    fn search(&self, to: usize) -> Vec<u32> {
        let mut next = vec![NONE; self.neighbours.len()];
        let mut queue = VecDeque::from([to]);
        next[to] = to as u32;
        while let Some(node) = queue.pop_front() {
            if node != to && !self.forwards[node] {
                continue;
            }
            for (_, before) in &self.neighbours[node] {
                if next[*before as usize] == NONE {
                    next[*before as usize] = node as u32;
                    queue.push_back(*before as usize);
                }
            }
        }
        next
    }
}
