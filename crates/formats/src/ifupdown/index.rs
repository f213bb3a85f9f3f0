//! Which stanzas and lines are about a device: found once, however many bonds there are.

use std::collections::{BTreeMap, BTreeSet};

use nicteam_scripts::commands::Command;

use super::interfaces::Automatic;
use super::members::{Way, joinings, master};
use super::stanza::{File, Stanza};

/// Stanzas by what they are about, each list in the order of the files.
#[derive(Default)]
pub(super) struct Index<'f> {
    /// By their device, an alias `bond0:1` with it.
    own: BTreeMap<&'f str, Vec<&'f Stanza>>,
    /// By the bond that they name as theirs.
    members: BTreeMap<&'f str, Vec<&'f Stanza>>,
    /// Places of those whose commands build a bond, by the bond.
    builders: BTreeMap<String, Vec<usize>>,
    /// Places of those that load the driver, with options of every bond.
    of_driver: Vec<usize>,
    all: &'f [Stanza],
    pub(super) automatic: Automatic,
}

impl<'f> Index<'f> {
    pub(super) fn new(file: &'f File) -> Index<'f> {
        let (all, automatic) = (&file.stanzas, Automatic::new(&file.selections));
        let mut index = Index { all, automatic, ..Index::default() };
        for (place, stanza) in all.iter().enumerate() {
            let base = stanza.device.split(':').next().unwrap_or(&stanza.device);
            index.own.entry(base).or_default().push(stanza);
            if let Some(line) = master(stanza) {
                index.members.entry(&line.value).or_default().push(stanza);
            }
            let by_command = joinings(stanza).filter(|of| of.is_certain && matches!(of.way, Way::Enslave | Way::Join));
            let mut built: BTreeSet<String> = by_command.map(|of| of.master).collect();
            let mut loads = false;
            for line in stanza.options.iter().filter(|line| line.runs()) {
                for command in line.does(&stanza.device).sound() {
                    match command {
                        Command::Bond { bond, .. } => drop(built.insert(bond.clone())),
                        Command::Module(_) => loads = true,
                        _ => {}
                    }
                }
            }
            built.into_iter().for_each(|bond| index.builders.entry(bond).or_default().push(place));
            index.of_driver.extend(loads.then_some(place));
        }
        index
    }

    /// The stanzas of a device, and of its aliases.
    pub(super) fn own(&self, device: &str) -> &[&'f Stanza] {
        self.own.get(device).map_or(&[], Vec::as_slice)
    }

    /// The stanzas of devices that name this bond as theirs.
    pub(super) fn members(&self, bond: &str) -> &[&'f Stanza] {
        self.members.get(bond).map_or(&[], Vec::as_slice)
    }

    /// The stanzas with commands that build this bond.
    pub(super) fn builders(&self, bond: &str) -> Vec<&'f Stanza> {
        let places: BTreeSet<usize> =
            self.builders.get(bond).into_iter().flatten().chain(&self.of_driver).copied().collect();
        places.into_iter().map(|place| &self.all[place]).collect()
    }
}
