//! What the driver prints in `/proc/net/bonding` in mode 802.3ad: the files in
//! `crates/daemon/tests/data/proc-6.1`, which `show --format proc` is compared with
//! in the same situations. `NICTEAM_RECORD=1` writes them.

use std::time::{Duration, Instant};

use nicteam_oracle::Guest;
use nicteam_oracle::protocol::{Bytes, Request};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");
const FAR: (&str, &str) = ("ad_actor_system", "02:00:00:00:00:99");
/// A state that lasts that long stays, until somebody churns.
const LASTS: Duration = Duration::from_secs(8);
/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

type Options<'a> = &'a [(&'a str, &'a str)];

/// `team0` of `eth0` and `eth1`, whose cables end at `p0` and `p1`.
struct Bench {
    guest: Guest,
    bonds: Vec<&'static str>,
}

impl Bench {
    fn new() -> Option<Bench> {
        Some(Bench { guest: nicteam_oracle::guest(AGENT)?, bonds: Vec::new() })
    }

    /// New cables, the far bonds, then `team0`.
    fn build(&mut self, near: Options<'_>, far: &[(&'static str, Options<'_>, &[&str])]) {
        for bond in std::mem::take(&mut self.bonds) {
            self.guest.remove_bond(bond);
        }
        for n in 0..2_u8 {
            let (name, peer) = (format!("eth{n}"), format!("p{n}"));
            let _ = self.guest.ask(&Request::Delete { name: name.clone() });
            self.guest.must(Request::AddVeth { name: name.clone(), peer: peer.clone() });
            self.guest.must(Request::SetMac { name, mac: Bytes(vec![2, 0, 0, 0, 0, n + 1]) });
            if far.is_empty() {
                self.plug(&peer, true);
            }
        }
        for (bond, options, members) in far {
            let members: Vec<String> = members.iter().map(|&name| name.to_owned()).collect();
            self.bond(bond, &[&[FAR], *options].concat(), &members);
        }
        self.bond("team0", near, &["eth0".to_owned(), "eth1".to_owned()]);
    }

    fn bond(&mut self, bond: &'static str, options: Options<'_>, members: &[String]) {
        let common = [("mode", "802.3ad"), ("miimon", "100")];
        self.guest.add_bond(bond, &[&common, options].concat(), members);
        self.bonds.push(bond);
    }

    fn plug(&mut self, port: &str, up: bool) {
        self.guest.must(Request::SetUp { name: port.to_owned(), up });
    }

    /// A member and its partner both distribute.
    fn carries(&mut self) {
        let start = Instant::now();
        while self.guest.proc_bonding("team0").unwrap().matches("port state: 61").count() < 2 {
            assert!(start.elapsed() < PATIENCE, "no member carries");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The driver prints what the file has; or the file gets what it prints for long.
    #[track_caller]
    fn prints(&mut self, name: &str) {
        let path = format!("{}/../daemon/tests/data/proc-6.1/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let record = std::env::var_os("NICTEAM_RECORD").is_some();
        let file = std::fs::read_to_string(&path).unwrap_or_default();
        let (start, mut since, mut printed) = (Instant::now(), Instant::now(), String::new());
        loop {
            let now = self.guest.proc_bonding("team0").unwrap() + "\n";
            if now != printed {
                (printed, since) = (now, Instant::now());
            }
            let is_as_recorded = release(&printed).starts_with("v6.1.");
            let compared = |text: &str| if is_as_recorded { behind_version(text).to_owned() } else { settled(text) };
            if !record && compared(&printed) == compared(&file) {
                return;
            }
            if record && since.elapsed() > LASTS {
                return std::fs::write(&path, printed).unwrap();
            }
            if start.elapsed() > PATIENCE {
                assert_eq!(compared(&printed), compared(&file), "{name}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What stands behind the first line, which names the kernel's release.
fn behind_version(printed: &str) -> &str {
    printed.split_once('\n').map_or("", |(_, rest)| rest)
}

/// The kernel's release, in the first line.
fn release(printed: &str) -> &str {
    printed.lines().next().and_then(|line| line.rsplit(' ').next()).unwrap_or_default()
}

/// What every release prints: newer ones than the files' (6.12.113 among them) go on to change the LACP state of a member
/// that is down.
fn settled(printed: &str) -> String {
    let mut is_down = false;
    let mut kept = Vec::new();
    for line in behind_version(printed).lines() {
        match line {
            line if line.starts_with("Slave Interface:") => is_down = false,
            "MII Status: down" => is_down = true,
            line if is_down && line.trim_start().starts_with("port state:") => continue,
            _ => {}
        }
        kept.push(line);
    }
    kept.join("\n")
}

#[test]
fn the_driver_prints_what_the_files_have() {
    let Some(mut bench) = Bench::new() else { return };
    let both: &[&str] = &["p0", "p1"];
    bench.build(&[], &[("far0", &[], both)]);
    bench.prints("802.3ad");
    bench.plug("p1", false);
    bench.prints("802.3ad-one-down");
    bench.plug("p0", false);
    bench.prints("802.3ad-all-down");

    let near = [
        ("lacp_rate", "fast"),
        ("lacp_active", "off"),
        ("ad_actor_sys_prio", "5"),
        ("ad_user_port_key", "7"),
        ("xmit_hash_policy", "layer3+4"),
        ("ad_select", "count"),
        ("min_links", "2"),
    ];
    bench.build(&near, &[("far0", &[("ad_user_port_key", "9")], both)]);
    bench.prints("802.3ad-options");
    bench.plug("p1", false);
    bench.prints("802.3ad-min-links");

    bench.build(&[], &[]);
    bench.prints("802.3ad-no-partner");

    // Of two aggregators the one that has a partner first stays chosen.
    bench.build(&[], &[("far0", &[("ad_user_port_key", "1")], &["p0"])]);
    bench.carries();
    bench.bond("far1", &[FAR, ("ad_user_port_key", "2")], &["p1".to_owned()]);
    bench.prints("802.3ad-keys-differ");
}
