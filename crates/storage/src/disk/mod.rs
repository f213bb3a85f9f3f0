//! A disk: sessions under multipath, executed by the thread that waits for it.

mod capacity;
mod carriers;
mod effects;
mod opening;
mod operations;
mod requests;
mod sessions;
mod state;

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nicteam_iscsi::Library;
use nicteam_multipath::{Multipath, Notice, Policy};
use nix::poll::PollFlags;

use crate::model::Model;
use crate::{DiskSpec, Done, Error, Operation, Status, Volume, Watch, watch};
use capacity::Capacity;
use operations::Operations;
use requests::Requests;
use sessions::Sessions;

pub use state::Disk;

impl Disk {
    /// Logs in by all paths and reads the capacity. Returns when one path is up and every other one is, too, or has
    /// failed once; those are tried on.
    ///
    /// # Errors
    /// No path comes up within [`DiskSpec::open_timeout`], the logical unit does not report its capacity, the
    /// specification makes no disk, or the system refuses a socket.
    pub fn open(library: &Library, spec: &DiskSpec) -> Result<Disk, Error> {
        spec.check()?;
        let longest = spec.longest_command as usize;
        let mut disk = Disk {
            began: Instant::now(),
            block_bytes: spec.multipath.block_bytes,
            blocks: 0,
            longest,
            sessions: Sessions::new(library, spec)?,
            multipath: Multipath::new(spec.multipath.clone(), spec.paths.len(), Duration::ZERO),
            requests: Requests::default(),
            operations: Operations::default(),
            done: VecDeque::new(),
            notices: VecDeque::new(),
            commands: BTreeMap::new(),
            next: VecDeque::new(),
            capacity: Capacity::default(),
            model: spec.model.map(Model::new),
        };
        disk.log_in(spec)?;
        if disk.has_other_blocks(spec) {
            // Sessions count in blocks from their first command on.
            let block_bytes = disk.block_bytes;
            disk.log_out()?;
            let multipath = nicteam_multipath::Config { block_bytes, ..spec.multipath.clone() };
            return Disk::open(library, &DiskSpec { multipath, ..spec.clone() });
        }
        Ok(disk)
    }

    /// What can be seen of it.
    pub fn status(&self) -> Status {
        Status {
            multipath: self.multipath.status(),
            paths: self.sessions.status(),
            model: self.model.as_ref().map(Model::counts),
        }
    }

    /// The connections that there are, by the numbers of their paths: for `TCP_INFO`.
    pub fn sockets(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        self.sessions.sockets()
    }

    /// The next thing that a user may want to know, with its time since the disk was opened. The oldest are forgotten
    /// if the program does not ask.
    pub fn next_notice(&mut self) -> Option<(Duration, Notice)> {
        self.notices.pop_front()
    }

    /// Chooses paths by another policy from now on.
    pub fn set_policy(&mut self, policy: Policy) {
        let now = self.now();
        self.multipath.set_policy(policy, now);
        self.do_effects();
    }

    /// Operations that are not done.
    pub fn outstanding(&self) -> usize {
        self.operations.len()
    }

    /// Logs out by every path, and is gone. An operation that is outstanding is given up. A target that does not
    /// answer is waited for two seconds.
    ///
    /// # Errors
    /// The operating system refuses to wait.
    pub fn close(mut self) -> Result<(), Error> {
        self.log_out()
    }

    /// Waits as [`Volume::wait`] does, and handles what comes; what is done already does not wait.
    fn turn(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        self.sessions.send();
        self.handle_reports();
        self.handle_time();
        let now = self.now();
        let deadlines = [
            self.multipath.poll_timeout().map(|(due, _)| due),
            self.requests.next_ready_at(),
            self.sessions.carriers.next_look(),
        ];
        let until_deadline = deadlines.into_iter().flatten().min().map(|due| due.saturating_sub(now));
        let limit = if self.done.is_empty() { limit } else { Some(Duration::ZERO) };
        let limit = limit.into_iter().chain(until_deadline).min();
        let (paths, mut own) = self.sessions.watches();
        own.push(Watch::new(self.sessions.carriers.fd(), PollFlags::POLLIN));
        watch::wait(limit, &mut own, others)?;
        let hinted = own.pop().is_some_and(|monitor| !monitor.found.is_empty());
        let found: Vec<(usize, PollFlags)> = paths.into_iter().zip(own.iter().map(|watch| watch.found)).collect();
        self.serve(&found);
        self.look_at_carriers(hinted);
        self.handle_time();
        Ok(())
    }
}

impl Volume for Disk {
    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn bytes(&self) -> u64 {
        self.blocks * u64::from(self.block_bytes)
    }

    fn submit(&mut self, operation: Operation) -> Result<(), Error> {
        operation.check(self.block_bytes, self.bytes())?;
        self.begin(operation);
        self.do_effects();
        Ok(())
    }

    fn wait(&mut self, limit: Option<Duration>, others: &mut [Watch<'_>]) -> Result<(), Error> {
        self.turn(limit, others)
    }

    fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }
}
