//! A network with like hosts as one.

use nicteam_record::{Host, Topology};

use crate::like::Group;

/// A longer name does not fit a host's box.
const LONGEST: usize = 18;

/// What is drawn: of like hosts the first one alone.
pub(super) struct Merged<'a> {
    pub(super) topology: Topology,
    groups: Vec<Group<'a>>,
}

impl<'a> Merged<'a> {
    pub(super) fn of(topology: &Topology, groups: Vec<Group<'a>>) -> Merged<'a> {
        let is_merged =
            |name: &str| groups.iter().any(|group| group.hosts.iter().skip(1).any(|member| *member == name));
        let mut merged = topology.clone();
        let stands = |host: &Host| !is_merged(&host.name) && !host.parent.as_deref().is_some_and(is_merged);
        merged.hosts.retain(stands);
        merged.links.retain(|link| !is_merged(&link.a.node) && !is_merged(&link.b.node));
        merged.teams.retain(|team| !is_merged(&team.node) && !is_merged(&team.peer));
        Merged { topology: merged, groups }
    }

    /// How many hosts there are, those that are not drawn included.
    pub(super) fn hosts(&self) -> usize {
        self.groups.iter().map(|group| group.hosts.len()).sum()
    }

    /// Like hosts of which this one is drawn; nothing of a host that is drawn alone.
    fn group(&self, name: &str) -> Option<&Group<'a>> {
        self.groups.iter().find(|group| group.hosts.len() > 1 && group.hosts.first() == Some(&name))
    }

    /// What stands at the top of a node's box.
    pub(super) fn name(&self, name: &str) -> String {
        let Some(group) = self.group(name) else { return name.to_owned() };
        let all = group.name();
        if all.chars().count() <= LONGEST { all } else { format!("{} and {} more", name, group.hosts.len() - 1) }
    }

    /// The line below what a host is: its address, or how many hosts there are.
    pub(super) fn last_line(&self, name: &str) -> String {
        match self.group(name) {
            Some(group) => format!("{} hosts", group.hosts.len()),
            None => {
                self.topology.hosts.iter().find(|host| host.name == name).map_or("", |host| &host.address).to_owned()
            }
        }
    }
}
