//! What runs on a host, as our own file: `nicteam import --running`, `nicteam export --running`.

use std::net::IpAddr;

use nicteam_netlink::object::Route;
use nicteam_testnet::{Host, cables, may_make_networks};

use crate::common::teams::TeamHost;

#[test]
fn a_running_team_is_a_file() {
    if !may_make_networks() {
        return;
    }
    let (mut near, mut far) = (Host::new(), Host::new());
    cables(&mut near, &mut far, 2);
    let mut near = TeamHost::new(near);
    let options = ["--mode", "active-backup", "-o", "primary=eth1", "-o", "updelay=200", "--dataplane", "packet"];
    near.run(&[&["add", "team0", "--members", "eth0,eth1"], &options[..]].concat());
    near.host.address("team0", &[("10.3.0.1", 24), ("2001:db8::1", 64)]);
    let index = near.host.link("team0").index;
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    for (to, prefix, via, metric) in [
        ("0.0.0.0", 0, Some("10.3.0.254"), Some(50)),
        ("10.9.0.0", 16, Some("10.3.0.9"), None),
        ("10.8.0.0", 16, None, None),
    ] {
        let route = Route::new((ip(to), prefix), via.map(ip), index, metric, None);
        near.host.netlink.add_route(&route).unwrap();
    }
    let output = near.nicteam(&["import", "--running", "team0"]).output().unwrap();
    let (printed, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
    let expected = "[teams.team0]\nmembers = [\"eth0\", \"eth1\"]\nmode = \"active-backup\"\nupdelay = 200\nprimary = \"eth1\"\n\
                    dataplane = \"packet\"\naddresses = [\"10.3.0.1/24\", \"2001:db8::1/64\"]\n\
                    routes = [\"default via 10.3.0.254 metric 50\", \"10.8.0.0/16\", \"10.9.0.0/16 via 10.3.0.9\"]\n";
    assert!(printed.ends_with(expected), "{printed}");
    let output = near.nicteam(&["export", "--to", "iproute2", "--running", "team0"]).output().unwrap();
    let script = String::from_utf8(output.stdout).unwrap();
    assert!(
        script.contains("\nip link add name team0 type bond mode active-backup miimon 100 updelay 200 primary eth1\n"),
        "{script}"
    );
    assert!(script.contains("\nip address add 10.3.0.1/24 dev team0\n"), "{script}");
    let refused = near.nicteam(&["import", "--running", "team1"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("no team `team1` in this network namespace\nhint: "), "{said}");
}
