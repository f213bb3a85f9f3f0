//! The eBPF programs on the oldest kernel that they are for: its verifier knows
//! less than today's.

use std::path::Path;

use nicteam_oracle::Clock;
use nicteam_oracle::protocol::Request;
use serde_json::Value;

use super::moved;

const MEMBERS: [&str; 2] = ["a0", "a1"];
/// Into the first of these a running team changes; into the others it cannot while it has members.
const MODES: [&str; 11] = [
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
    "stripe",
    "ovs-active-backup",
    "ovs-balance-slb",
    "ovs-balance-tcp",
];
/// The others are for a soak: they have the same programs (`Programs` in the dataplane), but for stripe, whose own the test of VLAN
/// devices loads in such a guest.
const STATIC_MODES: usize = 4;

#[test]
fn every_mode_runs_on_ebpf() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let programs = [moved::programs(), vec![nicteam]].concat();
    let guest = nicteam_oracle::emulated_guest(agent.to_str().unwrap(), &programs, Clock::Host);
    let Some(mut guest) = guest else { return };
    for (name, peer) in MEMBERS.into_iter().zip(["b0", "b1"]) {
        guest.must(Request::AddVeth { name: name.to_owned(), peer: peer.to_owned() });
        guest.must(Request::SetUp { name: peer.to_owned(), up: true });
    }
    let members = MEMBERS.join(",");
    for (place, mode) in MODES.into_iter().enumerate() {
        if place >= STATIC_MODES && !nicteam_oracle::is_soak() {
            continue;
        }
        let mut run = |arguments: &[&str]| {
            let said = guest.run("/bin/nicteam", &[&["team"], arguments].concat());
            said.unwrap_or_else(|refusal| panic!("{mode} on Linux {}: {refusal}", guest.kernel()))
        };
        // Each team of its own is a walk of the verifier, which takes most of a minute in this guest.
        if (1..STATIC_MODES).contains(&place) {
            run(&["set", "team0", &format!("mode={mode}")]);
        } else {
            run(&["add", "team0", "--mode", mode, "--members", &members, "--dataplane", "bpf"]);
        }
        // The members' carrier is seen a moment later, and the plan with them comes after it.
        let mut show = || serde_json::from_str(&run(&["show", "team0", "--format", "json"])).unwrap();
        let mut status: Value = show();
        nicteam_testnet::eventually("members that are up", || {
            status = show();
            status["members"].as_array().unwrap().iter().all(|member| member["state"] == "up")
        });
        assert_eq!((&status["mode"], &status["dataplane"]), (&Value::from(mode), &Value::from("bpf")), "{status}");
        assert_eq!(status["members"].as_array().map(Vec::len), Some(MEMBERS.len()), "{status}");
        // Programs see no carrier there, and `show` says what that means, where it means something.
        assert_eq!(status["failover_in_kernel"], false, "{status}");
        let said = run(&["show", "team0"]);
        assert_eq!(said.contains("  failover   by the process alone"), mode != "broadcast", "{said}");
        if place + 1 >= STATIC_MODES {
            run(&["del", "team0"]);
        }
    }
    let mut moves = moved::Move::new(&mut guest);
    moves.a_bond_becomes_a_team();
    moves.a_vlan_device_moves();
}
