//! `nicteam explain` beside the kernel's own bonding driver, in a guest that has it: faults that are planted one after another.

use std::path::Path;

use serde_json::Value;

/// A bond of two links, and a bond at their other ends, in a namespace of its own. In the guest's own memory, for the host's
/// files are not its to write.
const BUILD: &str = "mount -t tmpfs none /run && cd /run && export PATH=/usr/sbin:/sbin:/usr/bin:/bin && \
    ip netns add far && \
    for n in 0 1; do ip link add name m$n type veth peer name p$n && ip link set p$n netns far; done && \
    O='type bond mode 802.3ad lacp_rate fast miimon 50' && \
    ip link add bond0 $O xmit_hash_policy layer3+4 && \
    ip netns exec far ip link add bond0 $O xmit_hash_policy layer2 && \
    for n in 0 1; do ip link set m$n master bond0 && ip netns exec far ip link set p$n master bond0; done && \
    ip link set bond0 up && ip netns exec far ip link set bond0 up && \
    ip address add 10.0.0.1/24 dev bond0 && ip netns exec far ip address add 10.0.0.2/24 dev bond0";
/// Waits until so many ports distribute.
const WAIT: &str = "wait_for() { for try in $(seq 300); do \
    [ $(grep -c 'port state: 63' /proc/net/bonding/bond0) -ge $1 ] && return; sleep 0.1; done; cat /proc/net/bonding/bond0; exit 1; }";
/// A part of the output, with its name ahead.
const EXPLAIN: &str = "explain() { echo \"=== $1\"; $NICTEAM explain bond0 --json --for 1s || [ $? = 1 ]; }";

#[test]
fn faults_of_a_bond_of_the_kernel_are_named() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    let steps = [
        BUILD,
        WAIT,
        EXPLAIN,
        // Both ends of both ports.
        "wait_for 4",
        "explain idle",
        "ip netns exec far ip address add 10.0.0.1/24 dev bond0",
        "explain duplicate",
        "ip netns exec far ip address del 10.0.0.1/24 dev bond0",
        "ip netns exec far ip link set p1 down && sleep 0.5",
        "explain cut",
        "ip netns exec far ip link set p1 up",
        "ip netns exec far ip link set p1 nomaster && ip netns exec far ip link set p1 up && sleep 6",
        "explain individual",
        "ip netns exec far ip link set p0 nomaster && ip netns exec far ip link set p0 up && sleep 6",
        "explain missing",
    ];
    let script = steps.join("\n").replace("$NICTEAM", nicteam.to_str().unwrap());
    let printed = guest.run("/bin/sh", &["-ec", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let parts = printed.split("=== ").skip(1).map(|part| part.split_once('\n').unwrap());
    let found: Vec<(&str, Vec<(String, String)>)> = parts.map(|(name, json)| (name, faults(json))).collect();
    let expected: [(&str, &[(&str, &str)]); 5] = [
        ("idle", &[]),
        ("duplicate", &[("duplicate-address", "other_host")]),
        ("cut", &[("down", "link")]),
        ("individual", &[("not-aggregating", "switch")]),
        ("missing", &[("lacp-missing", "switch")]),
    ];
    let owned = |faults: &[(&str, &str)]| {
        faults.iter().map(|(cause, side)| ((*cause).to_owned(), (*side).to_owned())).collect()
    };
    let expected: Vec<(&str, Vec<(String, String)>)> = expected.iter().map(|(name, of)| (*name, owned(of))).collect();
    assert_eq!(found, expected, "{printed}");
}

/// The causes that are no notices, with their sides.
fn faults(json: &str) -> Vec<(String, String)> {
    let explained: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(explained["bundles"][0]["bundle"]["kind"], "kernel");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = explained["bundles"][0]["explanation"]["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|of| of["weight"] != "notice");
    wrong.map(|of| (text(&of["cause"]), text(&of["side"]))).collect()
}
