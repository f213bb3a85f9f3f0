//! The files of published test T3 (002_52ae6b3d3563e079), word by word: as they stand in the article, below each other,
//! and as files.

use nicteam_formats::{Import, toml};

use super::{left, read, read_all, shown};
use crate::published::{ARTICLE, article_files};

const EXPECTED: &str = "\
[teams.bond0]
members = [\"eth0\", \"eth1\"]
mode = \"balance-rr\"
miimon = 100
addresses = [\"10.0.0.1/24\"]
routes = [\"default via 10.0.0.254\"]
";

#[test]
fn the_article_is_taken_whole() {
    assert_eq!(shown("ifcfg", ARTICLE), EXPECTED);
    assert_eq!(left(&read("ifcfg", ARTICLE)), [""; 0]);
}

#[test]
fn the_files_are_taken_whole() {
    let folder = "/etc/sysconfig/network-scripts";
    let files = article_files().map(|(name, text)| match name {
        "modprobe.conf" => ("/etc/modprobe.conf".to_owned(), text),
        "rc.local" => ("/etc/rc.d/rc.local".to_owned(), format!("#!/bin/sh\ntouch /var/lock/subsys/local\n{text}")),
        name => (format!("{folder}/{name}"), text),
    });
    let sources: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let import = read_all("ifcfg", &sources).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(toml::write(&Import { network: import.network.clone(), ..Import::default() }), EXPECTED);
    assert_eq!(left(&import), [""; 0]);
    let told: Vec<String> = import
        .disable
        .iter()
        .map(|of| format!("{} | {} | {}", of.place, of.what, of.command.as_deref().unwrap_or("")))
        .collect();
    let expected = [
        "/etc/sysconfig/network-scripts/ifcfg-eth0:1:8 | set `ONBOOT=no` in the file of the member `eth0` | \
         sed -i 's/^ONBOOT=.*/ONBOOT=no/' /etc/sysconfig/network-scripts/ifcfg-eth0",
        "/etc/sysconfig/network-scripts/ifcfg-eth1:1:8 | set `ONBOOT=no` in the file of the member `eth1` | \
         sed -i 's/^ONBOOT=.*/ONBOOT=no/' /etc/sysconfig/network-scripts/ifcfg-eth1",
        "/etc/sysconfig/network-scripts/ifcfg-bond0:1:8 | set `ONBOOT=no` in the file of the bond `bond0` | \
         sed -i 's/^ONBOOT=.*/ONBOOT=no/' /etc/sysconfig/network-scripts/ifcfg-bond0",
        "/etc/modprobe.conf:1:1 | comment out line 1 (`alias bond0 bonding`) | ",
        "/etc/modprobe.conf:2:1 | comment out line 2 (`options bond0 miimon=100 mode=0`) | ",
        "/etc/rc.d/rc.local:3:1 | comment out line 3 (`ifenslave bond0 eth0 eth1`) | ",
    ];
    assert_eq!(told, expected);
}
