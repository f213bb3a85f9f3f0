//! Which program of a team belongs where, and putting it there again when somebody took it away.

use std::os::fd::AsFd;

use libbpf_rs::ProgramHandle;

use super::predecessor;
use super::tc::{self, Point};
use crate::{Error, Missing};

/// A program that belongs on a device.
pub(super) struct Filter<'a> {
    pub(super) device: &'a str,
    pub(super) index: u32,
    pub(super) point: Point,
    /// The program's name.
    pub(super) name: &'static str,
    pub(super) program: &'a ProgramHandle,
}

impl Filter<'_> {
    /// True if something else, or nothing, is in its place on a device that is there.
    fn is_missing(&self) -> bool {
        tc::program_at(self.index, self.point) != Some(self.program.id())
            && nix::net::if_::if_indextoname(self.index).is_ok()
    }
}

/// What is not in its place; of filters that are always in the same order.
pub(super) fn missing<'a>(filters: impl IntoIterator<Item = Filter<'a>>) -> Vec<Missing> {
    let missing = filters.into_iter().enumerate().filter(|(_, filter)| filter.is_missing());
    let missing =
        missing.map(|(number, filter)| Missing { device: filter.device.to_owned(), what: "tc filter", number });
    missing.collect()
}

/// Puts it back. A stranger's program stays.
pub(super) fn restore<'a>(filters: impl IntoIterator<Item = Filter<'a>>, missing: &Missing) -> Result<(), Error> {
    let is_it = |filter: &Filter<'_>| filter.device == missing.device;
    let Some(filter) = filters.into_iter().nth(missing.number).filter(is_it) else { return Ok(()) };
    predecessor::ours_at(filter.device, filter.index, filter.point, filter.name)?;
    tc::add_clsact(filter.index)?;
    tc::set_filter(filter.index, filter.point, filter.program.as_fd())
}
