//! What to take out of the old place, with its lines, so that not two owners build one device.

use std::collections::BTreeSet;

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;

use super::bond::Bond;
use super::lines::Line;
use super::members::master;
use super::stanza::Stanza;

/// Nothing builds the bond and its members at boot any more.
pub(super) fn disable(reading: &mut Reading<'_>, bond: &Bond<'_>, draft: &Draft) {
    own(reading, bond);
    listed(reading, bond, draft);
    elsewhere(reading, bond);
    members(reading, bond);
}

/// The stanzas of the bond itself: the whole, or what became part of the team.
fn own(reading: &mut Reading<'_>, bond: &Bond<'_>) {
    let goes = |stanza: &Stanza| {
        let is_whole = stanza.options.iter().all(|line| bond.taken.contains(&line.at));
        is_whole && matches!(stanza.method.as_str(), "static" | "manual")
    };
    let staying: BTreeSet<&str> =
        bond.own.iter().filter(|stanza| !goes(stanza)).map(|stanza| stanza.device.as_str()).collect();
    for stanza in &bond.own {
        let title = stanza.title();
        let what = if goes(stanza) {
            let lines = whole(reading, stanza);
            // Another stanza of the device that stays still needs its `auto`.
            match staying.contains(stanza.device.as_str()) {
                true => format!("comment out {lines} (`{title}`)"),
                false => {
                    format!("comment out {lines} (`{title}`), and `{}` in `auto` and `allow-` lines", stanza.device)
                }
            }
        } else {
            let taken = stanza.options.iter().filter(|line| bond.taken.contains(&line.at));
            let numbers: Vec<usize> = taken.map(|line| reading.line(&line.at)).collect();
            let manual = if stanza.method == "static" && !stanza.family.is_empty() {
                " and make its method `manual`"
            } else {
                ""
            };
            match numbers.is_empty() {
                true => continue,
                false => format!("comment out {} of `{title}`{manual}; the rest stays", numbered(&numbers)),
            }
        };
        reading.disable(&stanza.head.at, what, None);
    }
}

/// The stanzas of devices that are members by the bond's own list, where they do something at boot.
fn listed(reading: &mut Reading<'_>, bond: &Bond<'_>, draft: &Draft) {
    for stanza in
        bond.listed(draft).into_iter().filter(|stanza| bond.index.automatic.has(&stanza.device) && !makes(stanza))
    {
        let acts = matches!(stanza.method.as_str(), "static" | "dhcp" | "auto" | "bootp");
        if acts || stanza.options.is_empty() {
            let (lines, title, device) = (whole(reading, stanza), stanza.title(), &stanza.device);
            let what = format!(
                "comment out {lines} (`{title}`), and `{device}` in `auto` and `allow-` lines: the team takes the device"
            );
            reading.disable(&stanza.head.at, what, None);
        }
    }
}

/// True for a stanza that makes its device, a VLAN's.
fn makes(stanza: &Stanza) -> bool {
    let id = |name: &str| name.parse::<u16>().is_ok();
    let by_name = stanza.device.rsplit_once('.').is_some_and(|(_, of)| id(of))
        || stanza.device.strip_prefix("vlan").is_some_and(id);
    by_name || stanza.has("vlan_raw_device") || stanza.has("vlan_id")
}

/// Lines of other devices that build the bond: `up ifenslave bond0 eth0`.
fn elsewhere(reading: &mut Reading<'_>, bond: &Bond<'_>) {
    let is_member = |stanza: &Stanza| master(stanza).is_some_and(|line| line.value == bond.name);
    for stanza in bond.builders.iter().filter(|stanza| !bond.is_own(&stanza.device) && !is_member(stanza)) {
        for line in stanza.options.iter().filter(|line| bond.taken.contains(&line.at)) {
            let what = format!("comment out line {} of `{}`", reading.line(&line.at), stanza.title());
            reading.disable(&line.at, what, None);
        }
    }
}

/// The lines by which members put themselves into the bond.
fn members(reading: &mut Reading<'_>, bond: &Bond<'_>) {
    for stanza in &bond.members {
        let goes = |line: &&Line| line.key().starts_with("bond_") || bond.taken.contains(&line.at);
        let lines = stanza.options.iter().filter(goes);
        let numbers: Vec<usize> = lines.map(|line| reading.line(&line.at)).collect();
        let what = format!("comment out {} of `{}`: the team takes the device", numbered(&numbers), stanza.title());
        reading.disable(&stanza.head.at, what, None);
    }
}

/// `lines 3 to 11`: those of a stanza.
fn whole(reading: &Reading<'_>, stanza: &Stanza) -> String {
    span(reading.line(&stanza.at()), stanza.last_line(reading))
}

/// `line 3`, `lines 3 to 11`.
fn span(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// `line 3`, `lines 3, 4 and 9`.
fn numbered(lines: &[usize]) -> String {
    let mut lines: Vec<usize> = lines.to_vec();
    lines.sort_unstable();
    lines.dedup();
    let names: Vec<String> = lines.iter().map(usize::to_string).collect();
    match names.split_last() {
        Some((one, [])) => format!("line {one}"),
        Some((last, others)) => format!("lines {} and {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}
