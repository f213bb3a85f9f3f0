//! 802.3ad where LACPDUs are lost and the links stay up, one way and both: what
//! each end says, and that it recovers. As in the kernel's selftest
//! bond_lacp_strict, a bridge in each cable keeps them back. The near end runs on
//! eBPF, the far one on packet sockets.

use crate::common::aggregate::{aggregating, fast, problems, says};
use crate::common::start;
use nicteam_daemon::RunningTeam;
use nicteam_dataplane::Kind;
use nicteam_testnet::{Host, Patch, eventually, may_make_networks};

const THREE: [&str; 3] = ["eth0", "eth1", "eth2"];
const DEAF: &str = "partner does not hear us: its LACPDUs do not name this port";
const SILENT: &str = "partner silent: no LACPDU comes";

#[test]
fn lost_lacpdus_are_told_apart_from_lost_links() {
    if !may_make_networks() {
        return;
    }
    let kind = match nicteam_dataplane::probe() {
        (Kind::Packet, reason) => {
            eprintln!("SKIPPED: no eBPF dataplane: {}", reason.unwrap_or_default());
            Kind::Packet
        }
        (kind, _) => kind,
    };
    let (mut a, mut b) = (Host::quiet(), Host::quiet());
    let patch = Patch::new(&mut a, &mut b, "eth", 3);
    let strict = [("lacp_strict", "on"), ("min_links", "1")];
    let (near, far) =
        (start(&a, fast(&THREE, &strict, kind)).unwrap(), start(&b, fast(&THREE, &strict, Kind::Packet)).unwrap());
    let both = |members: [bool; 3]| [&near, &far].into_iter().all(|team| aggregating(team) == members);
    eventually("three members", || both([true; 3]));
    // Nothing of the far end's arrives by eth1; by eth2 nothing at all.
    patch.set(1, true, false);
    patch.set(2, false, false);
    eventually("what the near end says", || says(&near, &["eth1", "eth2"], SILENT));
    eventually("what the far end says", || says(&far, &["eth1"], DEAF) && says(&far, &["eth2"], SILENT));
    assert!(both([true, false, false]), "{}{}", problems(&near), problems(&far));
    for host in [&mut a, &mut b] {
        assert!(THREE.iter().all(|name| host.link(name).carrier) && host.link("team0").carrier);
    }
    // Nobody speaks: strict, so there is no carrier, though every link has one.
    patch.set_all(false, false);
    let gone = |team: &RunningTeam| aggregating(team) == [false; 3] && says(team, &THREE, SILENT);
    eventually("nobody", || gone(&near) && gone(&far));
    eventually("no carrier", || !a.link("team0").carrier && !b.link("team0").carrier);
    patch.set(0, true, true);
    eventually("the first again", || both([true, false, false]) && a.link("team0").carrier);
    patch.set_all(true, true);
    eventually("all again", || both([true; 3]));
    assert_eq!((problems(&near), problems(&far)), (String::new(), String::new()));
}
