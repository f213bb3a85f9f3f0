//! The members' way out in a plan that stripes: a program there sends what a member
//! without carrier cannot send by another one. Where the kernel does not take it, the process
//! alone acts on a lost carrier.

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use libbpf_rs::ProgramHandle;

use super::maps::Maps;
use super::object;
use super::predecessor;
use super::tc::{self, Point};
use crate::{Error, Port};

/// On which members the program is.
#[derive(Default)]
pub(super) struct Carrier {
    /// Loaded with the first plan that wants it; then there is one or none.
    program: Option<Option<ProgramHandle>>,
    /// By interface index, as far as it is known: a predecessor may have left one.
    watched: BTreeMap<u32, bool>,
}

impl Carrier {
    /// A plan is in force with these members.
    pub(super) fn watch<'a>(
        &mut self,
        stripes: bool,
        ports: impl Iterator<Item = &'a Port>,
        maps: &Maps,
    ) -> Result<(), Error> {
        if stripes && self.program.is_none() {
            self.program = Some(object::load_carrier(maps).ok());
        }
        let program = self.program.as_ref().and_then(Option::as_ref).filter(|_| stripes);
        for port in ports {
            if self.watched.get(&port.index) == Some(&program.is_some()) {
                continue;
            }
            match program {
                Some(program) if is_free(port) => tc::set_filter(port.index, Point::Egress, program.as_fd())?,
                Some(_) => {}
                None => unwatch(port)?,
            }
            self.watched.insert(port.index, program.is_some());
        }
        Ok(())
    }

    /// The program, if it is on this member.
    pub(super) fn at(&self, index: u32) -> Option<&ProgramHandle> {
        let is_watched = self.watched.get(&index) == Some(&true);
        self.program.as_ref().and_then(Option::as_ref).filter(|_| is_watched)
    }

    /// A member leaves.
    pub(super) fn leave(&mut self, port: &Port) -> Result<(), Error> {
        match self.watched.remove(&port.index) {
            Some(false) => Ok(()),
            Some(true) | None => unwatch(port),
        }
    }
}

/// True unless a stranger's program has its place.
fn is_free(port: &Port) -> bool {
    predecessor::has_carrier_program(&port.name, port.index).is_ok()
}

/// A stranger's program is not touched.
fn unwatch(port: &Port) -> Result<(), Error> {
    match predecessor::has_carrier_program(&port.name, port.index) {
        Ok(true) => tc::remove_filter(port.index, Point::Egress),
        Ok(false) | Err(_) => Ok(()),
    }
}
