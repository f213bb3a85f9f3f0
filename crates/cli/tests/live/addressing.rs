//! Addresses on top of a team, given by the programs that give them on hosts: ifupdown, networkd, netplan.

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nicteam_sys::process;
use nicteam_testnet::{Switch, assert_reach, datagrams, eventually};

use crate::common::lab::{Folder, has};
use crate::common::networkd::networkd;
use crate::common::teams::{TeamHost, may_test_bpf};

const TEAM: &str = "team0";
const ADDRESS: &str = "10.5.0.1";
const FAR: &str = "10.5.0.2";
/// A route that goes with the address.
const ROUTE: &str = "10.9.0.0/16 via 10.5.0.2";

/// A host with two cables to a switch, the team over both, and a folder for files.
struct Site {
    near: TeamHost,
    far: Switch,
    folder: Folder,
}

impl Site {
    fn new(name: &str) -> Site {
        let (mut near, mut far) = (TeamHost::new(nicteam_testnet::Host::quiet()), Switch::new());
        far.join_all(&mut near.host, "eth", "a", 2);
        far.host.address("br0", &[(FAR, 24)]);
        near.run(&["add", TEAM, "--mode", "active-backup", "--members", "eth0,eth1", "-o", "miimon=100"]);
        Site { near, far, folder: Folder::new(name) }
    }

    /// The team has the address, and no member has; it is reached, before and after a crash of its process.
    #[track_caller]
    fn assert_addressed(&mut self, by: &str) {
        let mac = self.near.host.link(TEAM).mac;
        self.wait_for_address(true, by);
        let route = |near: &TeamHost| near.host.netns.run(routes).unwrap().contains(ROUTE);
        eventually("the route", || route(&self.near));
        self.assert_reached(by);
        self.near.crash(TEAM);
        self.assert_reached("after a crash");
        self.near.run(&["restart", TEAM]);
        self.assert_reached("after a restart");
        assert!(route(&self.near), "{by}: the route is gone after a restart");
        assert_eq!(self.near.host.link(TEAM).mac, mac, "{by} changed the team's address");
        for member in ["eth0", "eth1"] {
            let index = self.near.host.index(member);
            assert_eq!(self.near.host.netlink.addresses(index).unwrap(), [], "{member}");
        }
    }

    #[track_caller]
    fn assert_reached(&self, when: &str) {
        let [near, far] = [ADDRESS, FAR].map(|address| (address.parse::<IpAddr>().unwrap(), 7000).into());
        let (a, b) = datagrams((&self.near.host, near), (&self.far.host, far));
        a.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
        assert_reach(&(a.try_clone().unwrap(), b.try_clone().unwrap()), when);
        assert_reach(&(b, a), when);
    }

    #[track_caller]
    fn wait_for_address(&mut self, wanted: bool, by: &str) {
        let (index, address) = (self.near.host.index(TEAM), (ADDRESS.parse::<IpAddr>().unwrap(), 24));
        let netlink = &mut self.near.host.netlink;
        eventually(&format!("the address by {by}: {wanted}"), || {
            netlink.addresses(index).unwrap().contains(&address) == wanted
        });
    }

    /// Runs a program on the near host.
    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        process::in_netns(&mut command, &self.near.host.netns);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = PathBuf::from(self.folder.path(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

/// The caller's routes, as `ip route` prints them.
fn routes() -> String {
    let output = Command::new("ip").args(["-4", "route"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn ifupdown_gives_a_team_its_address_and_takes_it_away() {
    if !may_test_bpf() || !has(&["ifup", "ip"]) {
        return;
    }
    let mut site = Site::new("ifupdown");
    let text = format!(
        "auto {TEAM}\niface {TEAM} inet static\n    address {ADDRESS}/24\n    up ip route add {ROUTE} dev {TEAM}\n"
    );
    let (file, state) = (site.write("interfaces", &text), site.folder.path("state"));
    fs::create_dir(&state).unwrap();
    let file = file.to_string_lossy().into_owned();
    let arguments = ["--no-scripts", "--state-dir", &state, "-i", &file, TEAM];
    site.run("ifup", &arguments);
    site.assert_addressed("ifupdown");
    site.run("ifdown", &arguments);
    site.wait_for_address(false, "ifupdown");
    // It has set the team down; it is a team all the same.
    assert_eq!(site.near.status(TEAM)["members"].as_array().unwrap().len(), 2);
    site.run("ifup", &arguments);
    site.assert_addressed("ifupdown, again");
}

#[test]
fn networkd_gives_a_team_its_address() {
    if !may_test_bpf() || !has(&["networkctl", "ip"]) {
        return;
    }
    let mut site = Site::new("networkd");
    let text = format!(
        "[Match]\nName={TEAM}\n[Network]\nAddress={ADDRESS}/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n\
         [Route]\nDestination=10.9.0.0/16\nGateway={FAR}\n"
    );
    let file = site.write("network/10-team0.network", &text);
    let networkd = networkd(&site.near.host, file.parent().unwrap());
    site.assert_addressed("networkd");
    // A team that is taken down and comes back is a new device to it.
    site.near.run(&["del", TEAM]);
    site.near.run(&["add", TEAM, "--mode", "active-backup", "--members", "eth0,eth1", "-o", "miimon=100"]);
    site.assert_addressed("networkd, again");
    drop(networkd);
    site.assert_reached("without networkd");
}

#[test]
fn netplan_gives_a_team_its_address() {
    if !may_test_bpf() || !has(&["netplan", "networkctl", "ip"]) {
        return;
    }
    let mut site = Site::new("netplan");
    let text = format!(
        "network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    {TEAM}:\n      addresses: [{ADDRESS}/24]\n      \
         link-local: []\n      accept-ra: false\n      routes: [{{to: 10.9.0.0/16, via: {FAR}}}]\n"
    );
    site.write("etc/netplan/10-team0.yaml", &text);
    let root = site.folder.path("");
    site.run("netplan", &["generate", "--root-dir", &root]);
    let files = PathBuf::from(site.folder.path("run/systemd/network"));
    let _networkd = networkd(&site.near.host, &files);
    site.assert_addressed("netplan");
}
