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
#[path = "bpf/absent.rs"]
mod bpf;
mod dataplane;
mod device;
mod error;
mod kind;
mod packet;
mod tag;

pub use bpf::{BpfDataplane, DryRun};
pub use dataplane::{Counters, Dataplane, Port, Remembered};
pub use device::TeamDevice;
pub use error::Error;
pub use kind::{Choice, Kind};

/// Opens the wanted dataplane for a team device, in the caller's network
/// namespace. What the other kind left on the device is removed.
pub fn open(device: &TeamDevice, choice: Choice) -> Result<Box<dyn Dataplane>, Error> {
    let kind = match choice {
        Choice::Auto => probe().0,
        Choice::Force(kind) => kind,
    };
    let unavailable = |reason| Error::Unavailable { kind, reason };
    match kind {
        // Loading the programs takes long: whether that can be done at all is asked if it could not.
        Kind::Bpf => match BpfDataplane::open(device) {
            Ok(dataplane) => Ok(Box::new(dataplane)),
            Err(error) => Err(bpf::available().err().map_or(error, unavailable)),
        },
        Kind::Packet => {
            packet::available().map_err(unavailable)?;
            bpf::clear(device)?;
            packet::open(device)
        }
    }
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
