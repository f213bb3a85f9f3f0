//! What a lab that is held can do to its network.

use std::path::PathBuf;

use nicteam_experiment::{self as experiment, CablePulled, Overrides, Shown};
use nicteam_lab::{Options, hold};
use nicteam_netlink::Netlink;
use nicteam_sys::netns::NetNs;
use nicteam_testnet::eventually;

#[test]
fn a_cable_is_pulled_and_plugged_in_again() {
    let source = experiment::find("two-hosts").unwrap();
    let parsed = experiment::parse(&source.name, &source.path, &source.text, &Overrides::default()).unwrap();
    let options = Options {
        binary: PathBuf::from(env!("CARGO_BIN_EXE_nicteam")),
        output: PathBuf::new(),
        dataplane: None,
        privileges: "root",
        explain: |_| {},
        testbed: None,
        kinds: None,
    };
    let run = &parsed.runs[0];
    let mut held = hold(&parsed, run, &options).unwrap();
    let cable = &run.topology.cables[0];
    let far = held.nodes().into_iter().find(|(node, _)| *node == cable.b.node).unwrap();
    let mut netlink = NetNs::of_process(far.1).unwrap().run(Netlink::open).unwrap().unwrap();
    let mut carrier = || netlink.link(&cable.b.device).unwrap().unwrap().carrier;
    for plugged in [false, true] {
        let (node, device) = (cable.a.node.clone(), cable.a.device.clone());
        let shown = Shown { node: node.clone(), team: None, member: device.clone() };
        held.carry_out(&CablePulled { node, device, plugged, shown, ends: String::new() }).unwrap();
        eventually("the other end shows it", || carrier() == plugged);
    }
    held.take_down();
}
