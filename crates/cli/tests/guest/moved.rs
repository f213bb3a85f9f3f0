//! What `nicteam up` and `down` move where the host's kernel may lack it: a bond of the kernel's driver becomes a team as docs/up.md
//! has it, and a VLAN device on a member moves. In a guest that has both, and eBPF.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nicteam_oracle::Guest;
use nicteam_oracle::protocol::{Answer, Request};
use nicteam_testnet::{assert_same_network, eventually};

use crate::common::recipe;

/// What the guest needs beside the program.
pub(super) fn programs() -> Vec<&'static Path> {
    ["sh", "ip", "setsid", "sleep"].map(program).to_vec()
}

/// A program of this machine.
pub(super) fn program(name: &str) -> &'static Path {
    let places = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(|folder| Path::new(folder).join(name));
    let found = places.into_iter().find(|path| path.exists());
    // As long as the test runs.
    Box::leak(found.unwrap_or_else(|| panic!("no {name}")).into_boxed_path())
}

/// The host that stays as it is; it has a bridge with both cables of the guest's own.
const FAR: &str = "far";
/// Bytes each way.
const SESSION: usize = 10_000;
/// So long a team may take to go, and a bond to come.
const SETTLED: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Both hosts, joined by `m0` and `m1` of the one and the bridge `br0` of the other.
pub(super) struct Move<'a> {
    guest: &'a mut Guest,
}

fn text(words: &str) -> String {
    words.to_owned()
}

impl<'a> Move<'a> {
    pub(super) fn new(guest: &'a mut Guest) -> Move<'a> {
        for module in ["8021q", "bridge", "macvlan", "nf_tables"] {
            guest.load_module(module).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        // Off in a guest, so that no device speaks by itself.
        for of in ["all", "default"] {
            guest.write(&format!("/proc/sys/net/ipv6/conf/{of}/disable_ipv6"), "0").unwrap();
        }
        guest.must(Request::AddHost { host: text(FAR) });
        let mut net = Move { guest };
        net.far("link add br0 type bridge");
        for member in ["0", "1"] {
            let (name, port) = (format!("m{member}"), format!("p{member}"));
            net.guest.must(Request::AddVeth { name, peer: port.clone() });
            net.guest.must(Request::Give { name: port.clone(), host: text(FAR) });
            net.far(&format!("link set {port} master br0 up"));
        }
        net.far("link set br0 up");
        for line in ["10.3.0.2/24", "2001:db8:3::2/64 nodad", "10.99.0.2/32"] {
            net.far(&format!("address add {line} dev br0"));
        }
        net
    }

    /// `ip` on the far host.
    #[track_caller]
    fn far(&mut self, line: &str) {
        let arguments = line.split(' ').map(text).collect();
        let run = Request::Run { program: text("/bin/ip"), arguments };
        self.guest.must(Request::In { host: text(FAR), request: Box::new(run) });
    }

    #[track_caller]
    fn ip(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        self.guest.run("/bin/ip", &words).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    /// What a shell prints on both outputs.
    #[track_caller]
    fn done(&mut self, script: &str) -> String {
        let shown = "|| { echo \"$said\" >&2; exit 1; }; echo \"$said\"";
        let script = format!("export PATH=/bin\nsaid=$(exec 2>&1\n{script}\n) {shown}");
        self.guest.run("/bin/sh", &["-c", &script]).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    /// What can be compared of the near host's network.
    fn snapshot(&mut self) -> Vec<String> {
        let asked = ["-d link", "-d address", "route show table all", "-6 route show table all", "rule", "-6 rule"];
        let said: Vec<String> = asked.iter().map(|line| self.ip(line)).collect();
        let mut lines: Vec<String> = said.iter().flat_map(|said| said.lines()).map(|line| text(line.trim())).collect();
        lines.sort();
        lines
    }

    /// The same without the numbers of devices: a bond that is made again has another one.
    fn snapshot_without_numbers(&mut self) -> Vec<String> {
        let without = |line: &String| line.split_once(": ").map_or(line.clone(), |(_, rest)| rest.to_owned());
        let mut lines: Vec<String> = self.snapshot().iter().map(without).collect();
        lines.sort();
        lines
    }

    #[track_caller]
    fn becomes(&mut self, look: fn(&mut Self) -> Vec<String>, before: &[String], when: &str) {
        let start = Instant::now();
        while look(self) != before && start.elapsed() < SETTLED {
            thread::sleep(LOOK);
        }
        assert_same_network(&look(self), before, when);
    }

    fn settle(&mut self) {
        eventually("addresses", || !self.snapshot().iter().any(|line| line.contains("tentative")));
    }

    #[track_caller]
    fn connect(&mut self, to: &str) {
        let to: SocketAddr = to.parse().unwrap();
        self.guest.must(Request::Connect { host: text(FAR), to });
    }

    /// Bytes go both ways.
    #[track_caller]
    fn lives_on(&mut self, when: &str) {
        match self.guest.ask(&Request::Exchange { bytes: SESSION }) {
            Ok(Answer::Done) => {}
            other => panic!("{when}: {other:?}"),
        }
    }

    /// The way from a running bond in docs/up.md: nobody confirms it, then somebody does.
    pub(super) fn a_bond_becomes_a_team(&mut self) {
        self.done(
            "ip link add bond0 type bond mode active-backup miimon 50 && ip link set m0 master bond0 && \
             ip link set m1 master bond0 && ip link set bond0 up && ip address add 10.3.0.1/24 dev bond0 && \
             ip address add 2001:db8:3::1/64 dev bond0 && ip route add default via 10.3.0.2 && \
             ip -6 route add default via 2001:db8:3::2",
        );
        self.settle();
        let mac = self.guest.read("/sys/class/net/bond0/address").unwrap();
        let bond = self.snapshot_without_numbers();
        // By the default route; the far host knows the way back.
        self.far("route add default via 10.3.0.1");
        self.connect("10.99.0.2:7001");
        self.lives_on("before");
        let steps = recipe::of_up("From a running bond");
        let [import, export, check, going, confirm] = &steps[..] else { panic!("{steps:?}") };
        self.done(&format!("{import} && {export}"));
        let refused = self.done(&format!("! {check}"));
        let mut in_the_way = refused.lines().filter(|line| line.contains("in the way: ")).peekable();
        assert!(in_the_way.peek().is_some() && in_the_way.all(|line| line.contains("bond0")), "{refused}");
        // The login ends with the bond: it is told so, as a shell is whose terminal goes.
        let login =
            |going: &str| format!("setsid sh -c '{}\nsleep 1; kill -HUP 0' || true", going.replace('\'', "'\\''"));

        self.done(&login(&going.replace("60s", "2s")));
        self.lives_on("on its way");
        self.until_log_has("nicteam confirm bond0");
        self.becomes(Self::snapshot_without_numbers, &bond, "nobody confirmed");
        self.lives_on("the bond is back");
        assert!(self.log().contains("team bond0 was taken down"), "{}", self.log());

        self.done(&login(going));
        self.lives_on("on its way");
        self.until_log_has("nicteam confirm bond0");
        let said = self.done(confirm);
        assert!(said.contains("team bond0 stays up"), "{said}");
        self.until_log_has("team bond0 stays up");
        assert_eq!(self.guest.read("/sys/class/net/bond0/address").unwrap(), mac);
        self.lives_on("a team");
        self.connect("[2001:db8:3::2]:7002");
        self.lives_on("a team");
        let up = self.snapshot();
        for wanted in ["default via 10.3.0.2 dev bond0", "default via 2001:db8:3::2 dev bond0"] {
            assert!(up.iter().any(|line| line.starts_with(wanted)), "{wanted}: {up:#?}");
        }
        let is_global = |line: &&String| line.contains("scope global");
        assert!(!up.iter().filter(is_global).any(|line| line.contains("tentative")), "nobody waits: {up:#?}");
        assert!(!up.iter().any(|line| line.contains("bond mode")), "{up:#?}");
        self.done("nicteam down bond0 && sh /root/back.sh");
        self.becomes(Self::snapshot_without_numbers, &bond, "made by hand");
        self.lives_on("a bond by hand");
        self.done("ip link del bond0");
        self.far("route del default");
    }

    fn log(&mut self) -> String {
        self.guest.read("/root/move.log").unwrap_or_default()
    }

    #[track_caller]
    fn until_log_has(&mut self, words: &str) {
        // The verifier walks through the programs before, which takes minutes beside other tests.
        let start = Instant::now();
        while !self.log().contains(words) {
            assert!(start.elapsed() < Duration::from_secs(300), "{words} did not come about:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// A VLAN device on a member, with an address, a route, and a macvlan on it. It moves alike on both dataplanes, and packet
    /// sockets save a walk of the verifier.
    pub(super) fn a_vlan_device_moves(&mut self) {
        self.far("link add link br0 name br0.7 type vlan id 7");
        self.far("address add 10.7.0.2/24 dev br0.7");
        self.far("link set br0.7 up");
        self.done(
            "ip link set m0 up && ip link set m1 up && ip address add 10.3.0.1/24 dev m0 && \
             ip link add link m0 name m0.7 type vlan id 7 reorder_hdr off ingress-qos-map 1:2 egress-qos-map 3:4 && \
             ip address add 10.7.0.1/24 dev m0.7 && ip link set m0.7 up && ip route add 10.77.0.0/16 via 10.7.0.2 && \
             ip link add link m0.7 name above0 type macvlan mode bridge && ip address add 10.8.0.1/24 dev above0 && \
             ip link set above0 up && ip route add 10.88.0.0/16 via 10.8.0.2 && \
             echo '[teams.team0]\nmembers = [\"m0\", \"m1\"]\nmode = \"active-backup\"\nmiimon = 50\n\
             dataplane = \"packet\"' > /root/vlan.toml",
        );
        self.settle();
        let before = self.snapshot();
        self.connect("10.7.0.2:7003");
        self.lives_on("before");
        let said = self.done("nicteam check /root/vlan.toml");
        assert!(said.contains("make vlan m0.7 again on team0"), "{said}");
        self.done("nicteam up /root/vlan.toml");
        self.lives_on("up");
        let up = self.snapshot();
        let has = |words: &[&str]| up.iter().any(|line| words.iter().all(|word| line.contains(word)));
        for words in [
            &["m0.7@team0"][..],
            &["above0@m0.7"],
            &["vlan protocol 802.1Q id 7"],
            &["10.7.0.1/24", "m0.7"],
            &["10.77.0.0/16 via 10.7.0.2 dev m0.7"],
            &["10.88.0.0/16 via 10.8.0.2 dev above0"],
        ] {
            assert!(has(words), "{words:?}: {up:#?}");
        }
        self.done("nicteam down team0");
        self.lives_on("down");
        self.becomes(Self::snapshot, &before, "down");
    }
}
