//! Bonds of the kernel's own driver as our own file, in a guest that has it; and what our file is written as, carried out by it.

use std::path::Path;

use crate::common::recipe;

/// In the guest's own memory, for the host's files are not its to write.
const SCRIPT: &str = "mount -t tmpfs none /run && cd /run && export PATH=/usr/sbin:/sbin:/usr/bin:/bin && \
    ip link add name m0 type veth peer name p0 && ip link add name m1 type veth peer name p1 && \
    printf '%s\\n' '[teams.bond7]' 'members = [\"m0\", \"m1\"]' 'mode = \"active-backup\"' 'arp_interval = 100' \
    'arp_ip_target = \"10.0.0.8,10.0.0.9\"' 'primary = \"m1\"' 'prio = \"m0:5\"' 'mtu = 1400' 'mac = \"02:00:00:00:00:07\"' \
    'addresses = [\"10.0.0.1/24\"]' 'routes = [\"default via 10.0.0.254 metric 7\"]' >own.toml && \
    $NICTEAM export --to iproute2 own.toml >bonds.sh && sh bonds.sh && \
    $NICTEAM import --running bond7 >back.toml && cat own.toml && echo --- && grep -v '^#' back.toml";

/// A bond, and behind it the way from a running bond in docs/up.md. This guest has neither eBPF nor nf_tables, so `up` fails:
/// the bond has to be back.
const BOND: &str = "mount -t tmpfs none /run && cd /run && export PATH=$FOLDER:/usr/sbin:/sbin:/usr/bin:/bin && \
    ip link add name m0 type veth peer name p0 && ip link add name m1 type veth peer name p1 && \
    ip link set p0 up && ip link set p1 up && \
    printf '%s\\n' '[teams.bond0]' 'members = [\"m0\", \"m1\"]' 'mode = \"active-backup\"' 'addresses = [\"10.0.0.1/24\"]' \
    'routes = [\"default via 10.0.0.254\"]' >own.toml && nicteam export --to iproute2 own.toml >bonds.sh && sh bonds.sh";
const BACK: &str = "nicteam import --running bond0 | diff team.toml - && ip -d link show bond0 | grep -o 'bond mode [a-z-]*' && \
    ip -br address show bond0 && ip route";

#[test]
fn a_running_bond_is_back_when_its_team_does_not_come_up() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    let steps = recipe::of_up("From a running bond");
    let [import, export, check, going, _] = &steps[..] else { panic!("{steps:?}") };
    // In the foreground, and in the guest's own memory.
    let going = going.trim_end_matches('&').replace("setsid", "setsid --wait");
    let refused = format!("! {check} >refused && grep 'a part of the bond bond0' refused");
    let script = [BOND, import, export, &refused, &going, BACK].join("\n").replace("/root/", "/run/");
    let script = script.replace("$FOLDER", nicteam.parent().unwrap().to_str().unwrap());
    let printed = guest.run("/bin/sh", &["-ec", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    for wanted in ["bond mode active-backup", "10.0.0.1/24", "default via 10.0.0.254 dev bond0"] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
}

#[test]
fn a_bond_of_the_kernel_is_read_as_it_was_written() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    let script = SCRIPT.replace("$NICTEAM", nicteam.to_str().unwrap());
    let printed = guest.run("/bin/sh", &["-ec", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let (written, read) = printed.split_once("---\n").unwrap();
    assert_eq!(lines(read), lines(written), "{printed}");
}

/// A bond of the kernel with traffic, watched.
const WATCHED: &str = "mount -t tmpfs none /run && cd /run && export PATH=/usr/sbin:/sbin:/usr/bin:/bin && \
    ip link add name m0 type veth peer name p0 && ip link add name m1 type veth peer name p1 && \
    ip link set p0 up && ip link set p1 up && \
    ip link add name bond0 type bond mode balance-xor miimon 100 xmit_hash_policy layer2 && \
    ip link set m0 master bond0 && ip link set m1 master bond0 && ip link set bond0 up && sleep 1 && \
    ip address add 10.0.0.1/24 dev bond0 && \
    ip neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev bond0 || exit 1
    (sleep 1; ping -c 8 -i 0.2 -W 1 10.0.0.2 >/dev/null) &
    $NICTEAM capture bond0 -c 6 2>said; echo \"captured $?\"; cat said
    $NICTEAM top bond0 --once --interval 200ms
    $NICTEAM metrics --once --textfile /run && cat /run/nicteam.prom";

#[test]
fn a_bond_of_the_kernel_is_captured_shown_and_counted() {
    let nicteam = Path::new(env!("CARGO_BIN_EXE_nicteam"));
    let agent = nicteam.with_file_name("nicteam-oracle-agent");
    assert!(agent.exists(), "no {}; hint: cargo build -p nicteam-oracle", agent.display());
    let Some(mut guest) = nicteam_oracle::guest(agent.to_str().unwrap()) else { return };
    let script = WATCHED.replace("$NICTEAM", nicteam.to_str().unwrap());
    let printed = guest.run("/bin/sh", &["-c", &script]).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(printed.contains("captured 0"), "{printed}");
    // The driver sent each frame by the member that our hash names.
    let (captured, rest) = printed.split_once("captured 0").unwrap();
    let by_member =
        captured.lines().filter(|line| line.contains(": by m") && line.contains("balance-xor, layer2, hash 0x"));
    assert!(by_member.count() > 0 && !captured.contains("the rule names"), "{printed}");
    assert!(
        rest.lines()
            .any(|line| line.starts_with("bond0 ") && line.contains("2/2 up") && line.contains("kernel balance-xor")),
        "{printed}"
    );
    assert!(rest.contains("nicteam_bundle_members_up{bundle=\"bond0\",kind=\"kernel\"} 2\n"), "{printed}");
    assert!(!rest.contains("node_bonding_slaves{master=\"bond0\"}"), "node_exporter has it: {printed}");
}

/// Lines in no order: the driver has an order of its options, a file that of its author.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines
}
