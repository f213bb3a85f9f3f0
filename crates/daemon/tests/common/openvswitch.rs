//! Open vSwitch as the other end: a switch of its own for each test.

use nicteam_testnet::{OpenVSwitch, may_make_networks};

/// A switch; nothing, said aloud, where it is not installed.
pub fn start() -> Option<OpenVSwitch> {
    if !may_make_networks() {
        return None;
    }
    if !OpenVSwitch::is_installed() {
        eprintln!("SKIPPED: needs openvswitch-switch");
        return None;
    }
    Some(OpenVSwitch::start())
}
