//! Which `.network` file is applied to a device: systemd-networkd itself beside what we say.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use nicteam_host::managers::Host;
use nicteam_netlink::Link;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::common::Root;

const PROGRAM: &str = "/usr/lib/systemd/systemd-networkd";
const DEVICES: usize = 8;
/// Hosts: each is a run of the real program.
const RUNS: usize = 2;
const SOAK_RUNS: usize = 60;

fn may_run() -> bool {
    if !nicteam_testnet::may_make_networks() {
        return false;
    }
    let is_there = Path::new(PROGRAM).exists();
    if !is_there {
        eprintln!("SKIPPED: needs systemd-networkd");
    }
    is_there
}

/// Files of a host: path and text. Names of devices are short, so that patterns fit often.
fn files() -> impl Strategy<Value = Vec<(String, String)>> {
    let folder = prop_oneof![Just("etc"), Just("run"), Just("usr/lib")];
    let pattern = || prop_oneof!["[ab][0-3]", "[ab]\\*", "\\?[0-3]", "[ab]\\[0-2\\]", "\\*", "[ab]\\[!1\\]", "x[0-3]"];
    let patterns = move || {
        (any::<bool>(), vec(pattern(), 1..4))
            .prop_map(|(not, of)| (if not { "!" } else { "" }).to_owned() + &of.join(" "))
    };
    let line = prop_oneof![
        6 => patterns().prop_map(|of| format!("Name={of}")),
        1 => Just("Name=".to_owned()),
        2 => "MACAddress=02:00:00:00:00:0[0-7]( 02-00-00-00-00-0[0-7])?",
        1 => "Driver=(!)?(veth|e1000|v\\*)",
        1 => "Kind=(!)?(veth|bond)",
        1 => "Type=(!)?(ether|wlan)",
        1 => Just("OriginalName=*".to_owned()),
    ];
    let text = vec(line, 0..3).prop_map(|lines| format!("[Match]\n{}\n\n[Link]\nUnmanaged=yes\n", lines.join("\n")));
    let text = prop_oneof![9 => text, 1 => Just(String::new())];
    let drop_in = "[Match]\nName=[ab]\\*\n";
    let file = (folder.clone(), 0..4_u8, text)
        .prop_map(|(folder, number, text)| (format!("/{folder}/systemd/network/{number}0-x.network"), text));
    let drop_in = (folder, 0..4_u8, drop_in)
        .prop_map(|(folder, number, text)| (format!("/{folder}/systemd/network/{number}0-x.network.d/a.conf"), text));
    (vec(file, 1..6), vec(drop_in, 0..2)).prop_map(|(files, drop_ins)| [files, drop_ins].concat())
}

/// Devices `a0` to `b3`, the second half with another name.
fn devices() -> Vec<Link> {
    let device = |number: usize| Link {
        index: 10 + u32::try_from(number).unwrap(),
        name: format!("{}{}", if number.is_multiple_of(2) { "a" } else { "b" }, number / 2),
        alternative_names: if number >= DEVICES / 2 { vec![format!("x{}", number % 4)] } else { Vec::new() },
        kind: "veth".to_owned(),
        mac: [2, 0, 0, 0, 0, u8::try_from(number).unwrap()],
        ..Link::default()
    };
    (0..DEVICES).map(device).collect()
}

/// What the real program says, in a namespace with these devices whose files are the root's: a device and its file.
fn ask_real(root: &Root, devices: &[Link]) -> Vec<(String, String)> {
    let mut script = String::from("set -e\nmount --make-rprivate /\n");
    let path = root.path().display();
    for folder in ["etc", "run", "usr/lib"] {
        fs::create_dir_all(root.path().join(folder).join("systemd/network")).unwrap();
    }
    for folder in ["etc", "usr/lib"] {
        let _ = writeln!(script, "mount --bind {path}/{folder}/systemd/network /{folder}/systemd/network");
    }
    for link in devices {
        let (index, name) = (link.index, &link.name);
        let _ = writeln!(
            script,
            "ip link add {name} index {index} address 02:00:00:00:00:0{} type veth peer name peer{index}",
            link.mac[5]
        );
        for other in &link.alternative_names {
            let _ = writeln!(script, "ip link property add dev {name} altname {other}");
        }
    }
    // It waits for udev unless /sys cannot be written to; what it notes goes nowhere.
    let _ = writeln!(
        script,
        "mount -t sysfs -o ro none /sys\nmount -t tmpfs -o mode=755 none /run\nmkdir -p /run/systemd/network\n\
         mount --bind {path}/run/systemd/network /run/systemd/network\n\
         install -d -o systemd-network -g systemd-network /run/systemd/netif /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp\n\
         SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console {PROGRAM} 2>{path}/log & pid=$!\n\
         for step in $(seq 600); do\n  n=$(grep -c 'State changed: initialized' {path}/log || true)\n  [ $n -ge {} ] && break\n  sleep 0.05\ndone\n\
         kill $pid; wait $pid || true",
        2 * devices.len() + 1,
    );
    let output = Command::new("unshare").args(["-m", "-n", "bash", "-c", &script]).output().unwrap();
    let log = fs::read_to_string(root.path().join("log")).unwrap_or_default();
    assert!(log.contains("Enumeration completed"), "{output:?}\n{log}");
    // In the words of systemd 252, and of 257.
    let found = log.lines().filter_map(|line| match line.split_once(": found matching network '") {
        Some((device, rest)) => Some((device.to_owned(), rest.split_once('\'')?.0.to_owned())),
        None => line
            .split_once(": Found matching .network file: ")
            .map(|(device, path)| (device.to_owned(), path.trim_end().to_owned())),
    });
    found.collect()
}

#[test]
fn the_real_program_applies_the_same_files() {
    if !may_run() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let runs = if nicteam_testnet::is_soak() { SOAK_RUNS } else { RUNS };
    let mut fitting = 0;
    for run in 0..runs {
        let (root, devices) = (Root::new(), devices());
        let files = files().new_tree(&mut runner).unwrap().current();
        files.iter().for_each(|(path, text)| root.write(path, text));
        let real = ask_real(&root, &devices);
        let host = Host::look(root.path(), &devices);
        for link in &devices {
            let expected = real.iter().find(|(device, _)| *device == link.name).map(|(_, path)| path.clone());
            let ours = host.network_file(&link.name);
            fitting += usize::from(expected.is_some());
            assert_eq!(
                ours.map(|path| path.replace("/usr/lib/", "/lib/")),
                expected.map(|path| path.replace("/usr/lib/", "/lib/")),
                "run {run}: {} of {files:#?}",
                link.name
            );
        }
    }
    assert!(fitting > runs, "of {} devices {fitting} had a file", runs * DEVICES);
}
