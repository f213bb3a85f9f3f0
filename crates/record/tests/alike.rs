//! Properties of groups of like nodes, with networks made of random teams, links and roles.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_record::{Looks, alike, drawn};

use proptest::prelude::*;

/// A few nodes: each with one of three teams, up to two links to each of two switches, perhaps one to another node.
fn network() -> impl Strategy<Value = Vec<Looks>> {
    let node = (0..3u8, [0..3usize, 0..3usize], 0..4u8, proptest::option::weighted(0.2, 0..12usize));
    proptest::collection::vec(node, 0..12).prop_map(|nodes| {
        let mut looks: Vec<Looks> = Vec::new();
        for (number, (team, links, roles, _)) in nodes.iter().enumerate() {
            let to = |switch: usize| (format!("sw{switch}"), vec!["100mbit".to_owned(); links[switch]]);
            let roles = [(0, false), (1, true)].into_iter().filter(|(bit, _)| roles >> bit & 1 == 1);
            looks.push(Looks {
                name: format!("h{number}"),
                own: vec![format!("mode {team}")],
                links: (0..2).map(to).filter(|(_, links)| !links.is_empty()).collect(),
                roles: roles.map(|(_, connects)| ("w".to_owned(), connects)).collect(),
            });
        }
        for (number, (.., peer)) in nodes.iter().enumerate() {
            let Some(peer) = peer.filter(|peer| *peer < nodes.len() && *peer != number) else { continue };
            for (near, far) in [(number, peer), (peer, number)] {
                looks[near].links.entry(format!("h{far}")).or_default().push("100mbit".to_owned());
            }
        }
        looks
    })
}

/// The network in which two nodes have exchanged their names.
fn exchanged(network: &[Looks], one: &str, other: &str) -> BTreeMap<String, Looks> {
    let renamed = |name: &String| match name.as_str() {
        name if name == one => other.to_owned(),
        name if name == other => one.to_owned(),
        name => name.to_owned(),
    };
    let node = |node: &Looks| Looks {
        name: renamed(&node.name),
        links: node.links.iter().map(|(peer, links)| (renamed(peer), links.clone())).collect(),
        ..node.clone()
    };
    network.iter().map(node).map(|node| (node.name.clone(), node)).collect()
}

proptest! {
    #[test]
    fn every_node_is_in_exactly_one_group(network in network()) {
        let grouped: Vec<&str> = alike(&network).into_iter().flatten().collect();
        prop_assert_eq!(grouped.len(), network.len());
        let names: BTreeSet<&str> = network.iter().map(|node| node.name.as_str()).collect();
        prop_assert_eq!(grouped.into_iter().collect::<BTreeSet<_>>(), names);
    }

    #[test]
    fn members_of_a_group_are_interchangeable(network in network()) {
        let as_it_is = exchanged(&network, "", "");
        for group in alike(&network) {
            for pair in group.windows(2) {
                prop_assert_eq!(&exchanged(&network, pair[0], pair[1]), &as_it_is);
            }
        }
    }

    #[test]
    fn nodes_of_two_groups_are_not_alike(network in network()) {
        let groups = alike(&network);
        let of = |name: &str| network.iter().find(|node| node.name == name).unwrap();
        for (place, group) in groups.iter().enumerate() {
            for other in &groups[place + 1..] {
                prop_assert!(!of(group[0]).is_like(of(other[0])));
            }
        }
    }
}

#[test]
fn few_nodes_and_small_groups_are_drawn_one_by_one() {
    let many = |count: usize, team: &str| {
        let node =
            |number: usize| Looks { name: format!("{team}{number}"), own: vec![team.into()], ..Looks::default() };
        (0..count).map(node).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&many(8, "a")).len(), 8);
    assert_eq!(drawn(&many(9, "a")).len(), 1);
    assert_eq!(drawn(&[many(5, "a"), many(4, "b")].concat()).len(), 1 + 4);
}

#[test]
fn nodes_that_are_wired_to_each_other_are_not_alike() {
    let node = |name: &str, peer: &str| Looks {
        name: name.into(),
        links: [(peer.to_owned(), vec!["1gbit".to_owned()])].into(),
        ..Looks::default()
    };
    assert_eq!(alike(&[node("a", "b"), node("b", "a")]), [["a"], ["b"]]);
    assert_eq!(alike(&[node("a", "sw"), node("b", "sw")]), [["a", "b"]]);
}
