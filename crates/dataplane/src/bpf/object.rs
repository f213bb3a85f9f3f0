//! A team's programs, and loading them.

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapHandle, ObjectBuilder, ProgramHandle};

use super::libbpf_log::attempt;
use super::maps::Maps;
use crate::{Error, Programs};

/// The compiled `bpf/team.bpf.c`: each without stripe and with it.
pub(super) static OBJECTS: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/team.bpf.o")),
    include_bytes!(concat!(env!("OUT_DIR"), "/team-stripe.bpf.o")),
];

/// The same, with programs that look at the members' carrier (`bpf/failover.h`).
static FAILOVER_OBJECTS: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/team-failover.bpf.o")),
    include_bytes!(concat!(env!("OUT_DIR"), "/team-stripe-failover.bpf.o")),
];

/// The compiled `bpf/carrier.bpf.c`.
static CARRIER_OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/carrier.bpf.o"));

/// Program names, as the kernel shows them.
pub(super) const BEHIND: &str = "behind_ingress";
pub(super) const EGRESS: &str = "team_egress";
pub(super) const INGRESS: &str = "member_ingress";
pub(super) const CARRIER: &str = "member_egress";
const NOTE_DEVICE: &str = "note_device";
/// Where they are told what they are made for.
const PROGRAMS: &str = ".rodata.programs";

/// The programs and maps of one team. The kernel keeps them as long as a filter uses them.
pub(super) struct Object {
    pub programs: Programs,
    /// On the end behind the team device.
    pub behind: ProgramHandle,
    /// On the team device.
    pub egress: ProgramHandle,
    /// On the members.
    pub ingress: ProgramHandle,
    /// Notes where the kernel keeps a member's device; none where the programs do not look at carriers.
    pub note_device: Option<ProgramHandle>,
    pub maps: Maps,
}

impl Object {
    /// Loads the programs; with these maps, if there are any, else with new ones. Where the kernel lets them,
    /// they look at the members' carrier.
    pub(super) fn load(programs: Programs, maps: Option<&Maps>) -> Result<Object, Error> {
        let load = |objects: [&[u8]; 2]| Object::try_load(objects[programs as usize], programs, maps);
        let loaded = |objects| attempt(|| "load the eBPF programs".to_owned(), || load(objects));
        match shows_devices(&release()) {
            true => loaded(FAILOVER_OBJECTS).or_else(|_| loaded(OBJECTS)),
            false => loaded(OBJECTS),
        }
    }

    fn try_load(object: &[u8], programs: Programs, maps: Option<&Maps>) -> libbpf_rs::Result<Object> {
        let mut open = ObjectBuilder::default().open_memory(object)?;
        if let Some(maps) = maps {
            maps.lend_to(&mut open)?;
        }
        let mut constants =
            open.maps_mut().find(|map| map.name() == PROGRAMS).ok_or_else(|| missing("map", PROGRAMS))?;
        constants.set_initial_value(&u32::from(shows_devices(&release())).to_ne_bytes())?;
        let loaded = open.load()?;
        let find = |name: &str| match loaded.progs_mut().find(|program| program.name() == name) {
            Some(program) => ProgramHandle::try_from(&program),
            None => Err(missing("program", name)),
        };
        let (behind, egress, ingress) = (find(BEHIND)?, find(EGRESS)?, find(INGRESS)?);
        let note_device = find(NOTE_DEVICE).ok();
        let maps = Maps::find(|name| match loaded.maps().find(|map| map.name() == name) {
            Some(map) => MapHandle::try_from(&map),
            None => Err(missing("map", name)),
        })?;
        for program in [&behind, &egress] {
            maps.all().into_iter().try_for_each(|map| bind(program, map))?;
        }
        #[cfg(test)]
        LOADS.set(LOADS.get() + 1);
        Ok(Object { programs, behind, egress, ingress, note_device, maps })
    }
}

#[cfg(test)]
thread_local! {
    /// How often this thread loaded programs for a team.
    pub(super) static LOADS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Loads the program that looks at the members' carrier, with the maps of a team.
///
/// # Errors
/// The kernel is older than 6.2, or has no types of its own to show.
pub(super) fn load_carrier(maps: &Maps) -> Result<ProgramHandle, Error> {
    attempt(
        || "load the eBPF program that looks at carriers".to_owned(),
        || {
            let mut open = ObjectBuilder::default().open_memory(CARRIER_OBJECT)?;
            maps.lend_to(&mut open)?;
            let loaded = open.load()?;
            match loaded.progs_mut().find(|program| program.name() == CARRIER) {
                Some(program) => ProgramHandle::try_from(&program),
                None => Err(missing("program", CARRIER)),
            }
        },
    )
}

/// What the kernel says it is.
fn release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default()
}

/// True of kernels from 6.2 on: their verifiers follow a choice that heeds lost carriers, and nobody
/// else shows programs one.
fn shows_devices(release: &str) -> bool {
    let mut numbers = release.split(|digit: char| !digit.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 2),
        _ => false,
    }
}

/// Makes a program hold a map, whether it uses it or not, so that a successor finds
/// all maps behind either filter of the team's own devices.
fn bind(program: &ProgramHandle, map: &MapHandle) -> libbpf_rs::Result<()> {
    let (program, map) = (program.as_fd().as_raw_fd(), map.as_fd().as_raw_fd());
    // SAFETY: both descriptors are open; no options are given.
    match unsafe { libbpf_sys::bpf_prog_bind_map(program, map, std::ptr::null()) } {
        0 => Ok(()),
        error => Err(libbpf_rs::Error::from_raw_os_error(-error)),
    }
}

/// The object is not what it should be.
pub(super) fn missing(what: &str, name: &str) -> libbpf_rs::Error {
    std::io::Error::other(format!("the object has no {what} `{name}`")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_looked_at_from_6_2_on() {
        for (release, shows) in [
            ("6.18.44-fc-v657\n", true),
            ("6.2.0", true),
            ("10.0", true),
            ("6.1.0-56-cloud-amd64", false),
            ("5.15.0", false),
            ("", false),
        ] {
            assert_eq!(shows_devices(release), shows, "{release}");
        }
    }
}
