//! What a machine says of itself, and what speaks against using its links.

use std::collections::BTreeMap;

/// Packets in a second, either way, above which a link is in use by others. Neighbours' discoveries, spanning tree and LLDP
/// are fewer.
const IDLE_PACKETS: u64 = 20;

/// A machine, before anything was done to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its operating system: `Linux`.
    pub system: String,
    /// Its architecture: `x86_64`.
    pub machine: String,
    /// The release of its kernel.
    pub kernel: String,
    /// How the login becomes root.
    pub root: Root,
    /// Free space for the copy of the program, bytes.
    pub free_bytes: u64,
    /// Programs that are not there.
    pub absent: Vec<String>,
    /// Devices that are not there.
    pub missing: Vec<String>,
    /// The devices that are there.
    pub links: BTreeMap<String, Link>,
    /// The addresses of all its devices, with their prefix lengths; those of links alone left out.
    pub holds: Vec<String>,
}

/// How a login becomes root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// It is root.
    Yes,
    /// By `sudo` without a password.
    Sudo,
    /// Not at all.
    #[default]
    No,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Its rate, Mbit/s, if its driver says so.
    pub speed_mbps: Option<u64>,
    /// Devices on top of it: a bond, a bridge, a VLAN.
    pub uppers: Vec<String>,
    /// Its addresses, those of the link alone left out.
    pub addresses: Vec<String>,
    /// Packets that it received and sent in a second.
    pub packets: u64,
}

/// Reads what the script [`crate::shell::look`] printed.
pub fn read(text: &str) -> Seen {
    let mut seen = Seen::default();
    let mut before: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        match words.as_slice() {
            ["system", system, machine, kernel] => {
                (seen.system, seen.machine, seen.kernel) =
                    (system.to_string(), machine.to_string(), kernel.to_string());
            }
            ["root", "yes"] => seen.root = Root::Yes,
            ["root", "sudo"] => seen.root = Root::Sudo,
            ["free", _] => seen.free_bytes = number(1).unwrap_or(0).saturating_mul(1024),
            ["absent", program] => seen.absent.push(program.to_string()),
            ["missing", link] => seen.missing.push(link.to_string()),
            // A link without a carrier has the speed -1.
            ["link", link, _] => {
                seen.links.entry(link.to_string()).or_default().speed_mbps = number(2).filter(|mbps| *mbps > 0);
            }
            ["upper", link, upper] => seen.links.entry(link.to_string()).or_default().uppers.push(upper.to_string()),
            ["address", link, address] => {
                seen.links.entry(link.to_string()).or_default().addresses.push(address.to_string());
            }
            ["holds", address] => seen.holds.push(address.to_string()),
            ["before", link, ..] => {
                before.insert(link.to_string(), number(2).unwrap_or(0) + number(3).unwrap_or(0));
            }
            ["after", link, ..] => {
                let now = number(2).unwrap_or(0) + number(3).unwrap_or(0);
                let then = before.get(*link).copied().unwrap_or(now);
                seen.links.entry(link.to_string()).or_default().packets = now.saturating_sub(then);
            }
            _ => {}
        }
    }
    seen
}

/// What will be done to a machine, in a line. `links`: devices, each with its rate in words; `bundle`: what they are members
/// of, in words, if that is measured as it is.
pub fn plan(seen: &Seen, host: &str, destination: &str, links: &[(String, String)], bundle: Option<&str>) -> String {
    let links: Vec<String> = links.iter().map(|(link, rate)| format!("{link} ({rate})")).collect();
    let by = if seen.root == Root::Sudo { ", by sudo" } else { "" };
    let (kernel, machine, links) = (&seen.kernel, &seen.machine, links.join(" and "));
    let what = match bundle {
        Some(bundle) => format!("drives traffic over {bundle} with {links}, as it is"),
        None => format!("lends {links} for each run"),
    };
    format!("{host}: {destination} (Linux {kernel}, {machine}){by} {what}\n")
}

/// What an experiment wants of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The host's name.
    pub host: &'a str,
    /// The architecture that the program was built for.
    pub machine: &'a str,
    /// Size of the program, bytes.
    pub binary_bytes: u64,
    /// Devices, with the rate that the file gives each, bit/s.
    pub links: &'a [(String, u64)],
    /// Links that others use are used nevertheless.
    pub share: bool,
    /// The links stay as they are: members of a bundle, with addresses.
    pub in_place: bool,
}

/// What speaks against it, each with a hint.
pub fn objections(seen: &Seen, wanted: &Wanted<'_>) -> Vec<String> {
    let Wanted { host, machine, binary_bytes, links, share, in_place } = *wanted;
    let mut found = Vec::new();
    let mut say = |what: String, hint: &str| found.push(format!("{host}: {what}; hint: {hint}"));
    if seen.system != "Linux" || seen.machine != machine {
        let what =
            format!("the machine is {} {}, and this program is built for Linux {machine}", seen.system, seen.machine);
        say(what, "run the lab on a machine of the same kind as its hosts");
    }
    if seen.root == Root::No {
        let hint = "log in as root, or let the user call sudo without a password (NOPASSWD)";
        say("the login is not root there, and sudo asks for a password".to_owned(), hint);
    }
    for program in &seen.absent {
        say(format!("the program `{program}` is not there"), "install iproute2 and coreutils on that machine");
    }
    if seen.free_bytes < binary_bytes {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let what =
            format!("no space for the program: {} MiB, and {} MiB are free", mib(binary_bytes), mib(seen.free_bytes));
        say(what, "make room in its folder for temporary files, or name another folder there with TMPDIR");
    }
    for link in &seen.missing {
        say(format!("there is no device `{link}`"), "`ip link` on that machine shows its devices");
    }
    for (name, rate_bps) in links {
        let Some(link) = seen.links.get(name) else { continue };
        for upper in link.uppers.iter().filter(|_| !in_place) {
            say(format!("`{name}` belongs to `{upper}`"), "take the device out of it first, or name another device");
        }
        if !link.addresses.is_empty() && !in_place {
            let what = format!("`{name}` has the address {}", link.addresses.join(" and "));
            say(what, "the login may come over it: name a device that has no address, or remove the address first");
        }
        if link.packets > IDLE_PACKETS && !share {
            let what = format!("`{name}` carries other traffic: {} packets in a second", link.packets);
            say(what, "end that traffic, or say --share to measure beside it");
        }
        let differs = |mbps: &u64| mbps.saturating_mul(1_000_000) != *rate_bps && !in_place;
        if let Some(mbps) = link.speed_mbps.filter(differs) {
            let what =
                format!("`{name}` has {mbps} Mbit/s, and the file gives the link {} Mbit/s", rate_bps / 1_000_000);
            say(what, &format!("write `rate = \"{mbps}mbit\"` for this link"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "system Linux x86_64 6.1.0-18-amd64\nroot sudo\nfree 2048\nlink eno1 1000\nlink eno2 -1\nmissing eno3\n\
        before eno1 10 20\nbefore eno2 0 0\nafter eno1 15 25\nafter eno2 30 2\n";

    fn said(text: &str, share: bool) -> Vec<String> {
        let links = [("eno1".to_owned(), 1_000_000_000), ("eno2".to_owned(), 1_000_000_000)];
        let wanted =
            Wanted { host: "a", machine: "x86_64", binary_bytes: 1 << 20, links: &links, share, in_place: false };
        objections(&read(text), &wanted)
    }

    #[test]
    fn a_machine_is_read() {
        let seen = read(TEXT);
        assert_eq!((seen.machine.as_str(), seen.root, seen.free_bytes), ("x86_64", Root::Sudo, 2 << 20));
        assert_eq!(seen.links["eno1"], Link { speed_mbps: Some(1000), packets: 10, ..Link::default() });
        assert_eq!((seen.links["eno2"].speed_mbps, seen.links["eno2"].packets), (None, 32));
    }

    #[test]
    fn what_stays_as_it_is_may_have_addresses_and_carries_nothing_else() {
        let text = TEXT.replace("missing eno3", "upper eno1 bond0\naddress eno1 10.0.0.1/24\nholds 10.0.0.1/24");
        let links = [("eno1".to_owned(), 1_000_000_000), ("eno2".to_owned(), 1_000_000_000)];
        let wanted =
            |share| Wanted { host: "a", machine: "x86_64", binary_bytes: 1, links: &links, share, in_place: true };
        let seen = read(&text);
        assert_eq!(seen.holds, ["10.0.0.1/24"]);
        let found = objections(&seen, &wanted(false));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a: `eno2` carries other traffic") && found[0].contains("--share"), "{found:?}");
        assert_eq!(objections(&seen, &wanted(true)), Vec::<String>::new());
    }

    #[test]
    fn each_objection_has_its_reason() {
        let found = said(TEXT, false);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a: there is no device `eno3`; hint: "), "{found:?}");
        assert!(found[1].starts_with("a: `eno2` carries other traffic: 32 packets in a second; hint: "), "{found:?}");
        assert_eq!(said(TEXT, true).len(), 1);
        let cases = [
            ("x86_64", "aarch64", "the machine is Linux aarch64"),
            ("root sudo", "root no", "the login is not root"),
            ("free 2048", "free 1023", "no space for the program: 1 MiB, and 1 MiB are free"),
            ("missing eno3", "absent ip", "the program `ip` is not there"),
            ("missing eno3", "upper eno1 br0", "`eno1` belongs to `br0`"),
            ("missing eno3", "address eno1 10.0.0.1/24", "`eno1` has the address 10.0.0.1/24"),
            ("link eno1 1000", "link eno1 2500", "`eno1` has 2500 Mbit/s, and the file gives the link 1000 Mbit/s"),
        ];
        for (from, to, expected) in cases {
            let found = said(&TEXT.replace(from, to), true);
            assert!(found.iter().any(|one| one.contains(expected)), "{expected}: {found:?}");
        }
    }
}
