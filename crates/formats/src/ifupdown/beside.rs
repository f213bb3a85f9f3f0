//! What stands beside the bonds and stays: files that were not given, VLAN devices, bridges, names.

use super::lines::Line;
use super::members::{Joining, Way, joinings};
use super::stanza::File;
use crate::draft::Draft;
use crate::names::fits;
use crate::reading::Reading;

/// Files that are named and were not given.
pub(super) fn not_given(reading: &mut Reading<'_>, file: &File) {
    for line in &file.sourced {
        let given =
            reading.sources().iter().enumerate().any(|(place, source)| {
                place != line.at.source && may_be(&source.path, &line.value, line.name != "source")
            });
        if !given {
            reading.left(
                &line.at,
                None,
                "no such file was among those given: name it beside this one, if there is one",
            );
        }
    }
}

/// True if a path may be one of those that a line sources, by its last two parts.
fn may_be(path: &str, pattern: &str, is_folder: bool) -> bool {
    let pattern = if is_folder { format!("{}/*", pattern.trim_end_matches('/')) } else { pattern.to_owned() };
    let split = |path: &str| {
        let mut parts = path.trim_end_matches('/').rsplit('/');
        (parts.next().unwrap_or("").to_owned(), parts.next().map(str::to_owned))
    };
    let ((file, folder), (wanted, wanted_folder)) = (split(path), split(&pattern));
    let same_folder = folder.is_none() || wanted_folder.is_none() || folder == wanted_folder;
    same_folder && fits(&file, &wanted)
}

/// VLAN devices and bridges on a team, and names that are given by mappings.
pub(super) fn on_top(reading: &mut Reading<'_>, file: &File, drafts: &[Draft]) {
    for stanza in &file.stanzas {
        for draft in drafts {
            let title = stanza.title();
            let is_on_it = |line: &Line| line.key() == "vlan_raw_device" && line.value == draft.name;
            let is_port =
                |of: Joining<'_>| of.way == Way::Bridge && of.members.iter().any(|(port, _)| *port == draft.name);
            let is_vlan = stanza.device.strip_prefix(draft.name.as_str()).is_some_and(|rest| rest.starts_with('.'));
            let what = if is_vlan || stanza.options.iter().any(is_on_it) {
                "a VLAN device"
            } else if joinings(stanza).any(is_port) {
                "a bridge"
            } else {
                continue;
            };
            let why = format!("{what} on the team stays in the old place: `{title}` works on the team as on a bond");
            reading.left(&stanza.head.at, Some(&draft.name), why);
        }
    }
    for line in &file.names {
        reading.left(
            &line.at,
            None,
            "names of devices are ifupdown's or udev's: the team has the names that devices have then",
        );
    }
}
