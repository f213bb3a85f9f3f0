//! Which program of a team belongs where, and putting it there again when somebody took it away.

use std::os::fd::AsFd;

use libbpf_rs::ProgramHandle;

use super::dataplane::BpfDataplane;
use super::object::{BEHIND, CARRIER, EGRESS, INGRESS};
use super::predecessor;
use super::tc::{self, Point};
use crate::{Error, Missing};

/// A program that belongs on a device.
struct Filter<'a> {
    device: &'a str,
    index: u32,
    point: Point,
    name: &'static str,
    program: &'a ProgramHandle,
}

/// All of them, in an order that depends on the team alone.
fn filters(team: &BpfDataplane) -> Vec<Filter<'_>> {
    let (device, object) = (&team.device, &team.object);
    let mut filters = vec![Filter {
        device: &device.peer_name,
        index: device.peer_index,
        point: Point::Behind,
        name: BEHIND,
        program: &object.behind,
    }];
    let (index, program) = (device.index, &object.egress);
    let egress = Filter { device: &device.name, index, point: Point::Egress, name: EGRESS, program };
    filters.extend(team.slots.current().has_queues().then_some(egress));
    for port in team.ports.values() {
        let filter = |point, name, program| Filter { device: &port.name, index: port.index, point, name, program };
        filters.push(filter(Point::Ingress, INGRESS, &object.ingress));
        filters.extend(team.carrier.at(port.index).map(|program| filter(Point::Egress, CARRIER, program)));
    }
    filters
}

impl Filter<'_> {
    /// True if something else, or nothing, is in its place on a device that is there.
    fn is_missing(&self) -> bool {
        tc::program_at(self.index, self.point) != Some(self.program.id())
            && nix::net::if_::if_indextoname(self.index).is_ok()
    }
}

/// What is not in its place. While the filters are a predecessor's of another layout, nothing is looked for.
pub(super) fn missing(team: &BpfDataplane) -> Vec<Missing> {
    if team.deferred {
        return Vec::new();
    }
    let missing = filters(team).into_iter().enumerate().filter(|(_, filter)| filter.is_missing());
    let missing =
        missing.map(|(number, filter)| Missing { device: filter.device.to_owned(), what: "tc filter", number });
    missing.collect()
}

/// Puts it back. A stranger's program stays.
pub(super) fn restore(team: &BpfDataplane, missing: &Missing) -> Result<(), Error> {
    let Some(filter) = filters(team).into_iter().nth(missing.number).filter(|filter| filter.device == missing.device)
    else {
        return Ok(());
    };
    predecessor::ours_at(filter.device, filter.index, filter.point, filter.name)?;
    tc::add_clsact(filter.index)?;
    tc::set_filter(filter.index, filter.point, filter.program.as_fd())
}
