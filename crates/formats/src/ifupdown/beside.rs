//! What stands beside the bonds and stays: files that were not given, VLAN devices, bridges, names.

use super::lines::Line;
use super::members::{Joining, Way, joinings};
use super::sourced::named;
use super::stanza::File;
use crate::draft::Draft;
use crate::reading::{At, Reading};

/// Files that are named and were not given.
pub(super) fn not_given(reading: &mut Reading<'_>, file: &File) {
    for line in &file.sourced {
        let named = named(line);
        let may_be = |path: &str| named.iter().any(|of| of.may_be(path));
        let mut sources = reading.sources().iter().enumerate();
        if !sources.any(|(place, source)| place != line.at.source && may_be(&source.path)) {
            reading.left(
                &line.at,
                None,
                "no such file was among those given: name it beside this one, if there is one",
            );
        }
    }
}

/// Files that were given, and that none of the others names.
pub(super) fn not_read(reading: &mut Reading<'_>, file: &File) {
    for source in &file.unread {
        let path = reading.sources()[*source].path.clone();
        let why = "no line of the files beside it names this one, so ifupdown does not read it: import it alone, if it is wanted";
        reading.left_as(&At::new(*source, 0..0), path, None, why);
    }
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
