//! Processes that hold a device by themselves: clients of DHCP, supplicants.

use super::{Claim, Device, Host, Manager, Process, Severity};

pub(super) struct Holders;

/// A program, and what it does with a device that its command line names.
const PROGRAMS: &[(&str, &str)] = &[
    ("dhclient", "asks for an address"),
    ("dhcpcd", "asks for an address"),
    ("udhcpc", "asks for an address"),
    ("dhcp6c", "asks for an address"),
    ("pppoe", "carries PPP over it"),
    ("pppd", "carries PPP over it"),
    ("wpa_supplicant", "authenticates it (802.1X)"),
    ("hostapd", "makes it an access point"),
    ("teamd", "runs a team of the kernel's driver on it"),
];

impl Manager for Holders {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        let mut claims = Vec::new();
        for &(program, does) in PROGRAMS {
            for process in host.all_running(&[program]) {
                if names(process, &device.name) || holds_all(process) {
                    claims.push(claim(program, does, process, &device.name));
                }
            }
        }
        claims
    }
}

fn claim(program: &'static str, does: &str, process: &Process, device: &str) -> Claim {
    let cure = match program {
        "dhclient" => format!(
            "dhclient -x {device}    # or, if another program started it, tell that one to leave {device} alone"
        ),
        "dhcpcd" if holds_all(process) => {
            format!("echo 'denyinterfaces {device}' >>/etc/dhcpcd.conf\ndhcpcd -n    # reads it")
        }
        "dhcpcd" => format!("dhcpcd -x {device}"),
        _ => format!(
            "kill {}    # or, if another program started it, tell that one to leave {device} alone",
            process.pid
        ),
    };
    Claim {
        manager: program,
        place: None,
        why: format!("process {} ({}) {does}: {device}", process.pid, process.arguments.join(" ")),
        cure,
        severity: Severity::Refuse,
    }
}

/// True if a word of the command line is the device: `eth1`, `-ieth1`, `--interface=eth1`, `eth1:` of pppoe's kin.
fn names(process: &Process, device: &str) -> bool {
    process.arguments.iter().skip(1).any(|word| {
        let option = word.strip_prefix("-i").or_else(|| word.strip_prefix("-I")).or_else(|| word.strip_prefix("nic-"));
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word.as_str()), option, value].into_iter().flatten().any(|of| of == device)
    })
}

/// dhcpcd without a device on its command line takes all that there are.
fn holds_all(process: &Process) -> bool {
    let is_option = |word: &String| word.starts_with('-');
    process.name == "dhcpcd" && process.arguments.iter().skip(1).all(is_option)
}
