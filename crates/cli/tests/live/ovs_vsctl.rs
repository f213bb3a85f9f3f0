//! `nicteam ovs vsctl`: what published test T5 types, word by word, carried out; frames pass; the undo.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};
use std::time::Duration;

use nicteam_testnet::{Host, Switch, cable, datagrams, eventually, may_make_networks};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::teams::TeamHost;

/// T5's host with three links into a switch, and a PC there.
struct Bench {
    linux: TeamHost,
    switch: Switch,
    pc: Host,
}

impl Bench {
    fn new() -> Option<Bench> {
        if !may_make_networks() {
            return None;
        }
        let (mut linux, mut pc, mut switch) = (Host::quiet(), Host::quiet(), Switch::new());
        switch.join_all(&mut linux, "eth", "a", 3);
        switch.join(&mut pc, "eth0", "pc");
        Some(Bench { linux: TeamHost::new(linux), switch, pc })
    }

    /// A line of T5: `ovs-vsctl add-br my_test`, `ovs-appctl bond/show bond0`.
    fn type_line(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split(' ').collect();
        let ours: &[&str] = match words[0] {
            "ovs-vsctl" => &["ovs", "vsctl"],
            "ovs-appctl" => &["ovs"],
            other => panic!("{other}"),
        };
        self.linux.nicteam(&[ours, &words[1..]].concat()).output().unwrap()
    }

    /// Standard output of a line that succeeds and says nothing else.
    #[track_caller]
    fn run(&self, line: &str) -> String {
        let output = self.type_line(line);
        assert_eq!(text(&output.stderr), "", "{line}");
        assert!(output.status.success(), "{line}");
        text(&output.stdout)
    }

    /// Standard error of a line that fails with this code.
    #[track_caller]
    fn refuse(&self, code: i32, line: &str) -> String {
        let output = self.type_line(line);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(code), ""), "{line}");
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Datagrams both ways.
#[track_caller]
fn reach(a: &Host, b: &Host, [from, to]: [u8; 2], when: &str) {
    let address = |n: u8| SocketAddr::from(([10, 5, 0, n], 7000 + u16::from(from)));
    let sockets = datagrams((a, address(from)), (b, address(to)));
    nicteam_testnet::assert_reach(&sockets, when);
    let back = (sockets.1, sockets.0);
    back.1.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    nicteam_testnet::assert_reach(&back, when);
}

#[test]
fn topology_2_of_t5_is_built_by_its_own_lines() {
    let Some(mut bench) = Bench::new() else { return };
    assert_eq!(bench.run("ovs-vsctl add-br my_test"), "");
    assert_eq!(bench.run("ovs-vsctl add-bond my_test bond0 eth0 eth1 eth2"), "");
    assert!(bench.run("ovs-appctl bond/show bond0").contains("bond_mode: active-backup\n"));
    assert_eq!(bench.run("ovs-vsctl del-port bond0"), "");
    assert_eq!(bench.run("ovs-vsctl add-bond my_test bond0 eth0 eth1 eth2 bond_mode=balance-slb"), "");
    // Two guests behind the bridge.
    let mut guests = [Host::quiet(), Host::quiet()];
    for (number, guest) in (1..).zip(&mut guests) {
        let port = format!("guest{number}");
        cable(guest, "eth0", &mut bench.linux.host, &port);
        guest.address("eth0", &[(&format!("10.5.0.{number}"), 24)]);
        assert_eq!(bench.run(&format!("ovs-vsctl add-port my_test {port}")), "");
    }
    bench.pc.address("eth0", &[("10.5.0.9", 24)]);
    bench.linux.host.address("my_test", &[("10.5.0.7", 24)]);
    assert_eq!(bench.run("ovs-vsctl list-ports my_test"), "bond0\nguest1\nguest2\n");
    assert_eq!(
        bench.run("ovs-appctl bond/list"),
        "bond\ttype\trecircID\tmembers\nbond0\tbalance-slb\t0\teth0, eth1, eth2\n"
    );
    reach(&guests[0], &bench.pc, [1, 9], "a guest and the PC");
    reach(&guests[1], &bench.pc, [2, 9], "the other guest and the PC");
    reach(&bench.linux.host, &bench.pc, [7, 9], "the host itself and the PC");
    reach(&guests[0], &guests[1], [1, 2], "the guests");
    let shown: Value = serde_json::from_str(&bench.run("ovs-appctl bond/show bond0 --json")).unwrap();
    let [bond] = shown.as_array().unwrap().as_slice() else { panic!("{shown}") };
    assert_eq!((&bond["name"], &bond["mode"]), (&"bond0".into(), &"balance-slb".into()));
    assert_eq!(bond["members"][2]["name"], "eth2");
    assert_eq!(bench.run("ovs-appctl lacp/show --json"), "[]\n");
    bench.switch.set_up("a0", false);
    eventually("one member less", || bench.run("ovs-appctl bond/show bond0").contains("member eth0: disabled"));
    reach(&guests[0], &bench.pc, [1, 9], "a guest after a cable was pulled");
}

#[test]
fn their_slip_is_taken_with_a_warning() {
    let Some(bench) = Bench::new() else { return };
    bench.run("ovs-vsctl add-br my_test");
    bench.run("ovs-vsctl add-bond my_test bond0 eth0 eth1 eth2");
    let output = bench.type_line("ovs-vsctl set port my_test bond_mode=balance-slb");
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(0), ""));
    let (warning, hint) = (
        "warning: my_test is the local port of bridge my_test, where the settings of a bond have no effect; its bond is bond0",
        "hint: `nicteam ovs vsctl set port bond0 bond_mode=balance-slb`",
    );
    assert_eq!(text(&output.stderr), format!("{warning}\n{hint}\n"));
    assert!(bench.run("ovs-appctl bond/show bond0").contains("bond_mode: active-backup\n"));
    bench.run("ovs-vsctl set port bond0 bond_mode=balance-slb");
    assert!(bench.run("ovs-appctl bond/show bond0").contains("bond_mode: balance-slb\n"));
    let refused = bench.refuse(1, "ovs-vsctl set port bond1 bond_mode=balance-slb");
    let words = "nicteam: no row \"bond1\" in table Port\n  set port bond1 bond_mode=balance-slb\n           ^^^^^\n\
                 hint: did you mean `bond0`?\n";
    assert_eq!(refused, words);
}

#[test]
fn settings_arrive_at_the_team_while_it_runs() {
    let Some(bench) = Bench::new() else { return };
    bench.run("ovs-vsctl add-br my_test -- add-bond my_test bond0 eth0 eth1");
    let pid = |bench: &Bench| bench.linux.status("bond0")["pid"].clone();
    let before = pid(&bench);
    bench.run(
        "ovs-vsctl set port bond0 bond_mode=balance-tcp lacp=active bond_updelay=31000 other_config:lacp-time=fast \
         other_config:bond-hash-basis=7 other-config:bond-rebalance-interval=5000",
    );
    let shown = bench.run("ovs-appctl bond/show bond0");
    for line in ["bond_mode: balance-tcp", "bond-hash-basis: 7", "updelay: 31000 ms"] {
        assert!(shown.contains(&format!("{line}\n")), "{line}\n{shown}");
    }
    let speaks_lacp = |bench: &Bench| !bench.run("ovs-appctl bond/show bond0").contains("lacp_status: off\n");
    assert!(speaks_lacp(&bench));
    let lacp = bench.run("ovs-appctl lacp/show bond0");
    assert!(lacp.contains("  status: active") && lacp.contains("  lacp_time: fast\n"), "{lacp}");
    assert_eq!(pid(&bench), before, "nothing was started anew");
    let refused = bench.refuse(1, "ovs-vsctl set port bond0 lacp=off other_config:lacp-time=quick");
    assert!(refused.starts_with("nicteam: `quick` is no value for `lacp_rate`"), "{refused}");
    assert!(speaks_lacp(&bench), "all or nothing");
    // The whole column: what is not named is as at the beginning.
    bench.run("ovs-vsctl set port bond0 other_config=bond-hash-basis=9");
    assert!(bench.run("ovs-appctl bond/show bond0").contains("bond-hash-basis: 9\n"));
    assert!(bench.run("ovs-appctl lacp/show bond0").contains("  lacp_time: slow\n"));
    // The one whose address the team has is not among those that go, or there would be a note.
    bench.run("ovs-vsctl add-bond-iface bond0 eth2 -- del-bond-iface bond0 eth1");
    assert_eq!(bench.run("ovs-vsctl list-ifaces my_test"), "eth0\neth2\n");
}

#[test]
fn a_mode_that_cannot_change_live_is_started_anew_in_its_place() {
    let Some(mut bench) = Bench::new() else { return };
    bench.run("ovs-vsctl add-br my_test");
    bench.linux.run(&["add", "bond0", "--mode", "802.3ad", "--members", "eth0,eth1", "-o", "miimon=50"]);
    bench.run("ovs-vsctl add-port my_test bond0");
    bench.run("ovs-vsctl set port bond0 bond_mode=balance-slb lacp=off");
    let status = bench.linux.status("bond0");
    assert_eq!((status["mode"].as_str(), status["options"]["miimon"].as_str()), (Some("ovs-balance-slb"), Some("50")));
    assert_eq!(bench.run("ovs-vsctl list-ports my_test"), "bond0\n");
    let bridge = bench.linux.host.index("my_test");
    assert_eq!(bench.linux.host.link("bond0").master, Some(bridge));
    // `add-bond` did not make it, so it is taken out and left.
    bench.run("ovs-vsctl del-br my_test");
    assert_eq!(bench.linux.host.link("bond0").master, None);
}

#[test]
fn del_br_removes_what_the_lines_made_and_nothing_else() {
    let Some(mut bench) = Bench::new() else { return };
    let mut guest = Host::quiet();
    cable(&mut guest, "eth0", &mut bench.linux.host, "guest1");
    bench.linux.host.netlink.add_bridge("other").unwrap();
    let all = |bench: &mut Bench| {
        let links = bench.linux.host.netlink.links().unwrap();
        links.into_iter().map(|link| (link.name, link.mac, link.master, link.alias, link.up)).collect::<Vec<_>>()
    };
    let before = all(&mut bench);
    bench.run("ovs-vsctl add-br my_test -- add-bond my_test bond0 eth0 eth1 eth2 -- add-port my_test guest1");
    assert_eq!(bench.run("ovs-vsctl list-br"), "my_test\n", "another bridge is left alone");
    assert_eq!(
        bench.refuse(1, "ovs-vsctl add-port other guest1"),
        "nicteam: cannot create a port named guest1 because a port named guest1 already exists on bridge my_test\n  \
         add-port other guest1\n                 ^^^^^^\n",
    );
    let refused = bench.refuse(1, "ovs-vsctl list-ports other");
    assert!(refused.contains("other is a bridge of the kernel's that `add-br` did not make"), "{refused}");
    bench.run("ovs-vsctl del-br my_test");
    assert_eq!(all(&mut bench), before);
    assert_eq!(bench.linux.kept(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_line_that_fails_half_way_leaves_everything_as_it_was() {
    let Some(mut bench) = Bench::new() else { return };
    let names = |bench: &mut Bench| {
        let links = bench.linux.host.netlink.links().unwrap();
        links.into_iter().map(|link| (link.name, link.master)).collect::<Vec<_>>()
    };
    let before = names(&mut bench);
    for (line, said) in [
        ("add-br b -- add-bond b bond0 eth0 eth1 -- add-bond b bond1 eth2 lo", "`lo` has no Ethernet address"),
        ("add-br b -- add-port b eth0 -- add-port b nope", "no device nope\nhint: a port is a device that is there"),
        ("add-br b -- add-bond b a_long_bond_name eth0 eth1", "a_long_bond_name cannot be the name of a bond\nhint: "),
        ("add-br eth0", "there is a device eth0 already\nhint: "),
        ("add-br b -- set interface b mtu_request=1", "cannot set the MTU"),
        ("add-br b -- br-exists c -- bogus", "unknown command 'bogus'"),
        ("add-br b -- add-br sixteen_letters_", "no device has a name of more than 15 bytes"),
        ("add-br b -- add-br b/c", "cannot make the bridge b/c"),
        ("add-br b -- add-port b guest\u{fc}", "no device guest\u{fc}"),
    ] {
        let refused = bench.refuse(1, &format!("ovs-vsctl {line}"));
        assert!(refused.starts_with(&format!("nicteam: {said}")), "{line}: {refused}");
        assert_eq!(names(&mut bench), before, "{line}");
    }
    assert_eq!(bench.refuse(2, "ovs-vsctl add-br b -- br-exists c"), "");
    assert_eq!(bench.run("ovs-vsctl --dry-run add-br b"), "");
    assert_eq!(names(&mut bench), before);
    assert_eq!(bench.run("ovs-vsctl --oneline list-br -- show"), "\n\n");
}

#[test]
fn what_a_line_changed_and_removed_before_it_failed_comes_back() {
    let Some(mut bench) = Bench::new() else { return };
    let mut guest = Host::quiet();
    cable(&mut guest, "eth0", &mut bench.linux.host, "guest1");
    bench.run("ovs-vsctl add-br my_test -- add-port my_test guest1");
    bench.run("ovs-vsctl add-bond my_test bond0 eth0 eth1 bond_mode=balance-slb other_config:bond-hash-basis=7");
    let state = |bench: &mut Bench| {
        let links = bench.linux.host.netlink.links().unwrap();
        let links: Vec<_> = links.into_iter().map(|link| (link.name, link.mtu, link.alias, link.up)).collect();
        let options = bench.linux.status("bond0")["options"].clone();
        (links, bench.run("ovs-vsctl show"), options)
    };
    let sorted = |bench: &mut Bench| {
        let (mut links, show, options) = state(bench);
        links.sort();
        (links, show, options)
    };
    let before = sorted(&mut bench);
    // The kernel refuses it when all before it is done.
    let fails = "set interface guest1 mtu_request=1";
    for line in [
        "set port bond0 other_config:bond-hash-basis=8 bond_updelay=100",
        "set interface guest1 mtu_request=1400",
        "del-bond-iface bond0 eth1 -- add-bond-iface bond0 eth2",
        "del-port guest1 -- add-port my_test guest1",
        "del-port bond0",
    ] {
        let refused = bench.refuse(1, &format!("ovs-vsctl {line} -- {fails}"));
        assert!(refused.starts_with("nicteam: cannot set the MTU"), "{line}: {refused}");
        assert_eq!(sorted(&mut bench), before, "{line}");
    }
    let refused = bench.refuse(1, "ovs-vsctl del-port guest1 -- set port bond0 other_config:bond-hash-basis=x");
    assert!(!refused.contains("not undone"), "{refused}");
    assert_eq!(sorted(&mut bench), before);
}

#[test]
fn a_line_that_is_stopped_half_way_leaves_everything_as_it_was() {
    let Some(mut bench) = Bench::new() else { return };
    let names = |bench: &mut Bench| {
        let links = bench.linux.host.netlink.links().unwrap();
        links.into_iter().map(|link| (link.name, link.master)).collect::<Vec<_>>()
    };
    let before = names(&mut bench);
    let mut codes = Vec::new();
    for ms in [1, 5, 10, 20, 40, 80, 160] {
        let line = [
            "ovs", "vsctl", "add-br", "b", "--", "add-bond", "b", "bond0", "eth0", "eth1", "--", "add-port", "b",
            "eth2",
        ];
        let mut command = bench.linux.nicteam(&line);
        let child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(ms));
        // As a terminal does it: to all processes that are in the foreground.
        killpg(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert!(!said.contains("not undone"), "{said}");
        if output.status.success() {
            bench.run("ovs-vsctl del-br b");
        }
        assert_eq!(names(&mut bench), before, "after {ms} ms: {:?} {said}", output.status);
        codes.push((output.status.code(), said));
    }
    // None: before it had begun.
    assert!(codes.iter().all(|(code, _)| matches!(code, None | Some(0 | 1 | 130))), "{codes:?}");
}
