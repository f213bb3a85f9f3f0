//! ifupdown: stanzas of `/etc/network/interfaces` (interfaces(5)) that concern a device, and what is up by it now.

use nicteam_formats::{Place, Source};
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
        let lines = read(host, FILE, 0);
        let is_automatic = automatic(&lines, &device.name).is_some();
        let is_up_now = is_up(host, &device.name);
        let stanzas = stanzas(&lines);
        let own = stanzas.iter().filter(|of| of.words.get(1).is_some_and(|name| name == &device.name));
        let mut claims: Vec<Claim> = own.filter_map(|of| of.claim(device, is_automatic, is_up_now)).collect();
        // One that is neither up nor comes up by itself builds nothing.
        let is_active = |owner: &str| automatic(&lines, owner).is_some() || is_up(host, owner);
        let others =
            stanzas.iter().filter(|of| of.words.get(1).is_some_and(|name| name != &device.name && is_active(name)));
        claims.extend(others.filter_map(|of| of.claim_on_member(device)));
        claims
    }
}

/// True if a stanza is for the device.
pub(super) fn names(host: &Host, device: &Device) -> bool {
    let lines = read(host, FILE, 0);
    stanzas(&lines).iter().any(|of| of.words.get(1).is_some_and(|name| device.is_named(name)))
}

/// A line's words, with where it is.
struct Line {
    place: Place,
    words: Vec<String>,
}

impl Line {
    /// `up ifenslave bond0 eth0`, `pre-up ip link set eth0 master bond0`.
    fn enslaves(&self) -> bool {
        let word = |at: usize| self.words.get(at).map_or("", String::as_str);
        let program = word(1).rsplit('/').next().unwrap_or_default();
        let puts = match program {
            "ifenslave" => !self.words.iter().any(|word| matches!(word.as_str(), "-d" | "--detach")),
            "ip" => word(2) == "link" && word(3) == "set" && self.words.iter().any(|word| word == "master"),
            _ => false,
        };
        puts && matches!(word(0), "up" | "post-up" | "pre-up")
    }
}

/// `iface NAME FAMILY METHOD` with its options.
struct Stanza<'a> {
    place: &'a Place,
    words: &'a [String],
    options: &'a [Line],
}

/// Options by which a stanza names members: of a bond, of a bridge.
const OF_BOND: [&str; 4] = ["bond-slaves", "slaves", "bond-members", "bond-ports"];
const OF_BRIDGE: [&str; 1] = ["bridge-ports"];
const BEGINNINGS: [&str; 9] =
    ["iface", "mapping", "auto", "source", "source-directory", "no-auto-down", "no-scripts", "rename", "template"];

impl Stanza<'_> {
    fn option(&self, name: &str) -> Option<&Line> {
        self.options.iter().find(|line| line.words.first().is_some_and(|word| word.replace('_', "-") == name))
    }

    /// Where it ends.
    fn lines(&self) -> String {
        let last = self.options.last().map_or(self.place.line, |line| line.place.line);
        if last == self.place.line { format!("line {last}") } else { format!("lines {} to {last}", self.place.line) }
    }

    /// What it does with the device that it is for.
    fn claim(&self, device: &Device, is_automatic: bool, is_up: bool) -> Option<Claim> {
        let (name, method) = (&device.name, self.words.get(3).map_or("", String::as_str));
        if !is_automatic && !is_up {
            return None;
        }
        let master = self.option("bond-master").and_then(|line| line.words.get(1)).filter(|of| *of != "none");
        let does = match (master, method) {
            (Some(bond), _) => format!("puts it into the bond {bond}"),
            (None, "dhcp" | "bootp" | "auto") => format!("gets it an address (`{method}`)"),
            (None, "static" | "v4tunnel" | "tunnel" | "wvdial" | "ppp") => "gives it an address".to_owned(),
            (None, "loopback") => return None,
            (None, "") if self.option("address").is_some() => "gives it an address".to_owned(),
            _ => "sets it up".to_owned(),
        };
        // Without a family and a method, as ifupdown2 and ifupdown-ng have it, the options say what it does.
        let is_idle = method == "manual" || method.is_empty() && self.option("address").is_none();
        let is_harmless = master.is_none() && is_idle;
        let when = match (is_up, is_automatic) {
            (true, true) => "now and at boot",
            (true, false) => "now",
            (false, _) => "at boot",
        };
        let down = if is_up { format!("ifdown --force {name}\n") } else { String::new() };
        Some(Claim {
            manager: NAME,
            place: Some(self.place.clone()),
            why: format!("a stanza `iface {name}` {does}, {when}"),
            cure: format!(
                "{down}comment out {} of {}, and {name} in its `auto` and `allow-hotplug` lines",
                self.lines(),
                self.place.path
            ),
            severity: if is_harmless { Severity::Warn } else { Severity::Refuse },
        })
    }

    /// What a bond or bridge of another name does with the device.
    fn claim_on_member(&self, device: &Device) -> Option<Claim> {
        let owner = self.words.get(1)?;
        let (line, what) = self.options.iter().find_map(|line| {
            if line.enslaves() && line.words[2..].contains(&device.name) {
                return Some((line, "bond"));
            }
            let option = line.words.first()?.to_ascii_lowercase().replace('_', "-");
            let what = [(&OF_BOND[..], "bond"), (&OF_BRIDGE[..], "bridge")].into_iter();
            let (_, what) = what.into_iter().find(|(names, _)| names.contains(&option.as_str()))?;
            line.words[1..].iter().any(|word| fits(word, &device.name)).then_some((line, what))
        })?;
        Some(Claim {
            manager: NAME,
            place: Some(line.place.clone()),
            why: format!("`iface {owner}` makes {} a member of its {what}", device.name),
            cure: format!(
                "ifdown {owner}\ncomment out {} of {}, and {owner} in its `auto` lines",
                self.lines(),
                self.place.path
            ),
            severity: Severity::Refuse,
        })
    }
}

/// True if a word of a list of members means the device: a name, or a pattern with `*` or `?`; `/regex/` is not read.
fn fits(word: &str, name: &str) -> bool {
    word == name || (word.contains(['*', '?']) && pattern::fits(word, name))
}

fn stanzas(lines: &[Line]) -> Vec<Stanza<'_>> {
    let begins = |line: &Line| {
        line.words.first().is_some_and(|word| BEGINNINGS.contains(&word.as_str()) || word.starts_with("allow-"))
    };
    let mut stanzas = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.words[0] == "iface") {
        let options = lines[at + 1..].iter().take_while(|line| !begins(line)).count();
        stanzas.push(Stanza { place: &line.place, words: &line.words, options: &lines[at + 1..][..options] });
    }
    stanzas
}

/// The `auto` or `allow-hotplug` line that has a device.
fn automatic<'a>(lines: &'a [Line], name: &str) -> Option<&'a Place> {
    let is_list = |word: &str| ["auto", "allow-auto", "allow-hotplug"].contains(&word);
    let has = |line: &&Line| {
        is_list(&line.words[0]) && line.words[1..].iter().any(|word| fits(word.trim_start_matches('/'), name))
    };
    lines.iter().find(has).map(|line| &line.place)
}

fn is_up(host: &Host, name: &str) -> bool {
    let state = host.read(STATE);
    let mut lines = state.iter().flat_map(|of| of.text.lines());
    lines.any(|line| line.split_once('=').is_some_and(|(device, _)| device == name))
}

/// The lines of a file and of those that it names, in their order.
fn read(host: &Host, path: &str, depth: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let Some(source) = host.read(path) else { return lines };
    for line in words(&source) {
        let named: Vec<String> = match line.words[0].as_str() {
            "source" => line.words[1..].iter().flat_map(|pattern| glob(host, pattern, path)).collect(),
            "source-directory" => line.words[1..].iter().flat_map(|folder| directory(host, folder, path)).collect(),
            _ => {
                lines.push(line);
                continue;
            }
        };
        if depth < DEEPEST {
            lines.extend(named.iter().flat_map(|path| read(host, path, depth + 1)));
        }
    }
    lines
}

/// Lines with at least a word; one that ends with a backslash goes on in the next.
fn words(source: &Source) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for (number, text) in source.text.lines().enumerate() {
        if !goes_on && text.trim_start().starts_with('#') {
            continue;
        }
        let (part, more) = text.strip_suffix('\\').map_or((text, false), |part| (part, true));
        let words = part.split_ascii_whitespace().map(str::to_owned);
        match lines.last_mut().filter(|_| goes_on) {
            Some(line) => line.words.extend(words),
            None => {
                let column = text.chars().take_while(|of| of.is_whitespace()).count() + 1;
                let place = Place { path: source.path.clone(), line: number + 1, column };
                lines.push(Line { place, words: words.collect() });
            }
        }
        goes_on = more;
    }
    lines.retain(|line| !line.words.is_empty());
    lines
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
