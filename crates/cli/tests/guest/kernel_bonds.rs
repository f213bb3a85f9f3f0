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

/// Lines in no order: the driver has an order of its options, a file that of its author.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines
}
