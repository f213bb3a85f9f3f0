//! What the files say of devices. For code that asks what ifupdown does with a device, not for reading teams.

use std::collections::BTreeSet;

use nicteam_drafts::Reading;
use nicteam_drafts::names::fits;
use nicteam_syntax::{Place, Source};

use super::lines::Line;
use super::members::{Way, joinings, master};
use super::stanza::{self, File};

/// `/etc/network/interfaces`, and the files that it names.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    /// Definitions of devices, in their order.
    pub definitions: Vec<Definition>,
    automatic: Automatic,
}

/// What is done with a device: a stanza `iface`.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The device.
    pub device: String,
    /// Where it begins.
    pub place: Place,
    /// The number of its last line.
    pub last_line: usize,
    /// `static`, `manual`, `dhcp`; empty where no family of addresses is named, so that the options say what it does.
    pub method: String,
    /// It has an address.
    pub has_address: bool,
    /// The bond that it puts its device into.
    pub bond: Option<String>,
    /// Its lines by which a bond or a bridge gets members.
    pub lists: Vec<List>,
}

/// A line by which a bond or a bridge gets members.
#[derive(Clone, Debug)]
pub struct List {
    /// Where it stands.
    pub place: Place,
    /// True for a bridge's.
    pub is_bridge: bool,
    /// Devices, or patterns of devices.
    words: Vec<String>,
}

impl Interfaces {
    /// Reads files; what is wrong in them is left out.
    pub fn read(sources: &[Source]) -> Interfaces {
        let mut reading = Reading::new(sources);
        let File { stanzas, selections, .. } = stanza::read(&mut reading);
        let definition = |stanza: &stanza::Stanza| {
            let gives = |of: &super::members::Joining<'_>| of.way != Way::Master;
            let list = |of: super::members::Joining<'_>| List {
                place: reading.place(&of.line.at),
                is_bridge: of.way == Way::Bridge,
                words: of.members.into_iter().map(|(member, _)| member).collect(),
            };
            Definition {
                device: stanza.device.clone(),
                place: reading.place(&stanza.head.at),
                last_line: stanza.last_line(&reading),
                method: if stanza.family.is_empty() { String::new() } else { stanza.method.clone() },
                has_address: stanza.has("address"),
                bond: master(stanza).map(|line| line.value.clone()).filter(|bond| bond != "none"),
                lists: joinings(stanza).filter(gives).map(list).collect(),
            }
        };
        Interfaces { definitions: stanzas.iter().map(definition).collect(), automatic: Automatic::new(&selections) }
    }

    /// True if a device is set up at boot, or when it appears.
    pub fn is_automatic(&self, device: &str) -> bool {
        self.automatic.has(device)
    }
}

impl List {
    /// True if it means the device: by its name, or by a pattern of `*` and `?`; `/regex/` is not read.
    pub fn takes(&self, device: &str) -> bool {
        self.words.iter().any(|word| word == device || word.contains(['*', '?', '[']) && fits(device, word))
    }
}

/// Devices that are set up at boot, or when they appear: `auto`, `allow-auto`, `allow-hotplug`.
#[derive(Clone, Debug, Default)]
pub(super) struct Automatic {
    names: BTreeSet<String>,
    /// Words that mean more than their own name.
    others: Vec<String>,
}

impl Automatic {
    pub(super) fn new(selections: &[Line]) -> Automatic {
        let is_list = |line: &&Line| matches!(line.name.as_str(), "auto" | "allow-auto" | "allow-hotplug");
        let words = selections.iter().filter(is_list).flat_map(Line::words).map(|(word, _)| word);
        let (others, names) = words.partition(|word| word.contains(['*', '?', '[', '=', '/']));
        Automatic { names: BTreeSet::from_iter::<Vec<String>>(names), others }
    }

    /// True for a device that one of them names.
    pub(super) fn has(&self, device: &str) -> bool {
        self.names.contains(device) || self.others.iter().any(|word| selects(word, device))
    }
}

/// True if a word of such a list means the device: `eth0`, `eth0=home`, `/eth*`, `/eth*/1`; ifupdown2 has `eth*`, too.
fn selects(word: &str, device: &str) -> bool {
    let (physical, logical) = word.split_once('=').unwrap_or((word, device));
    let pattern = physical.strip_prefix('/').map_or(physical, |pattern| pattern.split('/').next().unwrap_or(pattern));
    logical == device && physical == device || pattern.contains(['*', '?', '[']) && fits(device, pattern)
}
