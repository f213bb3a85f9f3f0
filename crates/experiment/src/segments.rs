//! Segments: what frames reach over cables, through switches and through hosts with a team. Gateways are between them.

use std::collections::{BTreeMap, VecDeque};

use nicteam_elements::resolved::{Cable, End};

/// The cables of a topology by their segment.
#[derive(Debug)]
pub(crate) struct Segments<'a> {
    /// Each node's ends with their segments, in the order of the cables.
    ends: BTreeMap<&'a str, Vec<(&'a End, usize)>>,
    /// The gateways of each segment, in the order of the file.
    gateways: BTreeMap<usize, Vec<&'a str>>,
}

impl<'a> Segments<'a> {
    /// Those between these gateways, numbered in the order of the cables.
    pub fn of(cables: &'a [Cable], gateways: Vec<&'a str>) -> Segments<'a> {
        let mut at_node: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, cable) in cables.iter().enumerate() {
            for end in [&cable.a, &cable.b].into_iter().filter(|end| !gateways.contains(&end.node.as_str())) {
                at_node.entry(&end.node).or_default().push(number);
            }
        }
        let mut numbers = vec![usize::MAX; cables.len()];
        let mut next = 0;
        for first in 0..cables.len() {
            if numbers[first] != usize::MAX {
                continue;
            }
            let mut open = vec![first];
            while let Some(cable) = open.pop() {
                if numbers[cable] == usize::MAX {
                    numbers[cable] = next;
                    // A node's cables are looked at once: they are all of this segment then.
                    for end in [&cables[cable].a, &cables[cable].b] {
                        open.extend(at_node.remove(end.node.as_str()).into_iter().flatten());
                    }
                }
            }
            next += 1;
        }
        let mut ends: BTreeMap<&str, Vec<(&End, usize)>> = BTreeMap::new();
        for (cable, number) in cables.iter().zip(numbers) {
            for end in [&cable.a, &cable.b] {
                ends.entry(&end.node).or_default().push((end, number));
            }
        }
        let mut at: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for gateway in gateways {
            for (_, segment) in ends.get(gateway).into_iter().flatten() {
                let here = at.entry(*segment).or_default();
                if !here.contains(&gateway) {
                    here.push(gateway);
                }
            }
        }
        Segments { ends, gateways: at }
    }

    /// A node's ends of cables with their segments, in the order of the file.
    pub fn ends(&self, node: &str) -> impl Iterator<Item = (&'a End, usize)> + '_ {
        self.ends.get(node).into_iter().flatten().copied()
    }

    /// The segment of a host that is no gateway; none if it has no link.
    pub fn of_host(&self, host: &str) -> Option<usize> {
        self.ends(host).next().map(|(_, segment)| segment)
    }

    /// Whether a gateway has a link into a segment.
    pub fn has_gateway(&self, segment: usize) -> bool {
        self.gateways.contains_key(&segment)
    }

    /// Whether a node has a link into a segment.
    pub fn is_at(&self, node: &str, segment: usize) -> bool {
        self.ends(node).any(|(_, own)| own == segment)
    }

    /// From a node in these segments: every other segment that gateways lead to, with the first gateway on the way
    /// there and the segment in which that one is reached. The fewest gateways; of as few the first of the file.
    pub fn beyond(&self, own: &[usize]) -> BTreeMap<usize, (&'a str, usize)> {
        let mut first: BTreeMap<usize, (&'a str, usize)> = BTreeMap::new();
        let mut queue: VecDeque<usize> = own.iter().copied().collect();
        while let Some(here) = queue.pop_front() {
            for gateway in self.gateways.get(&here).into_iter().flatten().copied() {
                for (_, there) in self.ends(gateway).filter(|(_, there)| !own.contains(there)) {
                    if !first.contains_key(&there) {
                        let hop = first.get(&here).copied().unwrap_or((gateway, here));
                        first.insert(there, hop);
                        queue.push_back(there);
                    }
                }
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cables(pairs: &[(&str, &str)]) -> Vec<Cable> {
        let end = |node: &str, device: usize| End { node: node.to_owned(), device: format!("d{device}") };
        let cable = |(number, (a, b)): (usize, &(&str, &str))| Cable {
            a: end(a, number),
            b: end(b, number),
            rate_bps: 1,
            mtus: [1500; 2],
            impaired: None,
            queue_bytes: None,
            burst_bytes: None,
            without_offloads: false,
        };
        pairs.iter().enumerate().map(cable).collect()
    }

    #[test]
    fn a_gateway_is_between_segments_and_a_host_with_a_team_is_not() {
        let cables = cables(&[("a", "sw"), ("gw", "sw"), ("gw", "far"), ("a", "other"), ("b", "other"), ("x", "y")]);
        let segments = Segments::of(&cables, vec!["gw"]);
        let of = |host| segments.of_host(host);
        assert_eq!([of("a"), of("b"), of("far"), of("x")], [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!(segments.ends("gw").map(|(_, segment)| segment).collect::<Vec<_>>(), [0, 1]);
        assert!(segments.has_gateway(1) && !segments.has_gateway(2));
        assert_eq!(segments.beyond(&[0]), BTreeMap::from([(1, ("gw", 0))]));
        assert_eq!(segments.beyond(&[2]), BTreeMap::new());
    }

    #[test]
    fn the_fewest_gateways_lead_on() {
        let pairs =
            [("a", "one"), ("one", "m"), ("m", "two"), ("two", "b"), ("a", "n"), ("n", "three"), ("three", "b")];
        let cables = cables(&pairs);
        let segments = Segments::of(&cables, vec!["one", "two", "three"]);
        let [a, middle, b] = ["a", "m", "b"].map(|node| segments.of_host(node).unwrap());
        assert_eq!(segments.beyond(&[a]), BTreeMap::from([(middle, ("one", a)), (b, ("three", a))]));
        assert_eq!(segments.beyond(&[a, b]), BTreeMap::from([(middle, ("one", a))]), "of a gateway between the two");
    }
}
