//! Networks for live tests: hosts, cables, switches.
//!
//! A host is a network namespace that goes with its handle, so a test leaves
//! nothing behind, whether it passes or panics. What fails here fails the test:
//! everything panics with what the system said.
//!
//! ```no_run
//! use nicteam_testnet::{Host, Switch, cables};
//!
//! // Back to back by two cables: eth0 to eth0, eth1 to eth1.
//! let (mut a, mut b) = (Host::new(), Host::new());
//! cables(&mut a, &mut b, 2);
//! // And each with two links into a switch, at its ports a0, a1 and b0, b1.
//! let mut switch = Switch::new();
//! switch.join_all(&mut a, "up", "a", 2);
//! switch.join_all(&mut b, "up", "b", 2);
//! a.address("up0", &[("10.0.0.1", 24)]);
//! switch.set_up("a0", false);
//! assert!(!a.link("up0").carrier);
//! ```
#![forbid(unsafe_code)]

mod cable;
mod flows;
mod host;
pub mod imports;
mod iscsi_target;
mod openvswitch;
mod patch;
mod router;
mod snapshot;
mod sockets;
mod ssh_servers;
mod switch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nicteam_sys::netns;

pub use cable::{cable, cables, looped_cable, loose_cable};
pub use flows::Flows;
pub use host::Host;
pub use iscsi_target::IscsiTarget;
pub use openvswitch::OpenVSwitch;
pub use patch::Patch;
pub use router::Router;
pub use snapshot::{assert_becomes, assert_same_network};
pub use sockets::{assert_reach, datagrams, settle};
pub use ssh_servers::SshServers;
pub use switch::Switch;

/// True if the test may make networks; else it says so, and is to return.
pub fn may_make_networks() -> bool {
    let may = netns::is_network_root();
    if !may {
        eprintln!("SKIPPED: needs root for network namespaces");
    }
    may
}

/// True for the whole of a test, where otherwise a sample does (`NICTEAM_SOAK=1`).
pub fn is_soak() -> bool {
    std::env::var_os("NICTEAM_SOAK").is_some_and(|soak| soak == "1")
}

/// What takes longer hangs: ten times what the slowest condition takes on an idle machine.
const HANG: Duration = Duration::from_secs(60);

/// Waits until a condition holds. Bounded generously: it guards against a hang
/// and says nothing of speed. The longer it waits, the less often it looks: a look may be a program's run,
/// and other tests run beside.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < HANG, "{what} did not come about");
        std::thread::sleep((start.elapsed() / 8).clamp(Duration::from_millis(1), Duration::from_millis(50)));
    }
}

/// Sets a flag when it goes, after a panic, too: or the threads that wait for it would go on for ever.
#[derive(Debug)]
pub struct SetAtEnd<'a>(pub &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
