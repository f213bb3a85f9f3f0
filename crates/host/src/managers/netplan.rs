//! netplan: a device that `/etc/netplan/*.yaml` names or matches is set up by systemd-networkd or NetworkManager, for which it
//! writes files at boot.

use std::ops::Range;

use nicteam_diagnostics::line_and_column;
use nicteam_formats::settings::flag;
use nicteam_formats::tree::{Entry, Node, Value};
use nicteam_formats::{Place, Source, yaml};
use nicteam_sys::pattern;
use nicteam_wire::Mac;

use super::{Claim, Device, Host, Manager, Severity};

pub(super) struct Netplan;

const NAME: &str = "netplan";
/// From the least important to the most: a file masks those of its name before it.
const FOLDERS: [&str; 3] = ["/lib/netplan", "/etc/netplan", "/run/netplan"];
/// What has a device of its own below.
const PHYSICAL: [&str; 3] = ["ethernets", "wifis", "modems"];
/// What has members.
const WITH_MEMBERS: [(&str, &str); 2] = [("bonds", "bond"), ("bridges", "bridge")];

impl Manager for Netplan {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        if !host.is_configured_by_files() {
            return Vec::new();
        }
        sources(host).iter().flat_map(|source| of_file(host, source, device)).collect()
    }
}

/// Every file that is not masked.
fn sources(host: &Host) -> Vec<Source> {
    let mut by_name = std::collections::BTreeMap::new();
    for path in FOLDERS.iter().flat_map(|folder| host.files(folder, ".yaml")) {
        by_name.insert(path.rsplit('/').next().unwrap_or_default().to_owned(), path);
    }
    by_name.values().filter_map(|path| host.read(path)).collect()
}

fn of_file(host: &Host, source: &Source, device: &Device) -> Vec<Claim> {
    // One that is no YAML stops netplan, too.
    let Ok(root) = yaml::parse(&source.text) else { return Vec::new() };
    let Some(network) = root.get("network") else { return Vec::new() };
    let mut ids = Vec::new();
    let mut claims = Vec::new();
    for kind in PHYSICAL {
        for entry in entries(network.get(kind)).filter(|entry| fits(entry, device)) {
            ids.push(entry.key.clone());
            claims.push(own_claim(host, source, entry, device));
        }
    }
    for (kind, what) in WITH_MEMBERS {
        for entry in entries(network.get(kind)) {
            let members = elements(entry.value.get("interfaces"));
            let member = members
                .iter()
                .find(|of| of.scalar().is_some_and(|name| device.is_named(name) || ids.iter().any(|id| id == name)));
            claims.extend(member.map(|member| member_claim(source, entry, member, what, device)));
        }
    }
    claims
}

/// What a definition of the device itself does.
fn own_claim(host: &Host, source: &Source, entry: &Entry, device: &Device) -> Claim {
    let does = does(&entry.value);
    let made = generated(host, &entry.key);
    let by = made.map_or_else(String::new, |path| format!(", by {path}"));
    let how = match entry.value.get("match") {
        Some(_) => format!("`{}` matches {} and", entry.key, device.name),
        None => format!("`{}`", entry.key),
    };
    Claim {
        manager: NAME,
        place: Some(place(source, &entry.key_span)),
        why: format!("{how} {}{by}", does.unwrap_or("is set up")),
        cure: cure(&source.path, &entry.key),
        severity: if does.is_some() { Severity::Refuse } else { Severity::Warn },
    }
}

/// What a bond or bridge does with the device.
fn member_claim(source: &Source, entry: &Entry, member: &Node, what: &str, device: &Device) -> Claim {
    Claim {
        manager: NAME,
        place: Some(place(source, &member.span)),
        why: format!("`{}` has {} as a member of its {what}", entry.key, device.name),
        cure: cure(&source.path, &entry.key),
        severity: Severity::Refuse,
    }
}

fn does(definition: &Node) -> Option<&'static str> {
    let is_yes = |key: &str| definition.get(key).and_then(Node::scalar).and_then(flag) == Some(true);
    if is_yes("dhcp4") || is_yes("dhcp6") {
        return Some("asks for addresses by DHCP");
    }
    let has_addresses = !elements(definition.get("addresses")).is_empty();
    has_addresses.then_some("has addresses")
}

fn cure(path: &str, id: &str) -> String {
    format!("take `{id}` out of {path} (or put `#` before its lines), then: netplan apply")
}

/// The file that netplan has written for a definition.
fn generated(host: &Host, id: &str) -> Option<String> {
    let of_networkd = format!("/run/systemd/network/10-netplan-{id}.network");
    let of_manager = format!("/run/NetworkManager/system-connections/netplan-{id}.nmconnection");
    [of_networkd, of_manager].into_iter().find(|path| host.is_there(path))
}

/// Whether a definition is of the device: by its `match`, or by its name if it has none (netplan(5), "Properties for physical
/// device types"). All that a `match` has must fit.
fn fits(entry: &Entry, device: &Device) -> bool {
    let Some(of_match) = entry.value.get("match") else { return device.is_named(&entry.key) };
    let renamed = entry.value.get("set-name").and_then(Node::scalar).is_some_and(|name| name == device.name);
    let text = |key: &str| of_match.get(key).and_then(Node::scalar);
    let name = text("name").is_none_or(|of| renamed || any_name(device, of));
    let mac = text("macaddress").is_none_or(|of| {
        let hardware = device.permanent_mac().or_else(|| device.mac());
        of.parse::<Mac>().ok().is_some_and(|mac| Some(mac) == hardware)
    });
    let drivers: Vec<&str> = match of_match.get("driver") {
        Some(Node { value: Value::List(of), .. }) => of.iter().filter_map(Node::scalar).collect(),
        other => other.and_then(Node::scalar).into_iter().collect(),
    };
    let driver = drivers.is_empty() || drivers.iter().any(|of| pattern::fits(of, &device.driver));
    name && mac && driver
}

fn any_name(device: &Device, of: &str) -> bool {
    std::iter::once(&device.name).chain(&device.alternative_names).any(|name| pattern::fits(of, name))
}

fn entries(node: Option<&Node>) -> impl Iterator<Item = &Entry> {
    let entries = match node {
        Some(Node { value: Value::Map(entries), .. }) => entries.as_slice(),
        _ => &[],
    };
    // `renderer: networkd` is no definition.
    entries.iter().filter(|entry| !matches!(entry.value.value, Value::Scalar(_)))
}

fn elements(node: Option<&Node>) -> &[Node] {
    match node {
        Some(Node { value: Value::List(elements), .. }) => elements,
        _ => &[],
    }
}

fn place(source: &Source, span: &Range<usize>) -> Place {
    let (line, column) = line_and_column(&source.text, span);
    Place { path: source.path.clone(), line, column }
}
