//! 802.3ad with Open vSwitch as the partner, and what goes wrong between them.
//! A switch that is frozen, cut or has two groups: `openvswitch.rs`.

use crate::common::aggregate::{aggregating, fast, problems, says};
use crate::common::{on_each_dataplane, start};
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, OpenVSwitch, Patch, cable, eventually, looped_cable};

const FOUR: [&str; 4] = ["eth0", "eth1", "eth2", "eth3"];
/// A bond that speaks LACP, of a bridge of its own with this many.
const BOND: &str = "bond_mode=balance-slb lacp=active other_config:lacp-time=fast";

/// A bridge is a system of its own: two of them are two partners.
fn add_bond(ovs: &OpenVSwitch, number: u32, ports: &str) {
    ovs.vsctl(&format!("add-br br{number} -- set bridge br{number} datapath_type=netdev"));
    ovs.vsctl(&format!("add-bond br{number} bond{number} {ports} {BOND}"));
}

#[test]
fn cables_to_two_bridges_leave_one_of_them_out() {
    on_each_dataplane(|kind| {
        let Some(mut ovs) = OpenVSwitch::start_or_skip() else { return };
        let mut a = Host::quiet();
        for n in 0..4 {
            cable(&mut a, &format!("eth{n}"), &mut ovs.host, &format!("p{n}"));
        }
        add_bond(&ovs, 0, "p0 p1");
        let team = start(&a, fast(&FOUR, &[], kind)).unwrap();
        eventually("the first bridge", || aggregating(&team) == [true, true, false, false]);
        add_bond(&ovs, 1, "p2 p3");
        eventually("the reason", || says(&team, &["eth2", "eth3"], "partner in another system: "));
        assert_eq!(aggregating(&team), [true, true, false, false], "{kind}");
        assert!(!problems(&team).contains("eth0") && !problems(&team).contains("eth1"), "{}", problems(&team));
    });
}

#[test]
fn a_looped_cable_beside_the_switch_is_named() {
    let Some(mut ovs) = OpenVSwitch::start_or_skip() else { return };
    let mut a = Host::quiet();
    cable(&mut a, "eth0", &mut ovs.host, "p0");
    cable(&mut a, "eth1", &mut ovs.host, "p1");
    looped_cable(&mut a, "eth2", "eth3");
    add_bond(&ovs, 0, "p0 p1");
    let team = start(&a, fast(&FOUR, &[], Kind::Packet)).unwrap();
    eventually("two members", || aggregating(&team) == [true, true, false, false]);
    eventually("the reason", || says(&team, &["eth2", "eth3"], "looped to ourselves: our own LACPDUs come back"));
}

#[test]
fn a_switch_that_restarts_is_taken_back() {
    on_each_dataplane(|kind| {
        let Some(mut ovs) = OpenVSwitch::start_or_skip() else { return };
        let mut a = Host::quiet();
        cable(&mut a, "eth0", &mut ovs.host, "p0");
        cable(&mut a, "eth1", &mut ovs.host, "p1");
        add_bond(&ovs, 0, "p0 p1");
        let members = ["eth0", "eth1"];
        let team = start(&a, fast(&members, &[("lacp_strict", "on")], kind)).unwrap();
        let settled = |ovs: &OpenVSwitch| aggregating(&team) == [true, true] && ovs.enabled() == 2;
        eventually("both members", || settled(&ovs));
        ovs.crash();
        eventually("the silence", || says(&team, &members, "partner silent: no LACPDU comes"));
        assert!(a.link("eth0").carrier && !a.link("team0").carrier, "{kind}");
        ovs.restart();
        eventually("both members again", || settled(&ovs));
        assert_eq!(problems(&team), "", "{kind}");
    });
}

#[test]
fn lacpdus_that_are_lost_one_way_are_told_which_way() {
    let Some(mut ovs) = OpenVSwitch::start_or_skip() else { return };
    let mut a = Host::quiet();
    let patch = Patch::new(&mut a, &mut ovs.host, "p", 3);
    add_bond(&ovs, 0, "p0 p1 p2");
    let team = start(&a, fast(&FOUR[..3], &[], Kind::Packet)).unwrap();
    eventually("three members", || aggregating(&team) == [true; 3] && ovs.enabled() == 3);
    patch.set(1, true, false);
    patch.set(2, false, true);
    eventually("ours are lost", || says(&team, &["eth2"], "partner does not hear us"));
    eventually("theirs are lost", || says(&team, &["eth1"], "partner silent: no LACPDU comes"));
    eventually("one member at both ends", || aggregating(&team) == [true, false, false] && ovs.enabled() == 1);
    patch.set_all(true, true);
    eventually("three members again", || aggregating(&team) == [true; 3] && ovs.enabled() == 3);
    assert_eq!(problems(&team), "");
}
