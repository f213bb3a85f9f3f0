//! Executes a team's plan on Linux.
//!
//! The team device is one end of a veth pair ([`TeamDevice`]). Two dataplanes
//! execute the same plan ([`nicteam_team::Plan`]): eBPF at tc, which forwards inside the kernel and
//! goes on when the process that set it up dies, and packet sockets, for user
//! namespaces and locked-down kernels. In both, a member's frames reach the
//! host through the team alone, never a second time through the member.

#[cfg(nicteam_bpf)]
mod bpf;
#[cfg(not(nicteam_bpf))]
#[path = "bpf/stub.rs"]
mod bpf;
mod dataplane;
mod device;
mod error;
mod kind;
mod packet;
mod programs;
mod tag;

pub use bpf::{BpfDataplane, DryRun};
pub use dataplane::{Counters, Dataplane, Missing, Port, Remembered};
pub use device::TeamDevice;
pub use error::Error;
pub use kind::{Choice, Kind, MEMBER_PREF, UnknownKind};
pub use programs::Programs;

/// Opens the wanted dataplane for a team device, in the caller's network
/// namespace. What the other kind left on the device is removed. `programs`: what the first plan
/// will need; a plan that needs more gets it, after a while.
///
/// # Errors
/// The wanted one is not to be had here, or another program sits where the team's belong.
pub fn open(device: &TeamDevice, choice: Choice, programs: Programs) -> Result<Box<dyn Dataplane>, Error> {
    if choice == Choice::Force(Kind::Packet) {
        return open_packet(device);
    }
    // Loading the programs takes long: whether that can be done at all is asked if it could not.
    let refused = match BpfDataplane::open(device, programs) {
        Ok(dataplane) => return Ok(Box::new(dataplane)),
        Err(error) => error,
    };
    match (bpf::available(), choice) {
        (Ok(()), _) => Err(refused),
        (Err(_), Choice::Auto) => open_packet(device),
        (Err(reason), Choice::Force(kind)) => Err(Error::Unavailable { kind, reason }),
    }
}

fn open_packet(device: &TeamDevice) -> Result<Box<dyn Dataplane>, Error> {
    packet::available().map_err(|reason| Error::Unavailable { kind: Kind::Packet, reason })?;
    bpf::clear(device)?;
    packet::open(device)
}

/// The number of the layout of its maps: a process takes the maps of an ended one over that had the same number, and makes new ones
/// beside those of another. `None`: this was built without eBPF.
pub fn layout() -> Option<u32> {
    bpf::layout()
}

/// True if a team's eBPF program is on this device of the caller's network namespace.
pub fn is_member(device: &str, index: u32) -> bool {
    bpf::is_member(device, index)
}

/// The dataplane that [`Choice::Auto`] takes here, and why not eBPF if it does
/// not. Found out once a process, by loading the programs.
pub fn probe() -> (Kind, Option<String>) {
    match bpf::available() {
        Ok(()) => (Kind::Bpf, None),
        Err(reason) => (Kind::Packet, Some(reason)),
    }
}

/// Programs of this project that the kernel holds now, on whatever device and in
/// whatever namespace: number and name. Empty without the right to ask.
pub fn loaded_programs() -> Vec<String> {
    bpf::loaded_programs()
}
