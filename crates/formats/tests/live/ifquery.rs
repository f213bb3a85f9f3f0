//! Debian's `ifquery` beside what is read here: the same files, devices, members and addresses, and the same refusals.
//!
//! `NICTEAM_SOAK=1` takes more files; `NICTEAM_SEED` takes others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nicteam_formats::ifupdown::Interfaces;
use nicteam_formats::{Source, Team};
use nicteam_testnet::{Host, is_soak, looped_cable, may_make_networks};

use crate::imports::format;

/// Sets of files of a sample, and of the whole.
const SAMPLE: u64 = 120;
const SOAK: u64 = 5_000;

/// Devices that there are, so that patterns find them.
const DEVICES: [&str; 4] = ["eth0", "eth1", "eth2", "wl0"];
const BONDS: [&str; 2] = ["bond0", "bond1"];
/// What else may have a stanza.
const OTHERS: [&str; 3] = ["fast", "base", "x.5"];

/// Words of `auto` and its kin; patterns find no bond, for there is none yet.
const SELECTIONS: &[&str] =
    &["eth0", "eth1 bond0", "/eth*", "/eth[02]", "/wl?", "/e*", "/[!e]l0", "bond1", "lo", "/nope*", "eth2\tbond0"];
const NAMED: &[&str] = &[
    "source interfaces.d/*",
    "source interfaces.d/*.cfg",
    "source interfaces.d/[ab]*",
    "source nothere/*",
    "source *.d/bond",
    "source more/q interfaces.d/a.cfg",
    "source-directory interfaces.d",
    "source-dir more",
    "source-directory m*",
];
const FILES: &[&str] =
    &["interfaces.d/a.cfg", "interfaces.d/bond", "interfaces.d/.hidden", "interfaces.d/b-1", "more/q", "more/r.conf"];
/// What `ifquery` refuses a file for.
const WRONG: &[&str] = &[
    "iface y inet manual\n    up\n",
    "iface y inet manual inherits nope\n",
    "iface y inherits\n",
    "iface\n",
    "iface y inet5 static\n",
    "source nothere\n    mtu 1400\n",
    "iface y inet manual\n    mtu \\ \n    1400\n",
];

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len())]
    }
}

/// Stanzas, in no order but that templates are ahead as a rule.
fn stanzas(random: &mut Random) -> Vec<String> {
    let mut all = vec![
        "iface base inet manual\n    mtu 1400\n".to_owned(),
        "iface fast inet static inherits base\n    bond-miimon 100\n".to_owned(),
    ];
    let mut free: Vec<&str> = DEVICES.to_vec();
    for (number, bond) in BONDS.iter().enumerate().take(1 + random.below(2)) {
        let heads = [
            "inet static",
            "inet static inherits fast",
            "inet inherits fast",
            "inherits fast",
            "inet static inherits base",
        ];
        let mut text = format!("iface {bond} {}\n", random.pick(&heads));
        text += &match random.below(4) {
            // The netmask holds.
            3 => format!("    address 10.{number}.0.1/24\n    netmask 255.255.0.0\n"),
            0 => format!("    address 10.{number}.0.1\n    netmask 255.255.0.0\n"),
            1 => format!("\taddress 10.{number}.0.1/2{number}\n"),
            _ => format!("  address 10.{number}.0.1\n"),
        };
        text += random.pick(&["    bond-mode 1\n", "    bond_mode 4\n", "bond-mode 0  \n", "# \\\n"]);
        let (first, second) = (free.remove(random.below(free.len())), free.remove(random.below(free.len())));
        text += &match random.below(4) {
            0 => format!("    bond-slaves {first} {second}\n"),
            1 => format!("    bond-slaves {first} \\\n  {second}\n"),
            2 => format!("    bond-slaves\t{first}\n    bond-slaves {second}\n"),
            _ => {
                for member in [first, second] {
                    all.push(format!("iface {member} inet manual\n    bond-master {bond}\n"));
                }
                "    bond-slaves none\n".to_owned()
            }
        };
        all.push(text);
        if random.one_in(3) {
            all.push(format!("iface {bond} inet6 static\n    address 2001:db8::1{number}/64\n"));
        }
    }
    all.extend(free.iter().map(|device| format!("iface {device} inet dhcp\n")));
    all.push("iface x.5 inet6 auto\n".to_owned());
    all
}

/// The texts of some files, by their paths.
fn files(random: &mut Random) -> BTreeMap<&'static str, String> {
    let mut files = BTreeMap::from([("interfaces", String::new())]);
    let mut others: Vec<&str> = FILES.to_vec();
    for _ in 0..random.below(4) {
        files.insert(others.remove(random.below(others.len())), String::new());
    }
    for stanza in stanzas(random) {
        let names: Vec<&str> = files.keys().copied().collect();
        let into = if random.one_in(3) { random.pick(&names) } else { "interfaces" };
        files.get_mut(into).unwrap().push_str(&stanza);
    }
    for text in files.values_mut() {
        for _ in 0..random.below(3) {
            let line = random.pick(&["auto", "allow-hotplug", "allow-auto", "allow-other", "no-auto-down"]);
            let words = random.pick(SELECTIONS);
            *text = match random.one_in(2) {
                true => format!("{line} {words}\n{text}"),
                false => format!("{text}\n{line}  {words} \n"),
            };
        }
    }
    let main = files.get_mut("interfaces").unwrap();
    for _ in 0..random.below(4) {
        *main = match random.one_in(2) {
            true => format!("{}\n{main}", random.pick(NAMED)),
            false => format!("{main}{}\n", random.pick(NAMED)),
        };
    }
    if random.one_in(6) {
        *main += random.pick(WRONG);
    }
    files
}

/// A folder that goes with its handle.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = std::env::temp_dir().join(format!("nicteam-ifquery-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn fill(&self, files: &BTreeMap<&str, String>) -> Vec<Source> {
        fs::remove_dir_all(&self.0).unwrap();
        let write = |(path, text): (&&str, &String)| {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            Source::new(path.display().to_string(), text.clone())
        };
        files.iter().map(write).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What `ifquery` says.
struct Theirs<'a> {
    host: &'a Host,
    main: &'a Path,
}

impl Theirs<'_> {
    fn ask(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("ifquery");
        command.arg("-i").arg(self.main).args(arguments);
        self.host.netns.run(|| command.output()).unwrap().unwrap()
    }

    /// What is wrong with a file: of one that another names it leaves out the rest, and goes on.
    fn is_refused(&self) -> Option<String> {
        let said = String::from_utf8_lossy(&self.ask(&["--list"]).stderr).into_owned();
        let is_wrong = |line: &str| line.split(':').nth(2).is_some_and(|number| number.parse::<u32>().is_ok());
        said.lines().any(is_wrong).then_some(said)
    }

    /// What is set up at boot, or when it appears.
    fn automatic(&self) -> BTreeSet<String> {
        let outputs = [self.ask(&["--list"]), self.ask(&["--list", "--allow", "hotplug"])];
        outputs
            .iter()
            .flat_map(|of| String::from_utf8_lossy(&of.stdout).lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    /// The options of a device, if it has a stanza; a line that names none goes on with the one ahead.
    fn options(&self, device: &str) -> Option<Vec<(String, String)>> {
        let output = self.ask(&[device]);
        let mut options: Vec<(String, String)> = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match (line.split_once(": "), options.last_mut()) {
                (Some((name, value)), _) => options.push((name.replace('_', "-"), value.to_owned())),
                (None, Some((_, value))) => *value += &format!(" {line}"),
                (None, None) => {}
            }
        }
        output.status.success().then_some(options)
    }
}

fn all<'o>(options: &'o [(String, String)], name: &str) -> Vec<&'o str> {
    options.iter().filter(|(of, _)| of == name).map(|(_, value)| value.as_str()).collect()
}

/// Holds a team against what `ifquery` says of its bond.
fn assert_same(theirs: &Theirs<'_>, bond: &str, team: Option<&Team>) {
    let options = theirs.options(bond).unwrap_or_default();
    let lists = all(&options, "bond-slaves");
    let listed =
        lists.iter().flat_map(|list| list.split_whitespace()).filter(|word| *word != "none").map(str::to_owned);
    let has_it = |device: &&str| all(&theirs.options(device).unwrap_or_default(), "bond-master") == [bond];
    let masters = DEVICES.into_iter().filter(has_it).map(str::to_owned);
    let members: BTreeSet<String> = listed.chain(masters).collect();
    let Some(team) = team else { return assert!(members.is_empty(), "{bond} is no team, and has {members:?}") };
    assert_eq!(team.members.iter().cloned().collect::<BTreeSet<_>>(), members, "members of {bond}");
    let prefix = |mask: &str| match mask.parse::<std::net::Ipv4Addr>() {
        Ok(mask) => mask.to_bits().leading_ones().to_string(),
        Err(_) => mask.to_owned(),
    };
    let (addresses, masks) = (all(&options, "address"), all(&options, "netmask"));
    let pairs = addresses.iter().zip(&masks).map(|(address, mask)| format!("{address}/{}", prefix(mask)));
    let ours: BTreeSet<String> = team.addresses.iter().map(ToString::to_string).collect();
    assert_eq!(ours, pairs.collect::<BTreeSet<_>>(), "addresses of {bond}");
    let value = |name: &str| team.options.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
    let mode = all(&options, "bond-mode").first().map(|mode| match *mode {
        "0" => "balance-rr",
        "1" => "active-backup",
        _ => "802.3ad",
    });
    assert_eq!(value("mode"), mode, "mode of {bond}");
    assert_eq!(value("miimon"), all(&options, "bond-miimon").first().copied(), "miimon of {bond}");
    assert_eq!(team.mtu.map(|mtu| mtu.to_string()).as_deref(), all(&options, "mtu").first().copied(), "MTU of {bond}");
}

fn assert_agreed(theirs: &Theirs<'_>, sources: &[Source]) {
    let read = format("ifupdown").read(sources);
    if let Some(said) = theirs.is_refused() {
        return assert!(read.is_err(), "only ifquery refuses it: {said}");
    }
    let teams = match read {
        Ok(import) => import.network.teams,
        // A bond is none without its members, which may stand where nobody reads them.
        Err(error) if error.to_string().contains("has no members") => return,
        Err(error) => panic!("ifquery reads it: {error}"),
    };
    let ours = Interfaces::read(sources);
    let defined: BTreeSet<&str> = ours.definitions.iter().map(|of| of.device.as_str()).collect();
    let automatic = theirs.automatic();
    for device in DEVICES.iter().chain(&BONDS).chain(&OTHERS) {
        let has_options = theirs.options(device).is_some();
        assert_eq!(defined.contains(device), has_options, "the stanza of {device}");
        if has_options {
            assert_eq!(ours.is_automatic(device), automatic.contains(*device), "{device} is automatic: {automatic:?}");
        }
    }
    for bond in BONDS {
        assert_same(theirs, bond, teams.iter().find(|team| team.name == bond));
    }
}

#[test]
fn the_same_files_devices_members_and_addresses() {
    if Command::new("ifquery").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: needs ifquery (ifupdown)");
    }
    if !may_make_networks() {
        return;
    }
    let mut host = Host::quiet();
    looped_cable(&mut host, DEVICES[0], DEVICES[1]);
    looped_cable(&mut host, DEVICES[2], DEVICES[3]);
    let folder = Folder::new();
    #[allow(clippy::disallowed_methods, reason = "the user who looks for more files sets where to begin")]
    let first = std::env::var("NICTEAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0_u64);
    let count = if is_soak() { SOAK } else { SAMPLE };
    for seed in first..first + count {
        let files = files(&mut Random(seed));
        let sources = folder.fill(&files);
        let main = folder.0.join("interfaces");
        let theirs = Theirs { host: &host, main: &main };
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| assert_agreed(&theirs, &sources)));
        if done.is_err() {
            files.iter().for_each(|(path, text)| eprintln!("=== {path}\n{text}"));
            panic!("NICTEAM_SEED={seed}");
        }
    }
}
