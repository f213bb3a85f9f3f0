//! NetworkManager's profiles: `*.nmconnection` of `/etc/NetworkManager/system-connections`.
//!
//! After NetworkManager 1.42 (`nm-settings-keyfile(5)`, `nm-settings-nmcli(5)`), and the names of 1.46 for the same
//! (`controller`, `port-type`). Its bonds have the kernel's options, and read carrier each 100 ms if nothing is said, as ours.

mod ip;

use nicteam_diagnostics::{Diagnostics, Problem};
use nicteam_drafts::Format;
use nicteam_drafts::Import;
use nicteam_drafts::Reading;
use nicteam_drafts::Teams;
use nicteam_drafts::draft::{Draft, signless};
use nicteam_drafts::names::shown;
use nicteam_options::ConfigOption;
use nicteam_syntax::At;
use nicteam_syntax::ini::{self, Entry, Flavour, Ini};
use nicteam_syntax::shell::quoted;
use nicteam_syntax::tree::{Node, Value};
use nicteam_syntax::{Source, json};

use crate::teamd::{self, Port};

/// NetworkManager's profiles.
pub struct KeyFile;

/// The metric that NetworkManager gives a bond's routes where none is configured (`nm_device_get_route_metric_default`).
pub(crate) const BONDS_METRIC: u32 = 300;
/// The same of a team of teamd's.
const TEAMS_METRIC: u32 = 350;

impl Format for KeyFile {
    fn name(&self) -> &'static str {
        "keyfile"
    }

    fn title(&self) -> &'static str {
        "NetworkManager's profiles (/etc/NetworkManager/system-connections/*.nmconnection)"
    }

    fn recognises(&self, source: &Source) -> bool {
        source.path.ends_with(".nmconnection") || source.text.lines().any(|line| line.trim() == "[connection]")
    }

    fn read_with(&self, sources: &[Source], members: &[String]) -> Result<Import, Diagnostics> {
        let mut teams = Teams::new(sources).with_members(members);
        let profiles = read_profiles(&mut teams.reading);
        let mut bonds: Vec<Bond<'_>> = Vec::new();
        for profile in profiles.iter().filter(|profile| matches!(profile.kind(), "bond" | "team")) {
            bonds.extend(read_bond(&mut teams, profile));
        }
        for profile in &profiles {
            read_port(&mut teams, profile, &mut bonds);
            on_top(&mut teams.reading, profile, &bonds);
        }
        for Bond { team, profile, ports } in &bonds {
            teamd::prefer(&mut teams, *team, ports);
            let draft = &teams.drafts[*team];
            if !draft.members.is_empty() {
                let what = format!("the {} `{}`", profile.kind(), shown(&draft.name));
                profile.disable(&mut teams.reading, &what);
            }
        }
        teams.finish()
    }
}

/// A bond, or a team of teamd's.
struct Bond<'p> {
    /// Its place among the teams.
    team: usize,
    profile: &'p Profile,
    /// Its ports, as teamd's configuration has them.
    ports: Vec<Port>,
}

impl Bond<'_> {
    /// True if a profile means it by this word: its device's name, or its UUID.
    fn is_meant(&self, word: &str) -> bool {
        self.profile.device().is_some_and(|device| device.value == word) || self.profile.value("uuid") == word
    }
}

/// A profile.
struct Profile {
    ini: Ini,
    at: At,
}

impl Profile {
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.ini.last("connection", key)
    }

    /// A key of [connection]; empty if it is not there.
    fn value(&self, key: &str) -> &str {
        self.entry(key).map_or("", |entry| entry.value.as_str())
    }

    fn kind(&self) -> &str {
        self.value("type")
    }

    /// Of routes that have none.
    fn metric(&self) -> u32 {
        if self.kind() == "team" { TEAMS_METRIC } else { BONDS_METRIC }
    }

    /// The name of its device.
    fn device(&self) -> Option<&Entry> {
        let own = || ["bond", "team"].iter().find_map(|section| self.ini.last(section, "interface-name"));
        self.entry("interface-name").or_else(own)
    }

    /// The bond, bridge or team that it is a port of.
    fn controller(&self) -> Option<&Entry> {
        self.entry("controller").or_else(|| self.entry("master")).filter(|entry| !entry.value.is_empty())
    }

    fn port_type(&self) -> &str {
        self.entry("port-type").or_else(|| self.entry("slave-type")).map_or("", |entry| entry.value.as_str())
    }

    /// NetworkManager is not to bring it up any more.
    fn disable(&self, reading: &mut Reading<'_>, what: &str) {
        let id = ["uuid", "id"].iter().map(|key| self.value(key)).find(|value| !value.is_empty());
        let command = id.map(|id| format!("nmcli connection modify {} connection.autoconnect no", quoted(id)));
        reading.disable(&self.at, format!("set `autoconnect=false` in the profile of {what}"), command);
    }
}

impl Profile {
    /// NetworkManager is to make its device, and to put it into nothing.
    fn release(&self, reading: &mut Reading<'_>, what: &str) {
        let id = ["uuid", "id"].iter().map(|key| self.value(key)).find(|value| !value.is_empty());
        let command = id
            .map(|id| format!("nmcli connection modify {} connection.master '' connection.slave-type ''", quoted(id)));
        reading.disable(
            &self.at,
            format!("take {what} out of the bond: its profile stays, for it makes the device"),
            command,
        );
    }
}

fn read_profiles(reading: &mut Reading<'_>) -> Vec<Profile> {
    let mut profiles = Vec::new();
    for (source, text) in reading.sources().iter().enumerate() {
        let ini = ini::read(source, &text.text, Flavour::KeyFile);
        for (at, why) in &ini.strays {
            reading.wrong(at, format!("NetworkManager refuses the file: {why}"), "correct the line, or remove it");
        }
        let at = ini.sections.first().map_or_else(|| At::new(source, 0..0), |section| section.at.clone());
        profiles.push(Profile { ini, at });
    }
    profiles
}

fn leave(reading: &mut Reading<'_>, draft: &Draft, entry: &Entry, why: impl Into<String>) {
    reading.left(&entry.at, Some(&draft.name), why);
}

fn read_bond<'p>(teams: &mut Teams<'_>, profile: &'p Profile) -> Option<Bond<'p>> {
    let Some(name) = profile.device() else {
        let message = format!("a {} without a name of its device", profile.kind());
        teams.reading.wrong(&profile.at, message, format!("add `interface-name={}0` to [connection]", profile.kind()));
        return None;
    };
    let mut draft = Draft::new(&name.value, name.value_at.clone());
    draft.members_hint =
        "its ports have profiles of their own: name the folder that they are in, /etc/NetworkManager/system-connections, \
         or its members by `--members`"
            .to_owned();
    teams.drafts.push(draft);
    let team = teams.drafts.len() - 1;
    let mut bond = Bond { team, profile, ports: Vec::new() };
    if profile.kind() == "team" {
        match configuration(&teams.reading, profile, "team")
            .and_then(|root| teamd::configuration(teams, team, profile.at.source, &root))
        {
            Ok(ports) => bond.ports = ports,
            Err(problem) => teams.problem(profile.at.source, problem),
        }
    }
    let Teams { reading, drafts, .. } = teams;
    let draft = &mut drafts[team];
    for section in &profile.ini.sections {
        for entry in &section.entries {
            match section.name.as_str() {
                "connection" => read_connection(reading, draft, entry),
                "bond" => read_option(reading, draft, entry),
                "team" if matches!(entry.key.as_str(), "config" | "interface-name") => {}
                // Of a key that is given twice the last one holds.
                name @ ("ethernet" | "802-3-ethernet") => {
                    if profile.ini.last(name, &entry.key).is_some_and(|last| last.at == entry.at) {
                        read_ethernet(reading, draft, entry);
                    }
                }
                "ipv4" | "ipv6" => {}
                // Other programs' notes.
                "user" => {}
                "proxy" if entry.key == "method" && matches!(entry.value.as_str(), "0" | "none") => {}
                _ => leave(reading, draft, entry, "nicteam has nothing for it"),
            }
        }
    }
    if let Some(entry) = profile.ini.last("bond", "balance-slb") {
        draft.balance_slb(reading, &entry.value, &entry.at);
    }
    match profile.controller() {
        // A port has no addresses.
        Some(controller) => {
            let why = "what the bond is a port of stays in the old place: it takes the team as it took the bond";
            leave(reading, draft, controller, why);
        }
        None => ip::read(reading, draft, (&profile.ini, &profile.at), profile.metric()),
    }
    Some(bond)
}

/// teamd's JSON in a section; nothing if it is not there.
fn configuration(reading: &Reading<'_>, profile: &Profile, section: &str) -> Result<Node, Problem> {
    let nothing = Node { value: Value::Null, span: profile.at.span() };
    let entry = profile.ini.last(section, "config").filter(|entry| !entry.value.is_empty());
    entry.map_or(Ok(nothing), |entry| {
        let value = ini::unescaped(reading.text(&entry.value_at), entry.value_at.start);
        json::parse_embedded(&value.text, &value.spans)
    })
}

fn read_connection(reading: &mut Reading<'_>, draft: &Draft, entry: &Entry) {
    if entry.key == "autoconnect" && ini::key_file_flag(&entry.value) == Some(false) {
        return leave(reading, draft, entry, "a team of /etc/nicteam comes up with the machine");
    }
    let is_known = matches!(
        entry.key.as_str(),
        "id" | "uuid"
            | "type"
            | "interface-name"
            | "timestamp"
            | "autoconnect"
            | "autoconnect-slaves"
            | "autoconnect-ports"
            | "autoconnect-priority"
            | "autoconnect-retries"
            | "controller"
            | "master"
            | "port-type"
            | "slave-type"
            | "permissions"
    );
    if !is_known {
        leave(reading, draft, entry, "it is NetworkManager's");
    }
}

fn read_option(reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
    if entry.key == "interface-name" || entry.value.is_empty() {
        return;
    }
    match ConfigOption::named(&entry.key) {
        Some(option) => {
            draft.option(reading, option.name, &signless(&entry.value), &entry.key_at, &entry.value_at);
        }
        // Behind the others.
        None if entry.key == "balance-slb" => {}
        None => {
            let near = ConfigOption::nearest(&entry.key).map(|near| format!("; did you mean `{}`?", near.name));
            leave(reading, draft, entry, format!("no option of bonding has this name{}", near.unwrap_or_default()));
        }
    }
}

fn read_ethernet(reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
    match entry.key.as_str() {
        "mtu" if entry.value == "0" => {}
        "mtu" => draft.set_mtu(reading, &entry.value, &entry.value_at),
        "cloned-mac-address" if entry.value.contains([':', '-', ';']) => {
            draft.set_mac(reading, &colons(&entry.value), &entry.value_at);
        }
        _ => leave(reading, draft, entry, "nicteam has nothing for it"),
    }
}

/// A MAC address as we have it: NetworkManager takes `02-00-00-00-00-01`, too, and old profiles have `2;0;0;0;0;1;`.
fn colons(mac: &str) -> String {
    let bytes: Option<Vec<String>> =
        mac.split_terminator(';').map(|byte| Some(format!("{:02x}", byte.trim().parse::<u8>().ok()?))).collect();
    bytes.map_or_else(|| mac.replace('-', ":"), |bytes| bytes.join(":"))
}

/// A device that is in a bond or a team.
fn read_port(teams: &mut Teams<'_>, profile: &Profile, bonds: &mut [Bond<'_>]) {
    let Some(controller) = profile.controller() else { return };
    let bond = bonds.iter_mut().find(|bond| bond.is_meant(&controller.value));
    let kind = profile.port_type();
    let Some(bond) = bond.filter(|_| matches!(kind, "bond" | "team" | "")) else {
        if matches!(kind, "bond" | "team") {
            let message = format!("no profile of these is the {kind} `{}`", shown(&controller.value));
            let hint = format!("name the file of the {kind} beside this one");
            teams.reading.wrong(&controller.value_at, message, hint);
        }
        return;
    };
    let Some(device) = profile.entry("interface-name") else {
        let Teams { reading, drafts, .. } = teams;
        let draft = &mut drafts[bond.team];
        let message = format!("only its machine knows which device is in {}", shown(&draft.name));
        let hint = "add `interface-name=eth1` to [connection]: a team's members are named";
        return draft.wrong_member(reading, &profile.at, message, hint);
    };
    let source = profile.at.source;
    let port = configuration(&teams.reading, profile, "team-port")
        .and_then(|root| teamd::read_port(teams, bond.team, &device.value, &device.value_at, (source, &root)));
    match port {
        Ok(port) => bond.ports.push(port),
        Err(problem) => teams.problem(source, problem),
    }
    let Teams { reading, drafts, .. } = teams;
    let draft = &mut drafts[bond.team];
    for section in &profile.ini.sections {
        for entry in &section.entries {
            match (section.name.as_str(), entry.key.as_str()) {
                ("connection", "autoconnect") | ("team-port", "config") | ("user", _) => {}
                ("connection", _) => read_connection(reading, draft, entry),
                ("bond-port", "queue-id" | "prio") if entry.value == "0" => {}
                ("bond-port", "queue-id" | "prio") => {
                    let option = if entry.key == "prio" { "prio" } else { "queue_id" };
                    let before = draft.value(option).filter(|value| !value.is_empty()).map(|value| format!("{value},"));
                    let value = format!("{}{}:{}", before.unwrap_or_default(), device.value, entry.value);
                    draft.extend_option(reading, option, &value, &entry.key_at, &entry.value_at);
                }
                ("ethernet" | "802-3-ethernet", "mtu" | "mac-address") if entry.value == "0" => {}
                _ => leave(reading, draft, entry, "it is of a member, which the team takes"),
            }
        }
    }
    let what = format!("the member `{}`", shown(&device.value));
    match profile.kind() {
        // The profile makes the device, too.
        "vlan" => profile.release(reading, &what),
        _ => profile.disable(reading, &what),
    }
}

/// A VLAN device on a bond.
fn on_top(reading: &mut Reading<'_>, profile: &Profile, bonds: &[Bond<'_>]) {
    let Some(parent) = ["vlan", "macvlan"].iter().find_map(|section| profile.ini.last(section, "parent")) else {
        return;
    };
    if let Some(name) = bonds.iter().find(|bond| bond.is_meant(&parent.value)).and_then(|bond| bond.profile.device()) {
        let why = "a device on the team stays in the old place: its profile works on the team as on a bond";
        reading.left(&parent.at, Some(&name.value), why);
    }
}
