//! `access-spec`: requests to a target's disk in a closed loop: each that is answered is followed by the next.

mod requests;
mod steady;
mod tally;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nicteam_experiment::{AccessSpec, Storage};
use nicteam_record::{Connection, ModelledDisks, Operations};
use nicteam_storage::{Buffer, Done, Kind as Does, Operation, Pattern, Volume};
use serde::Deserialize;

use super::kind::{self, Kind};
use super::storage::{self, Counters, Course, Job, Medium, Use};
use crate::error::Failure;
use crate::protocol::{ConnectionSpec, Outcomes};
use requests::Requests;
use tally::{Answer, Tally};

/// How long the loop waits before it looks whether the run is over.
const LOOK: Duration = Duration::from_millis(50);
/// What it waits after a request that failed: one that fails at once would be followed by the next without end.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// The kind.
#[derive(Debug)]
pub(super) struct Access;

impl Kind for Access {
    fn name(&self) -> &'static str {
        "access-spec"
    }

    fn at_agent(&self) -> Box<dyn kind::Ends> {
        Box::new(storage::Ends::new(read))
    }

    /// Its connections are found, not planned: [`crate::flows`].
    fn figures(
        &self,
        _spec: &ConnectionSpec,
        _counted: &nicteam_record::measure::Counted<'_>,
        _connection: &mut Connection,
    ) {
    }
}

fn read(spec: &ConnectionSpec) -> Result<(Storage, Box<dyn Job>), Failure> {
    let access = AccessSpec::deserialize(&spec.each).map_err(|error| format!("no access specification: {error}"))?;
    let requests = Requests::new(&access, spec.place);
    Ok((access.storage.clone(), Box::new(Loop { access, requests, outstanding: BTreeMap::new(), next_id: 0 })))
}

/// A closed loop.
struct Loop {
    access: AccessSpec,
    requests: Requests,
    /// By their numbers.
    outstanding: BTreeMap<u64, Does>,
    next_id: u64,
}

/// What is known of the measured window once it has begun.
struct Window {
    tally: Tally,
    before: Counters,
    /// At its end.
    after: Option<Counters>,
}

impl Job for Loop {
    fn run(&mut self, medium: &mut dyn Medium, course: &Course) -> Outcomes {
        let mut outcomes = Outcomes::default();
        if !course.wait_for_start() {
            return outcomes;
        }
        let mut window: Option<Window> = None;
        if let Err(error) = self.drive(medium, course, &mut window) {
            outcomes.notices.push(storage::trouble(format!("access-spec has ended: {error}")));
        }
        if let Some(Window { tally, before, after }) = window {
            let after = after.unwrap_or_else(|| medium.counters());
            let (operations, misses) = tally.operations(before.model);
            outcomes.operations.push(self.figures(operations, misses, course.index()));
            let used = Use { index: course.index(), storage: &self.access.storage, counters: [&before, &after] };
            outcomes.disks.extend(used.disk());
        }
        outcomes
    }
}

impl Loop {
    /// Asks and is answered until the run is over.
    fn drive(
        &mut self,
        medium: &mut dyn Medium,
        course: &Course,
        window: &mut Option<Window>,
    ) -> Result<(), nicteam_storage::Error> {
        let mut content = vec![0; self.access.storage.block_bytes as usize];
        Pattern::new(self.access.storage.seed).fill(0, 0, &mut content);
        for _ in 0..self.access.storage.outstanding {
            self.ask(medium.volume(), Buffer::from(content.clone()))?;
        }
        while !course.is_stopped() {
            medium.volume().wait(Some(LOOK), &mut [])?;
            let now = Instant::now();
            match (&mut *window, course.window()) {
                (None, Some(measured)) => {
                    *window = Some(Window { tally: Tally::new(measured), before: medium.counters(), after: None });
                }
                (Some(known), _) if known.after.is_none() => {
                    if self.access.disks.is_some() {
                        known.tally.model(now, medium.counters().model);
                    }
                    known.after = known.tally.is_over(now).then(|| medium.counters());
                }
                _ => {}
            }
            let mut has_failed = false;
            while let Some(done) = medium.volume().next_done() {
                has_failed |= done.result.is_err();
                self.answered(&done, now, window.as_mut().map(|window| &mut window.tally));
                self.ask(medium.volume(), done.buffer)?;
            }
            if has_failed {
                std::thread::sleep(AFTER_FAILURE);
            }
            course.look_at(medium);
        }
        Ok(())
    }

    /// Sends the next request.
    fn ask(&mut self, volume: &mut dyn Volume, buffer: Buffer) -> Result<(), nicteam_storage::Error> {
        let next = self.requests.next();
        self.next_id += 1;
        self.outstanding.insert(self.next_id, next.kind);
        volume.submit(Operation { id: self.next_id, kind: next.kind, offset: next.offset, buffer })
    }

    /// Takes an answer in.
    fn answered(&mut self, done: &Done, now: Instant, tally: Option<&mut Tally>) {
        let Some(kind) = self.outstanding.remove(&done.id) else { return };
        if let Some(tally) = tally {
            let bytes = self.access.storage.block_bytes;
            tally.add(now, Answer { kind, bytes, took: done.took, is_good: done.result.is_ok() });
        }
    }

    /// The figures, and what they are of.
    fn figures(&self, operations: Operations, misses: u64, index: u32) -> Operations {
        let AccessSpec { storage, spec, disks, .. } = &self.access;
        let specification = self.access.specification();
        Operations {
            index,
            specification: if spec.is_empty() { specification } else { format!("{spec}: {specification}") },
            block_bytes: Some(storage.block_bytes),
            outstanding: Some(storage.outstanding),
            disks: disks.map(|disks| ModelledDisks {
                hit: disks.hit.as_f64(),
                latency_us: disks.latency_us,
                ios_per_s: disks.iops.map(|iops| iops as f64),
                misses,
            }),
            ..operations
        }
    }
}
