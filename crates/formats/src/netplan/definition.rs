//! What the files say of each device, and which definitions belong together.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_drafts::Teams;
use nicteam_syntax::At;
use nicteam_syntax::tree::{Entry, Node, Value};

use crate::cloud_init::OFF;

/// The definitions of all files, in netplan's order.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) definitions: Vec<Definition<'a>>,
    /// `renderer` of all, and of all bonds: the last one counts.
    pub(super) renderer: Option<&'a str>,
    pub(super) renderer_of_bonds: Option<&'a str>,
    /// Places of the definitions of one device, by its kind and its name.
    pub(super) by_id: BTreeMap<(&'a str, &'a str), Vec<usize>>,
    /// The bond that a device is a member of.
    pub(super) bond_of: BTreeMap<&'a str, &'a str>,
    /// Sources that cloud-init writes.
    pub(super) of_cloud_init: BTreeSet<usize>,
    /// Places of the definitions of what stands on a bond: VLANs, bridges.
    pub(super) above: BTreeMap<&'a str, Vec<usize>>,
}

/// What one file says of one device.
pub(super) struct Definition<'a> {
    /// Its place among all.
    pub(super) number: usize,
    pub(super) source: usize,
    /// `bonds`, `ethernets` and so on.
    pub(super) kind: &'a str,
    pub(super) entry: &'a Entry,
}

impl<'a> Found<'a> {
    /// Finds what belongs together, when all definitions are there.
    pub(super) fn sort(&mut self) {
        for (number, definition) in self.definitions.iter_mut().enumerate() {
            definition.number = number;
            self.by_id.entry((definition.kind, &definition.entry.key)).or_default().push(number);
        }
        for definition in &self.definitions {
            let named = |key| definition.entry.value.get(key).into_iter().flat_map(names);
            if definition.kind == "bonds" {
                for member in named("interfaces") {
                    self.bond_of.entry(member).or_insert(&definition.entry.key);
                }
            }
            for below in named("interfaces").chain(named("link")) {
                if self.by_id.contains_key(&("bonds", below)) {
                    self.above.entry(below).or_default().push(definition.number);
                }
            }
        }
    }

    /// The definitions of one device.
    pub(super) fn own(&self, kind: &str, id: &str) -> Vec<&Definition<'a>> {
        let numbers = self.by_id.get(&(kind, id)).into_iter().flatten();
        numbers.map(|number| &self.definitions[*number]).collect()
    }

    /// True if a later definition of this device has this key, too: of single values that one counts.
    pub(super) fn has_later(&self, definition: &Definition<'_>, key: &str) -> bool {
        let own = self.own(definition.kind, definition.id());
        own.iter().filter(|of| of.number > definition.number).any(|of| of.entry.value.get(key).is_some())
    }

    /// The definitions of what stands on a bond.
    pub(super) fn above(&self, bond: &str) -> impl Iterator<Item = &Definition<'a>> {
        self.above.get(bond).into_iter().flatten().map(|number| &self.definitions[*number])
    }

    /// True if NetworkManager builds this bond, and not networkd.
    pub(super) fn is_network_managers(&self, bond: &str) -> bool {
        let own = self.own("bonds", bond);
        let own = own.iter().filter_map(|definition| definition.entry.value.get("renderer")?.scalar()).next_back();
        own.or(self.renderer_of_bonds).or(self.renderer) == Some("NetworkManager")
    }

    pub(super) fn of(&self, kind: &'static str) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions.iter().filter(move |definition| definition.kind == kind)
    }
}

/// The names in a value: one, or a list.
pub(super) fn names(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::List(elements) => elements.iter().filter_map(Node::scalar).collect(),
        _ => node.scalar().into_iter().collect(),
    }
}

/// A key of `netplan set` for one device: a dot in its name would part it.
pub(super) fn key(kind: &str, id: &str) -> String {
    format!("{kind}.{}", id.replace('.', "\\."))
}

impl Definition<'_> {
    /// Its name among netplan's, which need not be the device's.
    pub(super) fn id(&self) -> &str {
        &self.entry.key
    }

    pub(super) fn spot(&self) -> At {
        At::new(self.source, self.entry.key_span.clone())
    }

    /// Of one of its keys.
    pub(super) fn spot_of(&self, entry: &Entry) -> At {
        At::new(self.source, entry.span())
    }

    pub(super) fn spot_at(&self, node: &Node) -> At {
        At::new(self.source, node.span.clone())
    }
}

/// cloud-init writes its file again: what is taken out of it would come back.
pub(super) fn cloud_init(definition: &Definition<'_>, found: &Found<'_>, teams: &mut Teams<'_>) {
    if found.of_cloud_init.contains(&definition.source) && !teams.reading.has_to_disable(OFF) {
        let what = "keep cloud-init from writing this file again, with what is removed below";
        teams.disable(&At::new(definition.source, 0..0), what, Some(OFF.to_owned()));
    }
}
