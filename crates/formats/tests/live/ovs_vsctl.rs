//! The real `ovs-vsctl` beside what is read here: the same output, the same words where it refuses, the same exit code.

use nicteam_testnet::{OpenVSwitch, is_soak};
use nicteam_vsctl::quoted;

use crate::t5::Console;
use crate::words;

/// Exit code, standard output, and what is wrong.
type Outcome = (i32, String, String);

/// A console here and one there, with the same history.
struct Pair {
    real: OpenVSwitch,
    ours: Console,
}

impl Pair {
    fn start() -> Option<Pair> {
        let mut real = OpenVSwitch::start_or_skip()?;
        // Its database is enough: nobody waits for a switch, and no device is looked for.
        real.crash();
        Some(Pair { real, ours: Console::default() })
    }

    fn theirs(&self, line: &str) -> Outcome {
        let words = words(line);
        let arguments: Vec<&str> = ["--no-wait"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let output = self.real.try_vsctl(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = said.lines().last().unwrap_or_default();
        let said = last.strip_prefix("ovs-vsctl: ").unwrap_or(last).to_owned();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), said)
    }

    fn ours(&mut self, line: &str) -> Outcome {
        match self.ours.run(line) {
            Ok(done) if done.is_missing => (2, String::new(), String::new()),
            Ok(done) => (0, done.output.concat(), String::new()),
            Err(error) => (1, String::new(), error.to_string()),
        }
    }

    #[track_caller]
    fn agree(&mut self, line: &str) {
        let (theirs, ours) = (self.theirs(line), self.ours(line));
        assert_eq!(ours, theirs, "{line}");
    }
}

/// Lines in turn, each after all before it.
const LINES: &[&str] = &[
    "",
    "--",
    "bogus",
    "add-br",
    "add-br my_test",
    "add-br my_test",
    "--may-exist add-br my_test",
    "-- --may-exist add-br my_test",
    "--may-exist -- add-br my_test",
    "add-br ''",
    "add-br x y",
    "list-br",
    "list-br x",
    "list-ports my_test",
    "list-ports nope",
    "add-bond my_test bond0",
    "add-bond my_test bond0 eth0",
    "add-bond my_test bond0 eth0 eth1 eth2",
    "add-bond my_test bond0 eth0 eth1 eth2",
    "--may-exist add-bond my_test bond0 eth2 eth0 eth1",
    "--may-exist add-bond my_test bond0 eth0 eth1",
    "--may-exist add-bond nope bond0 eth0 eth1",
    "add-bond my_test bond1 eth0 eth3",
    "add-bond my_test bond1 my_test eth3",
    "add-bond my_test my_test eth4 eth3",
    "add-bond nope bond1 eth4 eth3",
    "add-bond my_test bond1 eth4 eth3 foo=bar",
    "add-bond my_test bond1 eth4 eth3 bond_mode=foo",
    "add-bond my_test bond1 eth4 eth3 bond_mode:x=foo",
    "add-bond my_test bond1 eth4 eth3 lacp=foo",
    "add-bond my_test bond1 eth4 bond_mode=balance-slb",
    "add-bond my_test bond1 '' eth3",
    "add-bond my_test '' eth4 eth3",
    "add-port my_test eth5",
    "add-port my_test eth5",
    "--may-exist add-port my_test eth5",
    "--may-exist add-port my_test bond0",
    "--may-exist add-port my_test my_test",
    "add-port my_test eth0",
    "add-port nope eth6",
    "add-port my_test ''",
    "add-port my_test eth7 lacp=active x",
    "list-ports my_test",
    "list-ifaces my_test",
    "set port my_test bond_mode=balance-slb",
    "set port bond0 bond_mode=balance-slb lacp=active",
    "set p bond0 Bond-Mode=balance-tcp l=passive",
    "set port nope lacp=off",
    "--if-exists set port nope lacp=off",
    "set port eth0 lacp=off",
    "set interface bond0 mtu_request=1400",
    "set interface eth0 mtu_request=1400",
    "set interface eth0 mtu_request=0",
    "set interface my_test mtu_request=1400",
    "set bridge nope fail_mode=standalone",
    "set bridge my_test fail_mode=foo",
    "set prt bond0 lacp=off",
    "set i eth0 mtu_request=1400",
    "set '' bond0 lacp=off",
    "set Port bond0",
    "set port bond0 lacp",
    "set port bond0 lacp=",
    "set port bond0 =x",
    "set port bond0 ''",
    "set port bond0 name=x",
    "set port bond0 b=1",
    "set port bond0 bond_mode=active-backup,balance-slb",
    "set port bond0 bond_mode=[]",
    "set port bond0 bond_mode=[balance-slb]",
    "set port bond0 bond_mode=\"balance-slb\"",
    "set port bond0 'bond_mode=\"balance'",
    "set port bond0 bond_mode==x",
    "set port bond0 bond_mode=balance-slb]",
    "set port bond0 bond_mode=[balance-slb]x",
    "set port bond0 bond_mode=[balance-slb",
    "set port bond0 bond_mode={x=1}",
    "set port bond0 'lacp=act ive'",
    "set port bond0 'lacp=a\"b'",
    "set port bond0 bond_fake_iface=maybe",
    "set port bond0 bond_fake_iface=false",
    "set port bond0 bond_fake_iface=[]",
    "set port bond0 bond_updelay=x",
    "set port bond0 bond_updelay=1.5",
    "set port bond0 bond_updelay=1,2",
    "set port bond0 bond_updelay=1-3",
    "set port bond0 bond_updelay=+5",
    "set port bond0 bond_updelay=99999999999999999999",
    "set port bond0 bond_updelay==",
    "set port bond0 trunks=x",
    "set port bond0 trunks=5000",
    "set port bond0 trunks=1,1",
    "set port bond0 trunks==",
    "set port bond0 tag=-1",
    "set port bond0 interfaces=x",
    "set port bond0 other_config:x",
    "set port bond0 other_config:=1",
    "set port bond0 other_config:x=1",
    "set port bond0 other_config:x:y=1",
    "set port bond0 'other_config:x=\"1'",
    "set port bond0 other_config={x=1,y=2}",
    "set port bond0 other_config={x=1,x=2}",
    "set port bond0 other_config={x=1",
    "set port bond0 other_config=!",
    "set port bond0 other_config=",
    "set port bond0 statistics:x=y",
    "set port bond0 external_ids:a=b",
    "port-to-br bond0",
    "port-to-br eth0",
    "port-to-br my_test",
    "iface-to-br eth0",
    "iface-to-br bond0",
    "br-exists my_test",
    "br-exists nope",
    "br-exists nope -- list-br",
    "list-br -- br-exists nope",
    "list-br -- br-exists my_test -- list-ports my_test",
    "add-br br2 -- add-port br2 eth8 -- bogus",
    "add-br br2 -- add-port nope eth8",
    "list-br",
    "add-br br2 -- -- add-port br2 eth8 --",
    "--may-exist add-port br2 bond0",
    "--may-exist add-bond br2 bond0 eth0 eth1 eth2",
    "add-bond-iface bond0 eth9",
    "add-bond-iface bond0 eth9",
    "--may-exist add-bond-iface bond0 eth9",
    "add-bond-iface nope eth10",
    "add-bond-iface my_test eth10",
    "del-bond-iface eth9",
    "del-bond-iface eth9",
    "--if-exists del-bond-iface eth9",
    "del-bond-iface eth5 eth0",
    "del-bond-iface nope eth0",
    "del-bond-iface bond0 eth0",
    "del-bond-iface bond0 eth1",
    "del-bond-iface bond0 eth2",
    "del-port nope",
    "--with-iface del-port nope",
    "del-port eth2",
    "del-port my_test",
    "del-port nope eth5",
    "del-port br2 eth5",
    "--if-exists del-port br2 eth5",
    "--if-exists del-port nope",
    "--if-exists del-port my_test",
    "del-port my_test eth5",
    "--with-iface del-port my_test eth2",
    "list-ports my_test",
    "del-br nope",
    "--if-exists del-br nope",
    "del-br my_test -- list-br",
    "del-br br2 -- list-br",
    "--foo list-br",
    "-x list-br",
    "--timeout=x list-br",
    "--timeout",
    "-t 5 list-br",
    "--no-wait=3 list-br",
    "--if-exists add-br x",
    "-- --foo add-br x",
    "-- --may-exist --may-exist add-br x",
    "-- --may-exist=1 add-br x",
    "--dry-run add-br x",
    "init",
];

#[test]
fn lines_in_turn_have_the_same_outcome() {
    let Some(mut pair) = Pair::start() else { return };
    for line in LINES {
        pair.agree(line);
    }
}

/// Random lines about few names: most clash with what is there.
#[test]
fn random_lines_have_the_same_outcome() {
    let Some(mut pair) = Pair::start() else { return };
    let mut random = Random(0x0b5e_55ed);
    for _ in 0..if is_soak() { 3000 } else { 150 } {
        let line = random.line();
        pair.agree(&line);
    }
    pair.agree("list-br");
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn line(&mut self) -> String {
        let commands: Vec<String> = (0..=self.below(3)).map(|_| self.command()).collect();
        format!("-- {}", commands.join(" -- "))
    }

    fn command(&mut self) -> String {
        const BRIDGES: &[&str] = &["b0", "b1", "b2"];
        const PORTS: &[&str] = &["p0", "p1", "p2", "e0", "b0"];
        const INTERFACES: &[&str] = &["e0", "e1", "e2", "e3", "p1"];
        const SETTINGS: &[&str] =
            &["lacp=active", "bond_mode=balance-slb", "bond_updelay=5", "other_config:lacp-time=fast"];
        let [bridge, port, setting] = [self.one(BRIDGES), self.one(PORTS), self.one(SETTINGS)];
        let (one, other) = (self.one(INTERFACES), self.one(INTERFACES));
        let may = self.one(&["", "--may-exist "]);
        let exists = self.one(&["", "--if-exists "]);
        match self.below(12) {
            0 | 1 => format!("{may}add-br {bridge}"),
            2 => format!("{exists}del-br {bridge}"),
            3 => format!("{may}add-port {bridge} {port}"),
            4 | 5 if one != other => format!("{may}add-bond {bridge} {port} {one} {other} {setting}"),
            6 => format!("{exists}del-port {port}"),
            7 => format!("{exists}--with-iface del-port {bridge} {port}").replace("exists--", "exists --"),
            8 => format!("set port {port} {setting}"),
            9 => format!("set interface {one} mtu_request=1400"),
            10 => format!("list-ifaces {bridge}"),
            _ => format!("list-ports {bridge}"),
        }
    }
}

#[test]
fn a_quoted_word_is_one_to_a_shell() {
    for word in ["a b", "", "it's", "$x", "bond_mode=balance-slb", "`x`", "a\"b\\"] {
        let output = std::process::Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output();
        assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), word);
    }
}
