//! What the lab can use of a machine: programs of others, by the package that has them, and what its kernel can.
//! One line each in [`PROGRAMS`] and [`ABILITIES`].

use std::process::{Command, Stdio};

use nicteam_dataplane::Kind;
use nicteam_sys::netns::NetNs;

use crate::engine;
use crate::installed::find;
use crate::target;

/// A program, or a library, that the lab can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// What the lab uses it for.
    pub purpose: &'static str,
    /// Debian's package.
    pub package: &'static str,
    /// Its version, as far as it says, if it is there; else why it is not.
    pub found: Result<Option<String>, String>,
}

/// Something that the kernel can, or cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// What.
    pub name: &'static str,
    /// What the lab does where it cannot.
    pub otherwise: &'static str,
    /// Why it cannot, if so.
    pub lacks: Option<String>,
}

/// Everything that the lab can use, and whether it is there.
pub fn parts() -> Vec<Part> {
    PROGRAMS.iter().map(Known::look).collect()
}

/// What the lab cares for of the kernel, as the caller may use it.
pub fn abilities() -> Vec<Ability> {
    let look = |(name, otherwise, probe): (_, _, Probe)| Ability { name, otherwise, lacks: probe().err() };
    ABILITIES.into_iter().map(look).collect()
}

/// The line that installs what is missing; none if nothing is.
pub fn install_line(parts: &[Part]) -> Option<String> {
    let mut packages: Vec<&str> = parts.iter().filter(|part| part.found.is_err()).map(|part| part.package).collect();
    packages.sort_unstable();
    packages.dedup();
    (!packages.is_empty()).then(|| format!("apt-get install {}", packages.join(" ")))
}

/// A line of the registry.
struct Known {
    name: &'static str,
    purpose: &'static str,
    package: &'static str,
    find: Find,
}

/// How something is found.
enum Find {
    /// A program; the words at which it says its version, if it does.
    Program(&'static [&'static str]),
    /// Its version, or why it is not there.
    Ask(fn() -> Result<Option<String>, String>),
}

const SAY: Find = Find::Program(&["--version"]);

const PROGRAMS: [Known; 13] = [
    Known { name: "tgtd", purpose: "serves targets of kind `iscsi`", package: "tgt", find: SAY },
    Known { name: "tgtadm", purpose: "tells tgtd what to serve", package: "tgt", find: SAY },
    Known {
        name: "libiscsi",
        purpose: "initiator of tasks on targets of kind `iscsi`",
        package: "libiscsi7",
        find: Find::Ask(libiscsi),
    },
    Known {
        name: "ganesha.nfsd",
        purpose: "serves targets of kind `nfs`",
        package: "nfs-ganesha",
        find: Find::Program(&["-v"]),
    },
    Known {
        name: "libfsalvfs.so",
        purpose: "lets ganesha.nfsd serve a folder",
        package: "nfs-ganesha-vfs",
        find: Find::Ask(ganeshas_plugin),
    },
    Known {
        name: "rpcbind",
        purpose: "ganesha.nfsd does not start without one",
        package: "rpcbind",
        find: Find::Program(&[]),
    },
    Known {
        name: "fio",
        purpose: "cross-check of tasks on targets, by `nicteam storage export`",
        package: "fio",
        find: SAY,
    },
    Known {
        name: "qemu-img",
        purpose: "reads and writes disks that `nicteam storage export` serves",
        package: "qemu-utils",
        find: SAY,
    },
    Known { name: "ovs-vswitchd", purpose: "engine `ovs`", package: "openvswitch-switch", find: SAY },
    Known { name: "ovs-vsctl", purpose: "tells ovs-vswitchd its bonds", package: "openvswitch-switch", find: SAY },
    Known { name: "ovsdb-server", purpose: "ovs-vswitchd's database", package: "openvswitch-switch", find: SAY },
    Known { name: "iperf3", purpose: "workloads of kind `program`, as one of many", package: "iperf3", find: SAY },
    Known {
        name: "qemu-system-x86_64",
        purpose: "guests that count instructions, in tests and benchmarks",
        package: "qemu-system-x86",
        find: SAY,
    },
];

type Probe = fn() -> Result<(), String>;

const ABILITIES: [(&str, &str, Probe); 4] = [
    ("network namespaces", "nothing can be built", || NetNs::new().map(drop).map_err(|error| error.to_string())),
    ("eBPF at tc", "teams run on packet sockets", || match nicteam_dataplane::probe() {
        (Kind::Bpf, _) => Ok(()),
        (Kind::Packet, reason) => Err(reason.unwrap_or_default()),
    }),
    ("bonding driver", "runs with engine `kernel` are skipped", || {
        engine::find("kernel").map_or(Ok(()), |engine| engine.is_there().map_err(|absent| absent.reason))
    }),
    ("multipath TCP", "workloads with `mptcp` are refused", || {
        match nicteam_sys::netns::read_sysctl("mptcp/enabled") {
            Ok(on) if on == "1" => Ok(()),
            Ok(_) => Err("it is switched off (net.mptcp.enabled)".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }),
];

impl Known {
    fn look(&self) -> Part {
        let found = match self.find {
            Find::Program(words) => program(self.name, words),
            Find::Ask(ask) => ask(),
        };
        Part { name: self.name, purpose: self.purpose, package: self.package, found }
    }
}

/// What a program says of its version.
fn program(name: &str, words: &[&str]) -> Result<Option<String>, String> {
    let path = find(name).ok_or_else(|| format!("there is no {name}"))?;
    if words.is_empty() {
        return Ok(None);
    }
    let said = Command::new(path).args(words).stdin(Stdio::null()).stderr(Stdio::null()).output();
    Ok(said.ok().and_then(|said| version(&String::from_utf8_lossy(&said.stdout))))
}

/// The first number with a dot in a text: `3.33` of `fio-3.33`.
fn version(text: &str) -> Option<String> {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|number| number.trim_matches('.'));
    numbers.into_iter().find(|number| number.contains('.')).map(str::to_owned)
}

/// The name of the file has the version of the interface; the library tells no other.
fn libiscsi() -> Result<Option<String>, String> {
    nicteam_storage::Library::open().map(|library| Some(library.name().to_owned())).map_err(|absent| absent.reason)
}

fn ganeshas_plugin() -> Result<Option<String>, String> {
    if target::can_serve_folders() { Ok(None) } else { Err("there is no libfsalvfs.so".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (said, wanted) in [
            ("1.0.85\n", Some("1.0.85")),
            ("NFS-Ganesha Release = V4.3\n", Some("4.3")),
            ("fio-3.33", Some("3.33")),
            ("ovs-vswitchd (Open vSwitch) 3.1.0", Some("3.1.0")),
            ("iperf 3.12 (cJSON 1.7.15)\nLinux vm 6.18", Some("3.12")),
            ("no version. 7 of none", None),
        ] {
            assert_eq!(version(said).as_deref(), wanted, "{said}");
        }
    }

    #[test]
    fn a_package_is_installed_once() {
        let part = |package, found| Part { name: "n", purpose: "p", package, found };
        let lacks = || Err("there is none".to_owned());
        assert_eq!(install_line(&[part("tgt", Ok(None))]), None);
        let all = [part("tgt", lacks()), part("fio", lacks()), part("iperf3", Ok(None)), part("tgt", lacks())];
        assert_eq!(install_line(&all).as_deref(), Some("apt-get install fio tgt"));
    }
}
