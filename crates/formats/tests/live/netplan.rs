//! netplan's own generator beside the reader: a file of netplan's is read to the same teams as what netplan generates of it,
//! for networkd and for NetworkManager; what is refused there is refused here; and it takes what is exported.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nicteam_formats::{Format, Import, Network, Route, Source, Team};
use nicteam_testnet::is_soak;
use proptest::prelude::*;

use crate::imports::{format, roundtrip, write};
use crate::mutation::Random;

/// Files of a soak, and of a sample: each takes 20 ms.
const SOAK: u64 = 4000;
const SAMPLE: u64 = 25;

/// A folder that takes the place of `/`.
struct Root(PathBuf);

impl Root {
    fn new_or_skip(name: &str) -> Option<Root> {
        if !PathBuf::from(GENERATE).exists() {
            eprintln!("SKIPPED: needs netplan.io");
            return None;
        }
        Some(Root(std::env::temp_dir().join(format!("nicteam-netplan-{name}-{}", std::process::id()))))
    }

    /// What netplan makes of these files, or what it says is wrong.
    fn generate(&self, files: &[&str]) -> Result<Vec<Source>, String> {
        let _ = fs::remove_dir_all(&self.0);
        let folder = self.0.join("etc/netplan");
        fs::create_dir_all(&folder).unwrap();
        for (number, text) in files.iter().enumerate() {
            fs::write(folder.join(format!("{number}.yaml")), text).unwrap();
        }
        let output = Command::new(GENERATE).arg("--root-dir").arg(&self.0).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() || said.contains("Error in") {
            return Err(said);
        }
        let mut found = Vec::new();
        for folder in ["run/systemd/network", "run/NetworkManager/system-connections"] {
            let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten();
            found.extend(entries.map(|entry| {
                let path = entry.unwrap().path();
                Source::new(path.display().to_string(), fs::read_to_string(&path).unwrap())
            }));
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program behind `netplan generate`, which is slower.
const GENERATE: &str = "/usr/libexec/netplan/generate";

fn source(text: &str) -> Source {
    Source::new("/etc/netplan/0.yaml", text)
}

fn read(format: &dyn Format, sources: &[Source]) -> Import {
    let text = || sources.iter().map(|of| format!("=== {}\n{}", of.path, of.text)).collect::<String>();
    format.read(sources).unwrap_or_else(|error| panic!("{error}\n{}", text()))
}

/// What teams are, however their options are written and in whatever order their routes stand.
fn meaning(network: &Network) -> Vec<(String, Team)> {
    let whole = |team: &Team| {
        let mut bare = Team { options: Vec::new(), ..team.clone() };
        bare.routes.sort();
        bare.addresses.sort();
        (format!("{:?}", team.config()), bare)
    };
    network.teams.iter().map(whole).collect()
}

/// Parameters that go together, below the mode.
const MODES: &[(&str, &[&str])] = &[
    ("balance-rr", &["packets-per-slave: 3", "resend-igmp: 5", "packets-per-slave: 0"]),
    (
        "active-backup",
        &[
            "primary: eth2",
            "primary-reselect-policy: better",
            "fail-over-mac-policy: follow",
            "gratuitous-arp: 4",
            "gratuitious-arp: 5",
            "all-slaves-active: true",
            "resend-igmp: 0",
        ],
    ),
    ("balance-xor", &["transmit-hash-policy: layer2+3", "transmit-hash-policy: encap3+4"]),
    ("broadcast", &[]),
    (
        "802.3ad",
        &["lacp-rate: fast", "ad-select: count", "min-links: 2", "transmit-hash-policy: layer3+4", "lacp-rate: slow"],
    ),
    ("balance-tlb", &["learn-packet-interval: 30", "primary: eth1"]),
    ("balance-alb", &["learn-packet-interval: 7", "primary: eth1"]),
];
/// Keys beside the members and the parameters.
const KEYS: &[&str] = &[
    "macaddress: \"02:00:00:00:00:01\"",
    "mtu: 9000",
    "gateway4: 10.0.0.254",
    "gateway6: \"2001:db8::9\"",
    "dhcp4: false",
    "optional: true",
    "addresses: [10.0.0.1/24, 10.0.0.2/32]",
    "addresses: [\"2001:db8::1/64\"]",
    "addresses: [10.0.0.1/24, \"2001:db8::1/64\"]",
    "addresses: [10.0.0.3/24: {label: \"bond0:1\"}]",
    "routes: [{to: default, via: 10.0.0.254}]",
    "routes: [{to: 10.9.8.7/16, via: 10.0.0.9, metric: 100, table: 5}, {to: 10.8.0.0/16, via: 10.0.0.9}]",
    "routes: [{to: 10.6.0.0/16, via: 10.5.0.9, on-link: true}, {to: 10.3.2.1, via: 10.0.0.9}]",
    "routes: [{to: 10.6.0.0/16, scope: link}, {to: \"2001:db8:1::/48\", via: \"2001:db8::9\"}]",
    "routes: [{to: 0.0.0.0/0, via: 10.0.0.3, metric: 3}, {to: \"::/0\", via: \"fe80::9\"}]",
];
/// Units are networkd's alone: NetworkManager gets the words as they stand.
const TIMES: &[&str] = &["100", "250", "100ms", "1s", "2"];

fn file(random: &mut Random, renderer: &str) -> String {
    let (mode, parameters) = random.one(MODES);
    let mut own: Vec<&str> =
        (0..random.below(3)).filter(|_| !parameters.is_empty()).map(|_| random.one(parameters)).collect();
    let has_units = renderer == "networkd";
    let time = |random: &mut Random| random.one(if has_units { TIMES } else { &TIMES[..2] });
    let mut lines = vec![format!("mode: {mode}")];
    match random.below(3) {
        0 if !matches!(mode, "802.3ad" | "balance-tlb" | "balance-alb") => {
            lines.push(format!("arp-interval: {}", time(random)));
            lines.push(format!("arp-ip-targets: {}", random.one(&["[10.0.0.9]", "[10.0.0.8, 10.0.0.9]"])));
            if mode == "active-backup" {
                own.push(random.one(&["arp-validate: all", "arp-all-targets: all"]));
            }
        }
        1 => {
            lines.push(format!("mii-monitor-interval: {}", time(random)));
            lines.push(format!("up-delay: {}", time(random)));
            lines.push(format!("down-delay: {}", time(random)));
        }
        _ => {}
    }
    own.sort();
    own.dedup_by_key(|line| line.split(':').next());
    lines.extend(own.iter().map(|line| (*line).to_owned()));
    let mut keys: Vec<&str> = (0..random.below(6)).map(|_| random.one(KEYS)).collect();
    keys.sort();
    keys.dedup_by_key(|line| line.split(':').next());
    if renderer == "NetworkManager" {
        // A family without addresses has no method that has routes.
        keys.retain(|key| !key.starts_with("addresses"));
        keys.push("addresses: [10.0.0.1/24, \"2001:db8::1/64\"]");
    }
    if keys.iter().any(|key| key.starts_with("routes")) {
        // Two default routes are one too many, and netplan says so.
        keys.retain(|key| !key.starts_with("gateway"));
    }
    let at = random.one(&["network", "kind", "bond"]);
    let line =
        |here: &str, indent: &str| if at == here { format!("{indent}renderer: {renderer}\n") } else { String::new() };
    format!(
        "network:\n  version: 2\n{}  ethernets:\n    eth1: {{}}\n    eth2: {{}}\n  bonds:\n{}    bond0:\n{}      interfaces: [eth1, eth2]\n{}      parameters: {{{}}}\n",
        line("network", "  "),
        line("kind", "    "),
        line("bond", "      "),
        keys.iter().map(|key| format!("      {key}\n")).collect::<String>(),
        lines.join(", ")
    )
}

fn agree_with(renderer: &str, name: &str) {
    let Some(root) = Root::new_or_skip(name) else { return };
    for seed in 0..if is_soak() { SOAK } else { SAMPLE } {
        let mut text = file(&mut Random(seed * 0x7f4a), renderer);
        if renderer == "NetworkManager" {
            // It gets the address as it stands, and takes it for a network of 24 bits.
            text = text.replace("to: 10.3.2.1,", "to: 10.3.2.1/32,");
        }
        let generated = root.generate(&[&text]).unwrap_or_else(|said| panic!("{said}\n{text}"));
        let ours = read(format("netplan"), &[source(&text)]);
        let (bonds, members): (Vec<Source>, Vec<Source>) =
            generated.into_iter().partition(|of| of.path.contains("bond0"));
        let theirs = match name {
            "networkd" => read(format(name), &[bonds, members].concat()),
            // Where the bond alone is NetworkManager's, its ports are in files of networkd's.
            _ => read(format(name), &[bonds, vec![port("eth1"), port("eth2")]].concat()),
        };
        assert_eq!(meaning(&ours.network), meaning(&theirs.network), "seed {seed}\n{text}");
    }
}

fn port(device: &str) -> Source {
    let text =
        format!("[connection]\nid={device}\ntype=ethernet\ninterface-name={device}\nslave-type=bond\nmaster=bond0\n");
    Source::new(format!("{device}.nmconnection"), text)
}

#[test]
fn what_is_generated_for_networkd_is_the_same() {
    agree_with("networkd", "networkd");
}

#[test]
fn what_is_generated_for_network_manager_is_the_same() {
    agree_with("NetworkManager", "keyfile");
}

/// Below `bonds: bond0:`, each a line.
const REFUSED: &[&str] = &[
    "foo: 1",
    "adresses: [10.0.0.1/24]",
    "parameters: {modus: 1}",
    "parameters: {mode: balance}",
    "parameters: {min-links: x}",
    "addresses: [10.0.0.1]",
    "addresses: [10.0.0.1/33]",
    "addresses: 10.0.0.1/24",
    "routes: [{via: 10.0.0.1}]",
    "routes: [{to: 10.0.0.0/8, via: 10.0.0.1, foo: 1}]",
    "routes: [{to: 10.0.0.0/8, via: \"fe80::1\"}]",
    "routes: [{to: 10.0.0.0/8, via: 10.0.0.1, metric: x}]",
    "routes: [{to: 10.0.0.0/8, via: 10.0.0.1, on-link: perhaps}]",
    "routes: {to: 10.0.0.0/8, via: 10.0.0.1}",
    "mtu: x",
    "macaddress: 1",
    "gateway4: \"fe80::1\"",
    "dhcp4: perhaps",
    "accept-ra: perhaps",
    "parameters: {all-slaves-active: perhaps}",
    "parameters: [mode]",
    "interfaces: eth1",
];

#[test]
fn what_netplan_refuses_is_refused() {
    let Some(root) = Root::new_or_skip("refused") else { return };
    for line in REFUSED {
        let members = if line.starts_with("interfaces") { "" } else { "      interfaces: [eth1]\n" };
        let text = format!(
            "network:\n  version: 2\n  ethernets:\n    eth1: {{}}\n  bonds:\n    bond0:\n{members}      {line}\n"
        );
        let said = root.generate(&[&text]).err().unwrap_or_else(|| panic!("netplan takes {line}"));
        let ours = format("netplan").read(&[source(&text)]);
        assert!(ours.is_err(), "{line}\n{said}");
    }
}

#[test]
fn netplan_takes_what_is_exported() {
    if !is_soak() {
        return;
    }
    let Some(root) = Root::new_or_skip("exported") else { return };
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 2000, ..ProptestConfig::default() });
    let done = runner.run(&roundtrip::team(), |team| {
        prop_assume!(team.config().is_ok());
        // netplan 0.106 refuses an address without a prefix, and writes a metric beyond 31 bits as a negative number.
        prop_assume!(team.routes.iter().all(|route| route.metric.is_none_or(|metric| metric < 1 << 31)));
        prop_assume!(team.addresses.iter().all(|address| address.prefix > 0));
        let written = write("netplan", &Network { teams: vec![team.clone()] });
        let text = &written.files[0].text;
        let generated = root.generate(&[text]).map_err(|said| TestCaseError::fail(format!("{said}\n{text}")))?;
        let theirs = read(format("networkd"), &generated);
        let mut expected = team;
        // What it drops is told.
        let is_dropped = |(name, value): &(String, String)| {
            value == "0" && ["num_grat_arp", "packets_per_slave", "resend_igmp"].contains(&name.as_str())
        };
        let dropped = expected.options.extract_if(.., |option| is_dropped(option)).count();
        prop_assert_eq!(written.left.len(), dropped, "{:?}", written.left);
        // The files of members are read by their names.
        expected.members.sort();
        expected.routes.iter_mut().for_each(as_netplan_writes);
        let mut network = theirs.network;
        network.teams.iter_mut().for_each(|team| team.members.sort());
        prop_assert_eq!(meaning(&network), meaning(&Network { teams: vec![expected] }), "{}", text);
        Ok(())
    });
    done.unwrap_or_else(|error| panic!("{error}"));
}

/// The main table is what a route is in by itself.
fn as_netplan_writes(route: &mut Route) {
    route.table = route.table.filter(|table| *table != 254);
}

/// What stands on the bonds, in the ways of a server.
const ABOVE: [&str; 4] = [
    "  vlans: {bond0.5: {id: 5, link: bond0, addresses: [192.0.2.1/24]}}\n",
    "  vlans: {v5: {id: 5, link: bond0}}\n  bridges: {br0: {interfaces: [v5, eth3], dhcp4: true}, br1: {interfaces: [bond0]}}\n",
    "  bridges: {br0: {interfaces: [bond0, eth3], parameters: {stp: false}}}\n",
    "",
];

#[test]
fn the_printed_commands_switch_the_bond_off() {
    let Some(root) = Root::new_or_skip("commands") else { return };
    for above in ABOVE {
        let text = format!(
            "network:\n  version: 2\n  ethernets: {{eth1: {{}}, eth2: {{mtu: 1500}}, eth3: {{}}}}\n  bonds:\n    bond0:\n      \
             interfaces: [eth1, eth2]\n      addresses: [198.51.100.1/24]\n      parameters: {{mode: 802.3ad}}\n{above}"
        );
        root.generate(&[&text]).unwrap();
        let import = read(format("netplan"), &[source(&text)]);
        let with_root = format!("netplan set --root-dir {}", root.0.display());
        for command in import.disable.iter().filter_map(|of| of.command.as_ref()) {
            let output = Command::new("sh").args(["-c", &command.replace("netplan set", &with_root)]).output().unwrap();
            assert!(output.status.success(), "{above}{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let said = Command::new("netplan").args(["get", "--root-dir"]).arg(&root.0).output().unwrap();
        let left = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(!left.contains("bonds:") && !left.contains("eth1"), "{left}");
        let output = Command::new(GENERATE).arg("--root-dir").arg(&root.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // What stood on the bond stands on the team's device, and keeps what else it had.
        let made = fs::read_to_string(root.0.join("run/systemd/network/10-netplan-nicteam-bond0.network"));
        assert_eq!(made.is_ok(), !above.is_empty(), "{left}");
        if let Ok(made) = made {
            assert!(
                made.contains("[Match]\nName=bond0\n")
                    && (made.contains("CriticalConnection=true") || made.contains("KeepConfiguration=true")),
                "{made}"
            );
            let on_it = if above.contains("link") { "VLAN=" } else { "Bridge=br0" };
            assert!(made.contains(on_it) && left.matches("nicteam-bond0").count() > 1, "{made}{left}");
        }
        for kept in ["eth3", "192.0.2.1/24", "dhcp4: true", "stp: false"].iter().filter(|kept| above.contains(**kept)) {
            assert!(left.contains(kept), "{kept}: {left}");
        }
    }
}

#[test]
fn anchors_stand_for_what_they_stand_for_in_netplan() {
    let Some(root) = Root::new_or_skip("anchors") else { return };
    let text = "network:\n  version: 2\n  ethernets: {eth1: {}, eth2: {}}\n  bonds:\n    bond0:\n      interfaces: &ports [eth1, eth2]\n      \
                parameters: &bp {mode: 802.3ad, lacp-rate: fast}\n      addresses: [&own 192.0.2.1/24]\n    bond1:\n      \
                interfaces: [eth3]\n      parameters: *bp\n      addresses: [198.51.100.1/24]\n";
    let generated = root.generate(&[&text.replace("{eth1: {}, eth2: {}}", "{eth1: {}, eth2: {}, eth3: {}}")]).unwrap();
    let ours = read(format("netplan"), &[source(text)]);
    assert_eq!(ours.network.teams.len(), 2);
    assert_eq!(meaning(&ours.network), meaning(&read(format("networkd"), &generated).network));
}
