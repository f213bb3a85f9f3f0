//! What stands beside the bonds and stays: files that were not given, VLAN devices, bridges, names.

use std::collections::BTreeSet;

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;
use nicteam_syntax::At;

use super::members::{Way, joinings};
use super::sourced::named;
use super::stanza::File;

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
    let teams: BTreeSet<&str> = drafts.iter().map(|draft| draft.name.as_str()).collect();
    for stanza in &file.stanzas {
        let title = stanza.title();
        let by_name = stanza.device.rsplit_once('.').map(|(base, _)| base);
        let by_option = stanza.options.iter().filter(|line| line.key() == "vlan_raw_device").map(|line| &*line.value);
        let lower: BTreeSet<&str> = by_option.chain(by_name).collect();
        let ports = joinings(stanza).filter(|of| of.way == Way::Bridge).flat_map(|of| of.members);
        let ports: BTreeSet<String> = ports.map(|(port, _)| port).collect();
        let vlans = lower.iter().copied().map(|team| ("a VLAN device", team));
        let bridges = ports.iter().map(|port| ("a bridge", port.as_str())).filter(|(_, port)| !lower.contains(port));
        for (what, team) in vlans.chain(bridges).filter(|(_, device)| teams.contains(device)) {
            let why = format!("{what} on the team stays in the old place: `{title}` works on the team as on a bond");
            reading.left(&stanza.head.at, Some(team), why);
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
