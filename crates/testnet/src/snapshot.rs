//! All that a host's network tells, to be compared.

use std::process::Command;

use crate::{Host, eventually};

impl Host {
    /// What `ip`, `tc` and the settings of the devices tell, one thing a line, each line with what it is of. Without lifetimes,
    /// numbers and counters, and without the devices in `without`. Waits until the kernel has taken notice of every carrier.
    #[track_caller]
    pub fn snapshot(&self, without: &[&str]) -> Vec<String> {
        let ip = |arguments: &[&str]| self.lines("ip", arguments);
        let mut links = Vec::new();
        eventually("the notice of every carrier, and the route of every address", || {
            links = ip(&["-d", "-o", "link"]);
            let routes = ip(&["-6", "route", "show", "table", "local"]);
            let lacks_route = |line: &String| lacks_route(line, &links, &routes);
            !links.iter().any(|line| is_unnoticed(line)) && !ip(&["-6", "-o", "address"]).iter().any(lacks_route)
        });
        let mut told = links.into_iter().map(without_index).collect::<Vec<_>>();
        told.extend(ip(&["-d", "-o", "address"]).into_iter().map(without_index).map(without_lifetimes));
        for family in ["-4", "-6"] {
            told.extend(ip(&[family, "route", "show", "table", "all"]).into_iter().map(without_expiry));
            told.extend(ip(&[family, "rule"]));
            told.extend(ip(&[family, "neighbour", "show", "nud", "permanent"]));
            told.extend(ip(&[family, "neighbour", "show", "proxy"]));
        }
        told.extend(self.lines("tc", &["qdisc"]));
        for device in self.names() {
            for way in ["ingress", "egress"] {
                let filters = self.tried("tc", &["filter", "show", "dev", &device, way]);
                // A device may go meanwhile.
                told.extend(filters.unwrap_or_default().into_iter().map(without_number));
            }
            told.extend(self.settings(&device));
        }
        let is_of =
            |line: &str, device: &str| line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == device);
        told.retain(|line| !without.iter().any(|device| is_of(line, device)));
        told.sort();
        told
    }

    fn names(&self) -> Vec<String> {
        let of = |line: String| Some(line.split_once(": ")?.1.split([':', '@']).next()?.to_owned());
        self.lines("ip", &["-o", "link"]).into_iter().filter_map(of).collect()
    }

    #[track_caller]
    fn lines(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        self.tried(program, arguments).unwrap_or_else(|said| panic!("{program} {arguments:?}: {said}"))
    }

    /// What it tells, or why it does not.
    fn tried(&self, program: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
        let output = self.netns.run(|| Command::new(program).args(arguments).output()).unwrap().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout).lines().map(|line| line.trim().replace('\t', " ")).collect()),
            false => Err(text(&output.stderr)),
        }
    }

    fn settings(&self, device: &str) -> Vec<String> {
        let read = |folder: &str| {
            let entries = std::fs::read_dir(format!("/proc/sys/net/{folder}/{device}")).into_iter().flatten().flatten();
            let value = |path: &std::path::Path| std::fs::read_to_string(path).unwrap_or_default();
            let line = |path: &std::path::Path| format!("{} {}", path.display(), value(path).trim());
            entries.map(|entry| line(&entry.path())).collect::<Vec<_>>()
        };
        let folders = ["ipv4/conf", "ipv6/conf", "ipv4/neigh", "ipv6/neigh"];
        self.netns.run(|| folders.iter().flat_map(|folder| read(folder)).collect()).unwrap()
    }
}

/// Two snapshots are alike; else the panic says what is in one of them alone.
#[track_caller]
pub fn assert_same_network(now: &[String], before: &[String], when: &str) {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    let (new, gone) = (only(now, before), only(before, now));
    assert!(now == before, "{when}: new {new:#?}\ngone {gone:#?}");
}

/// A network becomes again what it was: the kernel sets an IPv6 address's own route some time after the address.
#[track_caller]
pub fn assert_becomes(snapshot: impl Fn() -> Vec<String>, before: &[String], when: &str) {
    let start = std::time::Instant::now();
    // Dear: it asks many programs.
    let mut now = snapshot();
    while now != before && start.elapsed() < SETTLED {
        std::thread::sleep(std::time::Duration::from_millis(10));
        now = snapshot();
    }
    assert_same_network(&now, before, when);
}

/// So long the kernel may take for it.
const SETTLED: std::time::Duration = std::time::Duration::from_secs(5);

/// The carrier of a device has changed, and its state has yet to follow: the kernel does that later, by a work of its own (Linux
/// net/core/link_watch.c). `<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UNKNOWN`
fn is_unnoticed(line: &str) -> bool {
    let flags = line.split(['<', '>']).nth(1).unwrap_or_default();
    let is_set = |flag: &str| flags.split(',').any(|set| set == flag);
    let state = line.split_once(" state ").and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
    match is_set("LOWER_UP") {
        // Of devices whose carrier never changes, as `lo` and dummies, it is for ever.
        true if state == "UNKNOWN" => line.contains(" veth "),
        true => state == "DOWN" || state == "LOWERLAYERDOWN",
        false => is_set("UP") && state == "UP",
    }
}

/// The kernel has accepted an IPv6 address, and adds its route later (Linux net/ipv6/addrconf.c, `addrconf_dad_completed`).
/// `3: mac0    inet6 fe80::1/64 scope link`
fn lacks_route(address: &str, links: &[String], routes: &[String]) -> bool {
    let mut words = address.split_ascii_whitespace().skip(1);
    let (Some(device), Some("inet6"), Some(prefix)) = (words.next(), words.next(), words.next()) else { return false };
    let is_running = |line: &&String| line.contains(&format!(" {device}")) && line.contains(",LOWER_UP");
    let is_accepted = !words.any(|word| word == "tentative" || word == "dadfailed");
    let local = format!("local {} dev {device} ", prefix.split('/').next().unwrap_or_default());
    is_accepted && links.iter().any(|line| is_running(&line)) && !routes.iter().any(|route| route.starts_with(&local))
}

/// `member_ingress:[1571] ... id 1571` without the number of the program.
fn without_number(line: String) -> String {
    let is_number = |word: &str| word.contains(":[") || word.bytes().all(|byte| byte.is_ascii_digit());
    line.split(' ').filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

fn without_index(line: String) -> String {
    line.split_once(": ").map_or(line.clone(), |(_, rest)| rest.to_owned())
}

fn without_lifetimes(line: String) -> String {
    line.split_once(" valid_lft ").map_or(line.clone(), |(told, _)| told.trim_end_matches('\\').trim_end().to_owned())
}

fn without_expiry(line: String) -> String {
    let mut words = line.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "expires" => drop(words.next()),
            "linkdown" => {}
            word => kept.push(word),
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Switch, may_make_networks};

    #[test]
    fn a_fresh_network_is_told_as_it_stays() {
        if !may_make_networks() {
            return;
        }
        for _ in 0..10 {
            let (mut host, mut switch) = (Host::quiet(), Switch::new());
            switch.join_all(&mut host, "eth", "a", 2);
            let fresh = host.snapshot(&[]);
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert_same_network(&host.snapshot(&[]), &fresh, "later");
        }
    }
}
