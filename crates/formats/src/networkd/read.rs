//! Files -> teams, what stays, and what to switch off.

use nicteam_diagnostics::{Diagnostics, nearest};
use nicteam_drafts::OnceEach;
use nicteam_drafts::Reading;
use nicteam_drafts::Teams;
use nicteam_drafts::draft::{Draft, signless};
use nicteam_drafts::names::{fits, shown};
use nicteam_drafts::{Address, Import, Route};
use nicteam_syntax::At;
use nicteam_syntax::Source;
use nicteam_syntax::ini::{self, Entry, Flavour, Ini, Section, flag};
use nicteam_syntax::shell::quoted;

use super::keys::{KEYS, Unit};
use super::time;

const STAYS: &str = "it stays in the old place: its file works on the team's device as on a bond's";

pub(super) fn read(sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
    let mut reading = Reading::new(sources);
    let files = read_files(&mut reading);
    let is_bond = |file: &&File| file.ini.last("NetDev", "Kind").is_some_and(|kind| kind.value == "bond");
    let mut drafts = Vec::new();
    for file in files.iter().filter(is_bond) {
        drafts.extend(read_netdev(&mut reading, file));
    }
    for draft in &mut drafts {
        if let Some(file) = file_of(&mut reading, &files, &draft.name) {
            read_network(&mut reading, file, draft);
        }
    }
    for file in &files {
        read_member(&mut reading, file, &mut drafts);
    }
    Teams::of(reading, drafts).with_members(members).finish()
}

/// A file.
struct File {
    source: usize,
    /// With what its drop-ins add.
    ini: Ini,
}

fn read_files(reading: &mut Reading<'_>) -> Vec<File> {
    let (mut files, mut drop_ins) = (Vec::new(), Vec::new());
    for (source, text) in reading.sources().iter().enumerate() {
        let ini = ini::read(source, &text.text, Flavour::Systemd);
        let concerns = |section: &Section| section.name != "Match" && section.name != "Link";
        if ini.sections.iter().any(concerns) {
            for (at, why) in &ini.strays {
                reading.left(at, None, format!("systemd ignores this line: {why}"));
            }
        }
        match drop_in_of(&text.path) {
            Some(name) => drop_ins.push((name, source, ini)),
            None => files.push(File { source, ini }),
        }
    }
    // As systemd: by their own names, whatever folder they are in.
    drop_ins.sort_by_key(|(_, source, _)| file_name(&reading.sources()[*source].path).to_owned());
    for (name, source, ini) in drop_ins {
        let is_whole = |file: &&mut File| file_name(&reading.sources()[file.source].path) == name;
        match files.iter_mut().find(is_whole) {
            Some(file) => file.ini.sections.extend(ini.sections),
            None => {
                let at = At::new(source, 0..first_line(&reading.sources()[source].text));
                reading.left(
                    &at,
                    None,
                    format!("a drop-in of {}, which is not among these: name that, too", shown(&name)),
                );
            }
        }
    }
    files
}

/// The file that a drop-in adds to: `10-bond0.network` of `10-bond0.network.d/x.conf`.
pub(super) fn drop_in_of(path: &str) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    let whole = file_name(folder).strip_suffix(".d")?;
    let is_one = file.ends_with(".conf") && [".netdev", ".network"].iter().any(|end| whole.ends_with(end));
    is_one.then(|| whole.to_owned())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn first_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn path(reading: &Reading<'_>, file: &File) -> String {
    reading.sources().get(file.source).map(|source| source.path.clone()).unwrap_or_default()
}

/// A file is out of the way under another name: networkd reads `.netdev` and `.network` alone.
fn put_aside(reading: &mut Reading<'_>, file: &File, at: &At, what: &str) {
    let path = path(reading, file);
    let command = (path != "-").then(|| format!("mv {} {}", quoted(&path), quoted(&format!("{path}.off"))));
    reading.disable(at, format!("put the file aside ({what}), then `networkctl reload`"), command);
}

fn read_netdev(reading: &mut Reading<'_>, file: &File) -> Option<Draft> {
    let kind_at = file.ini.last("NetDev", "Kind").map(|kind| kind.at.clone())?;
    let Some(name) = file.ini.last("NetDev", "Name") else {
        reading.wrong(&kind_at, "a device without a name", "add `Name=bond0` to [NetDev]");
        return None;
    };
    let mut draft = Draft::new(&name.value, name.value_at.clone());
    let shown_name = shown(&name.value);
    draft.members_hint =
        format!("its members' `.network` files say `Bond={shown_name}` in [Network]: name these files, too");
    for section in &file.ini.sections {
        for entry in &section.entries {
            match (section.name.as_str(), entry.key.as_str()) {
                ("NetDev", "Name" | "Kind" | "Description") => {}
                ("NetDev", "MTUBytes") => read_mtu(reading, &mut draft, entry),
                ("NetDev", "MACAddress") if entry.value != "none" => {
                    draft.set_mac(reading, &entry.value, &entry.value_at);
                }
                ("Bond", key) => read_option(reading, &mut draft, key, entry),
                ("Match", _) => {
                    leave(reading, &draft, entry, "a team of /etc/nicteam comes up on every host that has the file")
                }
                _ => leave(reading, &draft, entry, "nicteam has nothing for it"),
            }
        }
    }
    put_aside(reading, file, &name.at, &format!("it makes {}", shown(&name.value)));
    Some(draft)
}

fn leave(reading: &mut Reading<'_>, draft: &Draft, entry: &Entry, why: impl Into<String>) {
    reading.left(&entry.at, Some(&draft.name), why);
}

/// Bytes, perhaps with a unit of 1024: without one.
fn bytes(text: &str) -> String {
    let kilo = text.strip_suffix(['K', 'k']).and_then(|kilo| kilo.trim().parse::<u32>().ok());
    kilo.and_then(|kilo| kilo.checked_mul(1024)).map_or_else(|| text.to_owned(), |bytes| bytes.to_string())
}

fn read_mtu(reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
    draft.set_mtu(reading, &bytes(&entry.value), &entry.value_at);
}

fn is_off(entry: &Entry) -> bool {
    flag(&entry.value) == Some(false) || entry.value == "none"
}

fn read_option(reading: &mut Reading<'_>, draft: &mut Draft, key: &str, entry: &Entry) {
    let Some((_, option, unit)) = KEYS.iter().find(|(name, ..)| *name == key) else {
        let near = nearest(key, KEYS.iter().map(|(name, ..)| *name));
        let near = near.map(|near| format!("; did you mean `{near}=`?")).unwrap_or_default();
        return leave(reading, draft, entry, format!("no key of [Bond] in systemd 256{near}"));
    };
    // An empty value is the default again.
    if entry.value.is_empty() {
        return;
    }
    let time = |number: Option<u64>| {
        number.map(|number| number.to_string()).ok_or(("is no span of time", "for example `100ms` or `1s`"))
    };
    let value = match unit {
        Unit::Same => Ok(entry.value.clone()),
        Unit::Milliseconds => time(time::milliseconds(&entry.value)),
        Unit::Seconds => time(time::whole_seconds(&entry.value)),
        Unit::Flag => {
            flag(&entry.value).map(|on| u8::from(on).to_string()).ok_or(("is neither yes nor no", "`yes` or `no`"))
        }
        Unit::Addresses => {
            let separators = |c: char| c.is_whitespace() || c == ',';
            let addresses: Vec<&str> = entry.value.split(separators).filter(|word| !word.is_empty()).collect();
            // Given again, they are more.
            let before = draft.value(option).filter(|before| !before.is_empty()).map(|before| format!("{before},"));
            Ok(signless(&format!("{}{}", before.unwrap_or_default(), addresses.join(","))))
        }
    };
    match value {
        Ok(value) if *unit == Unit::Addresses => {
            draft.extend_option(reading, option, &value, &entry.key_at, &entry.value_at)
        }
        Ok(value) => draft.option(reading, option, &value, &entry.key_at, &entry.value_at),
        Err((what, hint)) => reading.wrong(&entry.value_at, format!("`{}` {what}", shown(&entry.value)), hint),
    }
}

/// The device names that a file is for, if it says them.
fn names(file: &File) -> Vec<(String, At)> {
    let entries = file.ini.entries("Match").filter(|entry| entry.key == "Name");
    entries.flat_map(|entry| ini::words(&entry.value).into_iter().map(|word| (word, entry.value_at.clone()))).collect()
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '!'])
}

/// `Bond=` puts the devices of a file into a bond.
fn read_member(reading: &mut Reading<'_>, file: &File, drafts: &mut [Draft]) {
    let Some(bond) = file.ini.last("Network", "Bond").filter(|bond| !bond.value.is_empty()) else { return };
    let Some(draft) = drafts.iter_mut().find(|draft| draft.name == bond.value) else {
        let message = format!("no `.netdev` of these makes `{}`", shown(&bond.value));
        let near = nearest(&bond.value, drafts.iter().map(|draft| draft.name.as_str())).map(str::to_owned);
        return match drafts.iter_mut().find(|draft| Some(&draft.name) == near.as_ref()) {
            Some(near) => {
                let hint = format!("did you mean `{}`?", near.name);
                near.wrong_member(reading, &bond.value_at, message, hint);
            }
            None => reading.wrong(&bond.value_at, message, "name its file beside this one"),
        };
    };
    let names = names(file);
    let others = file.ini.entries("Match").filter(|entry| entry.key != "Name");
    if names.is_empty() {
        let at = others.map(|entry| entry.at.clone()).next().unwrap_or_else(|| bond.at.clone());
        let hint = "add `Name=eth1 eth2` to [Match]: a team's members are named";
        let message = format!("only its machine knows which devices are in {}", shown(&draft.name));
        return draft.wrong_member(reading, &at, message, hint);
    }
    for entry in others {
        leave(reading, draft, entry, "a team's members are known by their names alone");
    }
    for (name, at) in &names {
        if is_pattern(name) {
            let hint = "name the devices: `Name=eth1 eth2`";
            let message = format!("only its machine knows which devices `{}` are", shown(name));
            draft.wrong_member(reading, at, message, hint);
        } else {
            draft.member(reading, name, at);
        }
    }
    read_members_keys(reading, file, draft, &names);
    let what = format!(
        "in place of line {} write `Unmanaged=yes` into a section [Link], so that networkd leaves the members alone",
        reading.line(&bond.at)
    );
    reading.disable(&bond.at, what, None);
}

fn read_members_keys(reading: &mut Reading<'_>, file: &File, draft: &mut Draft, names: &[(String, At)]) {
    for section in file.ini.sections.iter().filter(|section| section.name != "Match") {
        for entry in &section.entries {
            let option = match (section.name.as_str(), entry.key.as_str()) {
                ("Network", "Bond" | "Description") => continue,
                ("Network", "PrimarySlave") => "primary",
                ("Network", "ActiveSlave") => "active_slave",
                // No addresses of its own, which a member has not.
                ("Network", "DHCP" | "IPv6AcceptRA" | "LinkLocalAddressing" | "LLDP") if is_off(entry) => continue,
                ("Link", "MTUBytes") if draft.has_mtu(&bytes(&entry.value)) => continue,
                ("Link", "MTUBytes") => {
                    leave(reading, draft, entry, "members have the MTU of their team");
                    continue;
                }
                ("Address" | "Route", _) | ("Network", "Address" | "Gateway" | "DHCP") => {
                    leave(reading, draft, entry, "a member has no addresses of its own: they are the team's");
                    continue;
                }
                _ => {
                    leave(reading, draft, entry, "it is the member's own, and a team has nothing for it");
                    continue;
                }
            };
            match (flag(&entry.value), names) {
                (Some(true), [(name, _)]) => draft.option(reading, option, name, &entry.key_at, &entry.value_at),
                (Some(false), _) => {}
                _ => leave(reading, draft, entry, "it does not say which device"),
            }
        }
    }
}

/// The file that is for a bond: of those that fit the one whose name is the first. Others that name it are told.
fn file_of<'f>(reading: &mut Reading<'_>, files: &'f [File], bond: &str) -> Option<&'f File> {
    let sources = reading.sources();
    let name = |file: &&File| file_name(&sources[file.source].path);
    let mut fitting: Vec<&File> = files.iter().filter(|file| is_for(file, bond)).collect();
    fitting.sort_by_key(name);
    let (first, others) = fitting.split_first()?;
    for other in others {
        if let Some((_, at)) = names(other).iter().find(|(name, _)| name == bond) {
            let why = format!("networkd takes {} for {}, and not this file", name(first), shown(bond));
            reading.left(at, Some(bond), why);
        }
    }
    Some(first)
}

/// True if the `[Match]` of a file fits a bond of this name, as far as a file tells.
fn is_for(file: &File, bond: &str) -> bool {
    let names: Vec<String> = names(file).into_iter().map(|(name, _)| name).collect();
    let kinds = || file.ini.entries("Match").filter(|entry| matches!(entry.key.as_str(), "Kind" | "Type"));
    match names.first().map(|first| (first, first.strip_prefix('!'))) {
        None => kinds().any(|entry| ini::words(&entry.value).iter().any(|kind| fits("bond", kind))),
        // `!` stands ahead of the whole line.
        Some((_, Some(first))) => !fits(bond, first) && !names[1..].iter().any(|name| fits(bond, name)),
        Some(_) => names.iter().any(|name| fits(bond, name)),
    }
}

/// What a file says of a bond's own device, or of what is on top.
fn read_network(reading: &mut Reading<'_>, file: &File, draft: &mut Draft) {
    let mut stays = Vec::new();
    let mut taken = Vec::new();
    for section in &file.ini.sections {
        match section.name.as_str() {
            "Match" => {}
            "Route" => match read_route(reading, draft, section) {
                true => taken.push(section.at.clone()),
                false => stays.push(section.at.clone()),
            },
            "Address" => read_address(reading, draft, section, &mut taken, &mut stays),
            "Network" | "Link" => {
                for entry in &section.entries {
                    match read_entry(reading, draft, section, entry) {
                        // What stays needs it, too.
                        true if entry.key == "IPv6AcceptRA" => {}
                        true => taken.push(entry.at.clone()),
                        false => stays.push(entry.at.clone()),
                    }
                }
            }
            _ => {
                reading.left(&section.at, Some(&draft.name), STAYS);
                stays.push(section.at.clone());
            }
        }
    }
    let at = file.ini.sections.first().map_or_else(|| At::new(file.source, 0..0), |section| section.at.clone());
    let is_for_others = names(file).iter().any(|(name, _)| *name != draft.name);
    if stays.is_empty() && !is_for_others {
        return put_aside(reading, file, &at, &format!("it configures {}", shown(&draft.name)));
    }
    let has_own = !draft.addresses.is_empty() || !draft.routes.is_empty();
    let mut what = Vec::new();
    if !taken.is_empty() {
        let line = |at: &At| {
            if at.source == file.source { reading.line(at).to_string() } else { reading.place(at).to_string() }
        };
        let lines: Vec<String> = taken.iter().map(line).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        what.push(format!("take out {word} {}, which the team has now; the rest stays", lines.join(", ")));
    }
    if has_own && file.ini.last("Network", "KeepConfiguration").is_none_or(|keep| flag(&keep.value) != Some(true)) {
        what.push(format!(
            "write `KeepConfiguration=yes` into [Network], or networkd removes the addresses that {} has of its own file",
            shown(&draft.name)
        ));
    }
    if !what.is_empty() {
        reading.disable(&at, what.join("; "), None);
    }
}

/// A line of [Network] or [Link]; true if the team has it now.
fn read_entry(reading: &mut Reading<'_>, draft: &mut Draft, section: &Section, entry: &Entry) -> bool {
    match (section.name.as_str(), entry.key.as_str()) {
        ("Network", "Address") if entry.value.is_empty() => draft.addresses = OnceEach::default(),
        ("Network", "Address") => add_address(reading, draft, entry),
        ("Network", "Gateway") if entry.value.parse::<std::net::IpAddr>().is_ok() => {
            match Route::parse(&format!("default via {}", entry.value)) {
                Ok(words) => draft.add_route(words.route),
                Err(error) => reading.wrong(&entry.value_at, error.to_string(), error.hint()),
            }
        }
        ("Network", "Gateway") if !entry.value.starts_with('_') => {
            let message = format!("`{}` is no IP address", shown(&entry.value));
            reading.wrong(&entry.value_at, message, "a gateway is an address: `10.0.0.254`");
        }
        ("Network", "IPv6AcceptRA") if flag(&entry.value) == Some(false) => draft.accept_ra = Some(0),
        ("Network", "DHCP") if is_off(entry) => {}
        ("Network", "DHCP") => {
            leave(reading, draft, entry, format!("DHCP: {STAYS}"));
            return false;
        }
        ("Network", "Description") => {}
        ("Network", "VLAN" | "Bridge" | "MACVLAN" | "MACVTAP" | "IPVLAN" | "IPVTAP" | "VXLAN" | "Tunnel" | "VRF") => {
            leave(reading, draft, entry, format!("a device on the team: {STAYS}"));
            return false;
        }
        ("Link", "MTUBytes") => read_mtu(reading, draft, entry),
        ("Link", "MACAddress") => draft.set_mac(reading, &entry.value, &entry.value_at),
        _ => {
            leave(reading, draft, entry, STAYS);
            return false;
        }
    }
    true
}

fn add_address(reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
    // Without a length it is the address alone.
    match entry.value.parse() {
        Ok(address) => draft.add_address(Address::host(address)),
        Err(_) => draft.address(reading, &entry.value, &entry.value_at),
    }
}

fn read_address(
    reading: &mut Reading<'_>,
    draft: &mut Draft,
    section: &Section,
    taken: &mut Vec<At>,
    stays: &mut Vec<At>,
) {
    for entry in &section.entries {
        if entry.key == "Address" {
            add_address(reading, draft, entry);
            taken.push(entry.at.clone());
        } else {
            leave(reading, draft, entry, "the address is taken over without it");
            stays.push(entry.at.clone());
        }
    }
}

/// A [Route]; true if the team has it now.
fn read_route(reading: &mut Reading<'_>, draft: &mut Draft, section: &Section) -> bool {
    let mut words = Vec::new();
    let (mut to, mut via, mut ignored) = (None, None, Vec::new());
    for entry in section.entries.iter().filter(|entry| !entry.value.is_empty()) {
        match entry.key.as_str() {
            "Destination" => to = Some(entry),
            "Gateway" if entry.value.starts_with('_') => {
                reading.left(&entry.at, Some(&draft.name), format!("a gateway that DHCP or a router tells: {STAYS}"));
                return false;
            }
            "Gateway" => via = Some(entry),
            "Metric" => words.push(format!("metric {}", entry.value)),
            "Table" => words.push(format!("table {}", entry.value)),
            "GatewayOnLink" | "GatewayOnlink" => {
                words.extend((flag(&entry.value) == Some(true)).then(|| "onlink".to_owned()))
            }
            "Type" if entry.value == "unicast" => {}
            "Scope"
            | "Protocol"
            | "PreferredSource"
            | "IPv6Preference"
            | "QuickAck"
            | "MTUBytes"
            | "InitialCongestionWindow"
            | "InitialAdvertisedReceiveWindow"
            | "FastOpenNoCookie"
            | "TCPAdvertisedMaximumSegmentSize" => ignored.push(entry),
            _ => {
                reading.left(
                    &entry.at,
                    Some(&draft.name),
                    format!("no team's route has `{}=`: {STAYS}", shown(&entry.key)),
                );
                return false;
            }
        }
    }
    let destination = match (to, via) {
        (None, None) => {
            reading.left(&section.at, Some(&draft.name), "neither a destination nor a gateway: networkd ignores it");
            return false;
        }
        // networkd takes the network that an address is in.
        (Some(to), _) => to.value.parse::<Address>().map_or_else(|_| to.value.clone(), |to| to.network().to_string()),
        (None, Some(_)) => "default".to_owned(),
    };
    let via = via.map(|via| format!(" via {}", via.value)).unwrap_or_default();
    match Route::parse(&format!("{destination}{via} {}", words.join(" "))) {
        Ok(read) => read.routes().into_iter().for_each(|route| draft.add_route(route)),
        Err(error) => reading.wrong(&section.at, error.to_string(), error.hint()),
    }
    for entry in ignored {
        leave(reading, draft, entry, "the route is taken over without it");
    }
    true
}
