//! ifupdown: stanzas of `/etc/network/interfaces` (interfaces(5)) that concern a device, and what is up by it now.

use nicteam_formats::ifupdown::{Definition, Interfaces, Sourced, sourced};
use nicteam_formats::{Source, quoted};
use nicteam_sys::pattern;

use super::{Claim, Device, Host, Manager, Severity};

pub(super) struct Ifupdown;

const NAME: &str = "ifupdown";
const FILE: &str = "/etc/network/interfaces";
/// What is up by it: `eth0=eth0`.
const STATE: &str = "/run/network/ifstate";
/// Files that name each other end here.
const DEEPEST: usize = 8;

impl Manager for Ifupdown {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        if !host.is_configured_by_files() {
            return Vec::new();
        }
        let interfaces = read(host);
        let is_automatic = interfaces.is_automatic(&device.name);
        let is_up_now = is_up(host, &device.name);
        let (own, others): (Vec<&Definition>, Vec<_>) =
            interfaces.definitions.iter().partition(|of| of.device == device.name);
        let claims = own.into_iter().filter_map(|of| claim(of, is_automatic, is_up_now));
        // One that is neither up nor comes up by itself builds nothing.
        let is_active = |owner: &str| interfaces.is_automatic(owner) || is_up(host, owner);
        let others = others.into_iter().filter(|of| is_active(&of.device));
        claims.chain(others.filter_map(|of| claim_on_member(of, device))).collect()
    }
}

/// True if a stanza is for the device.
pub(super) fn names(host: &Host, device: &Device) -> bool {
    read(host).definitions.iter().any(|of| device.is_named(&of.device))
}

/// What a stanza does with the device that it is for.
fn claim(of: &Definition, is_automatic: bool, is_up: bool) -> Option<Claim> {
    let name = &of.device;
    if !is_automatic && !is_up {
        return None;
    }
    let does = match (&of.bond, of.method.as_str()) {
        (Some(bond), _) => format!("puts it into the bond {bond}"),
        (None, method @ ("dhcp" | "bootp" | "auto")) => format!("gets it an address (`{method}`)"),
        (None, "static" | "v4tunnel" | "tunnel" | "wvdial" | "ppp") => "gives it an address".to_owned(),
        (None, "loopback") => return None,
        (None, "") if of.has_address => "gives it an address".to_owned(),
        _ => "sets it up".to_owned(),
    };
    let is_idle = of.method == "manual" || of.method.is_empty() && !of.has_address;
    let is_harmless = of.bond.is_none() && is_idle;
    let when = match (is_up, is_automatic) {
        (true, true) => "now and at boot",
        (true, false) => "now",
        (false, _) => "at boot",
    };
    let down = if is_up { format!("ifdown --force {}\n", quoted(name)) } else { String::new() };
    Some(Claim {
        manager: NAME,
        place: Some(of.place.clone()),
        why: format!("a stanza `iface {name}` {does}, {when}"),
        cure: format!(
            "{down}comment out {} of {}, and {name} in its `auto` and `allow-hotplug` lines",
            lines(of),
            of.place.path
        ),
        severity: if is_harmless { Severity::Warn } else { Severity::Refuse },
    })
}

/// What a stanza of another device does with this one.
fn claim_on_member(of: &Definition, device: &Device) -> Option<Claim> {
    let owner = &of.device;
    let list = of.lists.iter().find(|list| list.takes(&device.name))?;
    let what = if list.is_bridge { "bridge" } else { "bond" };
    Some(Claim {
        manager: NAME,
        place: Some(list.place.clone()),
        why: format!("`iface {owner}` makes {} a member of its {what}", device.name),
        cure: format!(
            "ifdown {owner}\ncomment out {} of {}, and {owner} in its `auto` lines",
            lines(of),
            of.place.path
        ),
        severity: Severity::Refuse,
    })
}

/// `line 3`, `lines 3 to 9`: those of a stanza.
fn lines(of: &Definition) -> String {
    let (first, last) = (of.place.line, of.last_line);
    if last == first { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn is_up(host: &Host, name: &str) -> bool {
    let state = host.read(STATE);
    let mut lines = state.iter().flat_map(|of| of.text.lines());
    lines.any(|line| line.split_once('=').is_some_and(|(device, _)| device == name))
}

/// What the file says, and those that it names.
fn read(host: &Host) -> Interfaces {
    let mut sources = Vec::new();
    collect(host, FILE, 0, &mut sources);
    Interfaces::read(&sources)
}

/// A file and those that it names, in the order in which they are named.
fn collect(host: &Host, path: &str, depth: usize, sources: &mut Vec<Source>) {
    let Some(source) = host.read(path) else { return };
    let named = sourced(&source);
    sources.push(source);
    if depth == DEEPEST {
        return;
    }
    let paths = named.iter().flat_map(|named| match named {
        Sourced::Files(pattern) => glob(host, pattern, path),
        Sourced::Folder(folder) => directory(host, folder, path),
    });
    paths.for_each(|path| collect(host, &path, depth + 1, sources));
}

/// Files by a pattern; one that is not absolute counts from the folder of the file that names it.
fn glob(host: &Host, named: &str, by: &str) -> Vec<String> {
    let path = absolute(named, by);
    let Some((folder, name)) = path.rsplit_once('/') else { return Vec::new() };
    let names = host.names(folder).into_iter().filter(|of| pattern::fits(name, of) && !of.starts_with('.'));
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Files of a folder whose names are made of letters, digits, `_` and `-` alone.
fn directory(host: &Host, named: &str, by: &str) -> Vec<String> {
    let folder = absolute(named, by);
    let is_plain = |name: &String| name.chars().all(|of| of.is_ascii_alphanumeric() || ['_', '-'].contains(&of));
    host.names(&folder).into_iter().filter(is_plain).map(|name| format!("{folder}/{name}")).collect()
}

fn absolute(named: &str, by: &str) -> String {
    if named.starts_with('/') {
        return named.trim_end_matches('/').to_owned();
    }
    let folder = by.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/{}", named.trim_end_matches('/'))
}
