//! A device that filters foreign addresses: macvlans, whose driver does so in every mode but passthru.

use std::process::Command;

use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, cable};

use crate::common::{assert_reach, on_each_dataplane, spec, start, team_sockets};

/// eth0 and eth1 of a host as macvlans of this mode on real links to another, which bridges its ends.
fn on_macvlans(mode: &str) -> (Host, Host) {
    let (mut a, mut b) = (Host::quiet(), Host::quiet());
    for device in ["eth0", "eth1"] {
        cable(&mut a, &format!("low-{device}"), &mut b, device);
        let words = format!("ip link add link low-{device} name {device} type macvlan mode {mode}");
        let mut words = words.split(' ');
        let made = a.netns.run(|| Command::new(words.next().unwrap()).args(words).status().unwrap()).unwrap();
        assert!(made.success(), "no macvlan");
        a.set_up(device, true);
    }
    (a, b)
}

/// A station behind the team, which is a port of a bridge: the team takes frames for the station's address.
fn reaches_from_behind(mode: &str, kind: Kind) -> bool {
    let (mut a, mut b) = on_macvlans(mode);
    let options = [("mode", "active-backup"), ("miimon", "10")];
    let (near, far) = (start(&a, spec(&options, kind)).unwrap(), start(&b, spec(&options, kind)).unwrap());
    b.address("team0", &[("10.2.0.2", 24)]);
    let mut station = Host::quiet();
    cable(&mut station, "eth0", &mut a, "port");
    a.netlink.add_bridge("br0").unwrap();
    let bridge = a.index("br0");
    for port in ["team0", "port"] {
        let index = a.index(port);
        a.netlink.set_master(index, Some(bridge)).unwrap();
        a.set_up(port, true);
    }
    a.set_up("br0", true);
    station.address("eth0", &[("10.2.0.1", 24)]);
    let (sender, receiver) = team_sockets(&station, &b, 7000);
    let reached = (0..40).any(|_| sender.send(b"x").is_ok() && receiver.recv(&mut [0; 8]).is_ok());
    drop((near, far));
    reached
}

#[test]
fn a_team_on_macvlans_reaches_its_peer_in_every_mode_of_theirs() {
    on_each_dataplane(|kind| {
        for mode in ["bridge", "private", "passthru"] {
            let (mut a, mut b) = on_macvlans(mode);
            let options = [("mode", "active-backup"), ("miimon", "10")];
            let (near, far) = (start(&a, spec(&options, kind)).unwrap(), start(&b, spec(&options, kind)).unwrap());
            a.address("team0", &[("10.2.0.1", 24)]);
            b.address("team0", &[("10.2.0.2", 24)]);
            assert_reach(&team_sockets(&a, &b, 7000), mode);
            drop((near, far));
        }
    });
}

#[test]
fn as_a_port_of_a_bridge_it_needs_the_whole_device() {
    on_each_dataplane(|kind| {
        assert!(reaches_from_behind("passthru", kind), "{kind}: members are promiscuous while the team is");
        // What the doctor says of it.
        assert!(!reaches_from_behind("bridge", kind), "{kind}: the driver has learned to be promiscuous");
    });
}
