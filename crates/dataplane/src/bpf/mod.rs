//! eBPF at tc.
//!
//! `bpf/team.bpf.c` holds the programs: one on the ingress of the end behind the team device that
//! executes the plan, one on the team device's egress that keeps what a frame would lose on
//! the way there, one on each member's ingress. They share the maps of
//! `bpf/maps.h`, one set a team. Filters and maps outlive the process; the next
//! one finds the maps behind the team device's filters and goes on with them.
//!
//! Here belongs what loads the programs, writes and reads their maps, and attaches them. `layout` and `constants` mirror
//! `bpf/plan.h` byte by byte: a change there is a change here. What a plan means is the team's.

mod abi;
mod carrier;
mod constants;
mod dataplane;
mod failover;
mod filters;
mod inject;
mod layout;
mod lease;
mod libbpf_log;
mod maps;
mod memory;
mod notes;
mod object;
mod opening;
mod peers;
mod plain;
mod planned;
mod predecessor;
mod punts;
mod run;
mod slots;
mod streams;
mod tc;

use libbpf_rs::query::ProgInfoIter;

use crate::{Dataplane, Error, Programs, TeamDevice};
use tc::Point;

pub use dataplane::BpfDataplane;
pub(crate) use opening::available;
pub use run::DryRun;

/// See [`crate::layout`].
pub(crate) fn layout() -> Option<u32> {
    Some(abi::LAYOUT)
}

/// See [`crate::loaded_programs`].
pub(crate) fn loaded_programs() -> Vec<String> {
    const NAMES: [&str; 4] = ["behind_ingress", "team_egress", "member_ingress", "member_egress"];
    let loaded = ProgInfoIter::default().map(|program| (program.id, program.name.to_string_lossy().into_owned()));
    // The kernel keeps the first fifteen characters of a name.
    loaded
        .filter(|(_, name)| NAMES.iter().any(|ours| ours.starts_with(name.as_str()) && !name.is_empty()))
        .map(|(id, name)| format!("{id} {name}"))
        .collect()
}

/// Removes what an eBPF dataplane left on this device, so that another kind can have it.
pub(crate) fn clear(device: &TeamDevice) -> Result<(), Error> {
    let programs = [(device.peer_index, Point::Behind), (device.index, Point::Egress)];
    match programs.into_iter().find_map(|(index, point)| tc::program_at(index, point)) {
        Some(_) => Box::new(BpfDataplane::open(device, Programs::WithoutStripe)?).remove(),
        None => Ok(()),
    }
}

/// True if a team's program is on this device; false where that cannot be seen.
pub(crate) fn is_member(device: &str, index: u32) -> bool {
    predecessor::member_is_ours(device, index).unwrap_or(false)
}
