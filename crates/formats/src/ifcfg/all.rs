//! The interface files, and which of them belong together: found once, however many there are.

use std::collections::BTreeMap;

use super::assignment::Assignment;
use super::interface::Interface;

/// All interface files.
pub(super) struct Interfaces {
    all: Vec<Interface>,
    /// Places by their device.
    by_device: BTreeMap<String, Vec<usize>>,
    /// Places by their UUID, in small letters.
    by_uuid: BTreeMap<String, usize>,
    /// Places of those that name a bond as theirs, by the bond.
    members: BTreeMap<String, Vec<usize>>,
}

impl Interfaces {
    pub(super) fn new(all: Vec<Interface>) -> Interfaces {
        let (by_device, by_uuid, members) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut interfaces = Interfaces { all, by_device, by_uuid, members };
        for (place, interface) in interfaces.all.iter().enumerate() {
            interfaces.by_device.entry(interface.device.clone()).or_default().push(place);
            if let Some(uuid) = interface.entry("UUID") {
                interfaces.by_uuid.entry(uuid.value.to_ascii_lowercase()).or_insert(place);
            }
        }
        let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, interface) in interfaces.all.iter().enumerate() {
            if let Some((master, _)) = interfaces.master(interface) {
                members.entry(master.to_owned()).or_default().push(place);
            }
        }
        interfaces.members = members;
        interfaces
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Interface> {
        self.all.iter()
    }

    /// The files of a device.
    pub(super) fn own(&self, device: &str) -> impl Iterator<Item = &Interface> {
        self.by_device.get(device).into_iter().flatten().map(|place| &self.all[*place])
    }

    /// The file that has this UUID.
    pub(super) fn with_uuid(&self, uuid: &str) -> Option<&Interface> {
        self.by_uuid.get(&uuid.to_ascii_lowercase()).map(|place| &self.all[*place])
    }

    /// The files that name a bond as theirs.
    pub(super) fn members(&self, bond: &str) -> impl Iterator<Item = &Interface> {
        self.members.get(bond).into_iter().flatten().map(|place| &self.all[*place])
    }

    /// The bond or team that an interface is in: its device, which its file may be named for or have as its UUID.
    pub(super) fn master<'i>(&'i self, of: &'i Interface) -> Option<(&'i str, &'i Assignment)> {
        let given: Vec<&Assignment> = ["MASTER_UUID", "TEAM_MASTER_UUID", "MASTER", "TEAM_MASTER"]
            .iter()
            .filter_map(|key| of.entry(key))
            .collect();
        let by_uuid =
            given.iter().find_map(|entry| self.with_uuid(&entry.value).map(|of| (of.device.as_str(), *entry)));
        by_uuid.or_else(|| given.last().map(|entry| (entry.value.as_str(), *entry)))
    }
}
