//! What a kind of traffic says of itself.

use std::sync::Arc;
use std::time::Duration;

use crate::keys::Key;
use crate::multipath::Every;
use crate::record::{At, Record};
use crate::resolved::{Direction, Topology};
use crate::traffic::Task;
use nicteam_diagnostics::Problem;

/// A kind of traffic in the file.
pub struct Kind {
    /// As the file has it.
    pub name: &'static str,
    /// The keys that it adds to those that all workloads have.
    pub keys: &'static [Key],
    /// Keys of other kinds that it takes as well.
    pub also: &'static [&'static str],
    /// By what a connection takes every link of its hosts, if it does; also if that was meant and is wrong.
    pub takes_every_path: fn(&Record) -> Option<Every>,
    /// Its generator keeps to the processor of a slow host.
    pub keeps_to_a_processor: bool,
    /// Its frames end with their hosts' own segment, whatever a workload says.
    pub stays_in_segment: bool,
    /// What a workload of this kind is; none if something is wrong.
    pub resolve: fn(&mut Said<'_, '_>) -> Option<Arc<dyn Task>>,
}

/// What the file says of one workload.
pub struct Said<'a, 'p> {
    /// Its name.
    pub name: &'a At<String>,
    /// Its table.
    pub record: &'a Record,
    /// `[defaults]`.
    pub defaults: &'a Record,
    /// Names of all targets of the file.
    pub targets: &'a [&'a str],
    /// What its run builds.
    pub topology: &'a Topology,
    /// Its connections, as the file counts them.
    pub connections: u32,
    /// Pairs of hosts that share them.
    pub pairs: u32,
    /// Which way its payload goes.
    pub direction: Direction,
    /// How long its run is driven: warm-up and measurement.
    pub span: Duration,
    /// What is wrong is added.
    pub problems: &'p mut Vec<Problem>,
}

impl Said<'_, '_> {
    /// The congestion control that the workload, or else the whole file, names.
    pub fn congestion(&self) -> String {
        let named = |record: &Record| record.get::<&str>("congestion").map(|at| at.value.to_owned());
        named(self.record).or_else(|| named(self.defaults)).unwrap_or_else(|| "cubic".to_owned())
    }
}
