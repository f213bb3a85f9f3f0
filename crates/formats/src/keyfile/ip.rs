//! [ipv4] and [ipv6]: addresses, gateway, routes, router advertisements.

use std::collections::BTreeMap;

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;
use nicteam_drafts::names::shown;
use nicteam_drafts::{Address, Route};
use nicteam_syntax::At;
use nicteam_syntax::ini::{self, Entry, Ini};
use nicteam_syntax::shell::quoted;

/// Reads what a profile says of both families; `metric` is that of routes that have none.
pub(super) fn read(reading: &mut Reading<'_>, draft: &mut Draft, (ini, at): (&Ini, &At), metric: u32) {
    for name in ["ipv4", "ipv6"] {
        let method = ini.last(name, "method").map_or("", |method| method.value.as_str());
        let keeps =
            format!("make a profile for it: `nmcli connection add type ethernet ifname {}`", quoted(&draft.name));
        let last = ini.entries(name).map(|entry| (entry.key.as_str(), entry)).collect();
        Family { name, ini, last, method, metric, keeps }.read(reading, draft, at);
    }
}

/// What a profile says of IPv4 or of IPv6.
struct Family<'i> {
    /// Of its section.
    name: &'static str,
    ini: &'i Ini,
    /// Of each key its last entry, which holds.
    last: BTreeMap<&'i str, &'i Entry>,
    method: &'i str,
    metric: u32,
    /// What to do for what stays NetworkManager's.
    keeps: String,
}

impl<'i> Family<'i> {
    fn read(&self, reading: &mut Reading<'_>, draft: &mut Draft, at: &At) {
        let Some(section) = self.ini.sections.iter().find(|section| section.name == self.name) else {
            let why = format!("NetworkManager takes `method=auto`, which stays its own: {}", self.keeps);
            return reading.left_as(at, format!("no [{}]", self.name), Some(&draft.name), why);
        };
        if self.method.is_empty() {
            let message = format!("NetworkManager refuses the profile: [{}] has no `method`", self.name);
            return reading.wrong(&section.at, message, "add `method=manual`, `method=auto` or `method=disabled`");
        }
        for entry in self.entries() {
            self.read_entry(reading, draft, entry);
        }
        let addresses = self.list("address");
        self.check(reading, &section.at, addresses.first().copied());
        let own = self.last("gateway").filter(|entry| !entry.value.is_empty());
        let mut gateway = own.map(|entry| (entry.value.clone(), entry));
        for entry in addresses {
            let (address, of_it) = self.read_address(reading, entry);
            address.into_iter().for_each(|address| draft.add_address(address));
            // One gateway holds: that of the family, else the first one beside an address.
            gateway = gateway.or(of_it.filter(|of_it| is_some(of_it)).map(|of_it| (of_it, entry)));
        }
        if let Some((gateway, entry)) = gateway.filter(|(gateway, _)| is_some(gateway) && !self.says("never-default")) {
            self.read_gateway(reading, draft, &gateway, entry);
        }
        for entry in self.list("route") {
            self.read_route(reading, draft, entry);
        }
    }

    /// The last entry of a key: it holds.
    fn last(&self, key: &str) -> Option<&'i Entry> {
        self.last.get(key).copied()
    }

    /// Its entries; of one that is given twice the last one, as in GLib.
    fn entries(&self) -> Vec<&Entry> {
        let holds = |entry: &&Entry| self.last(&entry.key).is_some_and(|last| last.at == entry.at);
        self.ini.entries(self.name).filter(holds).collect()
    }

    /// `address1`, `address2` and so on, in the order of their numbers.
    fn list(&self, key: &str) -> Vec<&Entry> {
        let mut list: Vec<_> =
            self.entries().into_iter().filter_map(|entry| Some((number(&entry.key, key)?, entry))).collect();
        // Of one number `address1` stands ahead of `addresses1`, as nmcli has it.
        list.sort_by_key(|(number, entry)| {
            (*number, entry.key.starts_with("addresses") || entry.key.starts_with("routes"))
        });
        list.into_iter().map(|(_, entry)| entry).filter(|entry| !entry.value.is_empty()).collect()
    }

    fn says(&self, key: &str) -> bool {
        self.last(key).is_some_and(|entry| ini::key_file_flag(&entry.value) == Some(true))
    }

    /// Refuses what NetworkManager refuses.
    fn check(&self, reading: &mut Reading<'_>, section: &At, first: Option<&Entry>) {
        let refused = |why: &str| format!("NetworkManager refuses the profile: {why} `method={}`", shown(self.method));
        match (self.method, first) {
            ("manual", None) => reading.wrong(section, refused("no address beside"), "add `address1=10.0.0.1/24`"),
            ("disabled" | "link-local" | "ignore", Some(address)) => {
                reading.wrong(&address.at, refused("addresses beside"), "`method=manual`, or take them out");
            }
            _ => {}
        }
    }

    /// A line that is neither an address nor a route.
    fn read_entry(&self, reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
        let asks = matches!(self.method, "auto" | "dhcp" | "shared");
        let is_list = |key: &str| number(key, "address").or_else(|| number(key, "route")).is_some();
        let is_on = ini::key_file_flag(&entry.value) == Some(true);
        match entry.key.as_str() {
            "method" => self.read_method(reading, draft, entry),
            "gateway" | "route-metric" | "route-table" | "addr-gen-mode" | "may-fail" => {}
            "dns-search" if entry.value.is_empty() => {}
            key if is_list(key.trim_end_matches("_options")) => {}
            "never-default" | "ignore-auto-dns" | "ignore-auto-routes" if !asks || !is_on => {}
            "ip6-privacy" if matches!(entry.value.as_str(), "-1" | "0") => {}
            _ => leave(reading, draft, entry, format!("it stays NetworkManager's: {}", self.keeps)),
        }
    }

    /// Router advertisements are NetworkManager's own to read, and with `auto` alone: the kernel reads none (`accept_ra` is 0)
    /// but with `ignore`, which leaves all of IPv6 to it.
    fn read_method(&self, reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
        let is_v6 = self.name == "ipv6";
        if is_v6 && matches!(self.method, "manual" | "link-local" | "dhcp" | "shared") {
            draft.accept_ra = Some(0);
        }
        match self.method {
            "disabled" if is_v6 => leave(reading, draft, entry, draft.by_sysctl("disable_ipv6", 1)),
            "manual" | "disabled" | "ignore" => {}
            "link-local" if is_v6 => {}
            method => {
                let why = format!("`{}` stays NetworkManager's: {}", shown(method), self.keeps);
                leave(reading, draft, entry, why);
            }
        }
    }

    /// `10.0.0.1/24,10.0.0.254`: the address, and the gateway beside it.
    fn read_address(&self, reading: &mut Reading<'_>, entry: &Entry) -> (Option<Address>, Option<String>) {
        let joined = slashed(&entry.value);
        let mut parts = joined.split([',', ';']).map(str::trim).filter(|part| !part.is_empty());
        let address = parts.next().unwrap_or_default();
        let length = if self.name == "ipv4" { 24 } else { 64 };
        let address = match with_length(address, length).parse::<Address>() {
            Ok(address) => Some(address),
            Err(error) => {
                reading.wrong(&entry.value_at, error.to_string(), error.hint());
                None
            }
        };
        (address, parts.next().map(str::to_owned))
    }

    /// What the family says of all its routes.
    fn of_all(&self, key: &str) -> Option<&str> {
        let entry = self.last(key)?;
        Some(entry.value.as_str()).filter(|value| !matches!(*value, "" | "-1"))
    }

    /// The words for a route's metric and table; 0 is what a route has without them.
    fn of_route(&self, metric: Option<&str>, table: Option<&str>) -> String {
        let own = self.metric.to_string();
        let metric = metric.or_else(|| self.of_all("route-metric")).unwrap_or(&own);
        let word = |word: &str, value: &str| if value == "0" { String::new() } else { format!(" {word} {value}") };
        word("metric", metric) + &word("table", table.or_else(|| self.of_all("route-table")).unwrap_or("0"))
    }

    fn read_gateway(&self, reading: &mut Reading<'_>, draft: &mut Draft, gateway: &str, entry: &Entry) {
        match Route::parse(&format!("default via {gateway}{}", self.of_route(None, None))) {
            Ok(words) => draft.add_route(words.route),
            Err(error) => reading.wrong(&entry.value_at, error.to_string(), error.hint()),
        }
    }

    /// `route1=10.9.0.0/16,10.0.0.9,100`, and `route1_options=table=5,onlink=true` beside it.
    fn read_route(&self, reading: &mut Reading<'_>, draft: &mut Draft, entry: &Entry) {
        let joined = slashed(&entry.value);
        let mut parts = joined.split([',', ';']).map(str::trim);
        let length = if self.name == "ipv4" { 24 } else { 128 };
        let to = with_length(parts.next().unwrap_or_default(), length);
        let via = parts.next().filter(|via| is_some(via));
        let metric = parts.next().filter(|metric| !metric.is_empty());
        let mut words = to.parse::<Address>().map_or(to, |to| to.network().to_string());
        words.extend(via.iter().map(|via| format!(" via {via}")));
        let options = self.last(&format!("{}_options", entry.key));
        let mut table = None;
        for option in options.iter().flat_map(|options| options.value.split(',')).filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("table", number)) => table = Some(number).filter(|number| *number != "0"),
                Some(("onlink", is_on)) if ini::flag(is_on) == Some(true) => words.push_str(" onlink"),
                Some(("onlink", _)) | Some(("type", "unicast")) => {}
                Some(("type" | "tos" | "from" | "weight", _)) => {
                    let why = "no team's route has that: the route stays in a profile of the team's device";
                    return leave(reading, draft, entry, why);
                }
                _ => {
                    if let Some(options) = options {
                        leave(reading, draft, options, format!("the route is taken over without `{}`", shown(option)));
                    }
                }
            }
        }
        match Route::parse(&(words + &self.of_route(metric, table))) {
            Ok(read) => read.routes().into_iter().for_each(|route| draft.add_route(route)),
            Err(error) => reading.wrong(&entry.value_at, error.to_string(), error.hint()),
        }
    }
}

fn leave(reading: &mut Reading<'_>, draft: &Draft, entry: &Entry, why: impl Into<String>) {
    reading.left(&entry.at, Some(&draft.name), why);
}

/// False for the ways to say that there is no next hop.
fn is_some(via: &str) -> bool {
    !matches!(via, "" | "0.0.0.0" | "::")
}

/// The number of `address1` and `addresses12`, 0 of `address` alone: lists are written a line an element.
fn number(key: &str, list: &str) -> Option<u32> {
    let rest = key.strip_prefix(list)?;
    let digits = if list == "address" { rest.strip_prefix("es") } else { rest.strip_prefix('s') }.unwrap_or(rest);
    if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|_| !digits.starts_with('+')) }
}

/// Where no length is said, NetworkManager takes this one.
fn with_length(address: &str, length: u8) -> String {
    let is_alone = address.parse::<std::net::IpAddr>().is_ok();
    if is_alone { format!("{address}/{length}") } else { address.to_owned() }
}

/// `10.0.0.2;24;10.0.0.1;`, as NetworkManager wrote lists before 0.9.10, with a `/` ahead of the length of the prefix.
fn slashed(value: &str) -> String {
    let is_length = |rest: &str| {
        let length = rest.split([',', ';']).next().unwrap_or_default().trim();
        !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit())
    };
    match value.split_once([',', ';']) {
        Some((address, rest)) if !address.contains('/') && is_length(rest) => format!("{address}/{rest}"),
        _ => value.to_owned(),
    }
}
