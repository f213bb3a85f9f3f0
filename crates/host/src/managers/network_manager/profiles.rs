//! NetworkManager's profiles in keyfiles.

use nicteam_formats::Place;
use nicteam_formats::settings::{self, Setting, flag};
use nicteam_wire::Mac;

use super::super::{Device, Host};

/// A profile for a device.
pub(super) struct Profile {
    pub(super) id: String,
    pub(super) place: Place,
}

const FOLDERS: [&str; 3] = [
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
    "/usr/lib/NetworkManager/system-connections",
];

/// The profile that is active on a device, by its UUID; else the one that would be activated by itself and names the device
/// most closely.
pub(super) fn of(host: &Host, device: &Device, active: Option<&str>) -> Option<Profile> {
    let paths: Vec<String> = FOLDERS.iter().flat_map(|folder| host.files(folder, "")).collect();
    let mut found: Option<(u8, Profile)> = None;
    for source in paths.iter().filter_map(|path| host.read(path)) {
        let lines = settings::key_file(&source);
        let Some(first) = lines.first() else { continue };
        let value = |section: &str, key: &str| lines.iter().find(|of| of.section == section && of.key == key);
        let is_active = active.is_some() && value("connection", "uuid").map(|of| of.value.as_str()) == active;
        let (close, by) = closeness(&lines, device);
        let rank = if is_active { 3 } else { close };
        let by = by.unwrap_or(first);
        if rank == 0 || found.as_ref().is_some_and(|(before, _)| *before >= rank) {
            continue;
        }
        let id = value("connection", "id").map_or_else(|| source.path.clone(), |of| of.value.clone());
        found = Some((rank, Profile { id, place: by.place.clone() }));
    }
    found.map(|(_, profile)| profile)
}

/// 2: it names the device; 1: it is for any Ethernet device; 0: not for this one, or not by itself. With the line that says so.
fn closeness<'a>(lines: &'a [Setting], device: &Device) -> (u8, Option<&'a Setting>) {
    let value = |sections: &[&str], key: &str| {
        lines.iter().find(|of| sections.contains(&of.section.as_str()) && of.key == key && !of.value.is_empty())
    };
    let kind = value(&["connection"], "type");
    let is_ethernet = kind.is_some_and(|of| ["ethernet", "802-3-ethernet"].contains(&of.value.as_str()));
    let by_itself = value(&["connection"], "autoconnect").is_none_or(|of| flag(&of.value) != Some(false));
    if !is_ethernet || !by_itself {
        return (0, None);
    }
    let name = value(&["connection"], "interface-name");
    let mac = value(&["ethernet", "802-3-ethernet"], "mac-address");
    let hardware = device.permanent_mac().or_else(|| device.mac());
    let fits = name.is_none_or(|of| device.is_named(&of.value))
        && mac.is_none_or(|of| of.value.parse::<Mac>().ok().is_some_and(|mac| Some(mac) == hardware));
    match (fits, name.or(mac)) {
        (false, _) => (0, None),
        (true, Some(by)) => (2, Some(by)),
        (true, None) => (1, kind),
    }
}
