//! In place of the eBPF dataplane, in a build that found no clang.

use std::os::fd::BorrowedFd;

use nicteam_team::lacp::Answer;
use nicteam_team::stripe::redundant::StreamCounters;
use nicteam_team::stripe::{Note, PlainReport};
use nicteam_team::{Loads, MemberId, Plan};
use nicteam_wire::Mac;

use crate::{Counters, Dataplane, Error, Kind, Port, Programs, Remembered, TeamDevice};

const REASON: &str = "this build has no eBPF programs; hint: install clang and build again";

/// The eBPF dataplane, which this build does not have.
pub enum BpfDataplane {}

/// What a program did with a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRun {
    /// What it said: `TC_ACT_UNSPEC` `u32::MAX`, `TC_ACT_SHOT` 2, `TC_ACT_QUEUED` 5, `TC_ACT_REDIRECT` 7.
    pub action: u32,
    /// The frame afterwards.
    pub frame: Vec<u8>,
    /// Mean time of one run, nanoseconds.
    pub duration_ns: u32,
}

pub(crate) fn available() -> Result<(), String> {
    Err(REASON.to_owned())
}

pub(crate) fn layout() -> Option<u32> {
    None
}

pub(crate) fn loaded_programs() -> Vec<String> {
    Vec::new()
}

pub(crate) fn clear(_: &TeamDevice) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn is_member(_: &str, _: u32) -> bool {
    false
}

impl BpfDataplane {
    /// Always an error.
    pub fn open(_: &TeamDevice, _: Programs) -> Result<BpfDataplane, Error> {
        Err(Error::Unavailable { kind: Kind::Bpf, reason: REASON.to_owned() })
    }

    /// Cannot be called.
    pub fn map_bytes(&self) -> Result<u64, Error> {
        match *self {}
    }

    /// Cannot be called.
    pub fn age_sources(&self, _: std::time::Duration) -> Result<(), Error> {
        match *self {}
    }

    /// Cannot be called.
    pub fn written(&self) -> usize {
        match *self {}
    }

    /// Cannot be called.
    pub fn dry_run_behind(&self, _: &[u8], _: u32) -> Result<DryRun, Error> {
        match *self {}
    }

    /// Cannot be called.
    pub fn dry_run_ingress(&self, _: &Port, _: &[u8], _: u32) -> Result<DryRun, Error> {
        match *self {}
    }
}

impl Dataplane for BpfDataplane {
    fn kind(&self) -> Kind {
        match *self {}
    }

    fn sees_carriers(&self) -> bool {
        match *self {}
    }

    fn attach(&mut self, _: &Port) -> Result<(), Error> {
        match *self {}
    }

    fn detach(&mut self, _: MemberId) -> Result<(), Error> {
        match *self {}
    }

    fn apply(&mut self, _: &Plan) -> Result<(), Error> {
        match *self {}
    }

    fn transmit(&mut self, _: MemberId, _: &[u8]) -> Result<(), Error> {
        match *self {}
    }

    fn take_notes(&mut self) -> Result<Vec<Note>, Error> {
        match *self {}
    }

    fn renew(&mut self, _: &[Answer]) -> Result<(), Error> {
        match *self {}
    }

    fn remembered(&self) -> Result<Vec<Remembered>, Error> {
        match *self {}
    }

    fn answered(&self) -> Result<u64, Error> {
        match *self {}
    }

    fn withheld(&self) -> Result<u64, Error> {
        match *self {}
    }

    fn plain(&self) -> Result<PlainReport, Error> {
        match *self {}
    }

    fn counters(&self) -> Result<Vec<(MemberId, Counters)>, Error> {
        match *self {}
    }

    fn unsent(&self) -> Result<u64, Error> {
        match *self {}
    }

    fn loads(&self) -> Result<Loads, Error> {
        match *self {}
    }

    fn sources(&self) -> Result<Vec<(Mac, u16)>, Error> {
        match *self {}
    }

    fn stream(&self, _: Mac) -> Result<StreamCounters, Error> {
        match *self {}
    }

    fn punts(&self) -> Option<BorrowedFd<'_>> {
        match *self {}
    }

    fn take_punted(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        match *self {}
    }

    fn missing(&mut self) -> Result<Vec<crate::Missing>, Error> {
        match *self {}
    }

    fn restore(&mut self, _: &crate::Missing) -> Result<(), Error> {
        match *self {}
    }

    fn alarm(&self) -> Option<BorrowedFd<'_>> {
        match *self {}
    }

    fn remove(self: Box<Self>) -> Result<(), Error> {
        match *self {}
    }
}
