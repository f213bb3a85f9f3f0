//! Waiting for several descriptors, some of which belong to other code.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nicteam_sys::Context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::time::TimeSpec;

use crate::Error;

/// A descriptor to wait for.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'fd> {
    /// The descriptor.
    pub fd: BorrowedFd<'fd>,
    /// What is waited for; errors and the other end's closing always are.
    pub wants: PollFlags,
    /// What was found; empty if nothing.
    pub found: PollFlags,
}

impl<'fd> Watch<'fd> {
    /// Waits for this.
    pub fn new(fd: BorrowedFd<'fd>, wants: PollFlags) -> Watch<'fd> {
        Watch { fd, wants, found: PollFlags::empty() }
    }
}

/// Waits until one of `own` or `others` is ready, the time has passed, or a signal comes.
pub(crate) fn wait(limit: Option<Duration>, own: &mut [Watch<'_>], others: &mut [Watch<'_>]) -> Result<(), Error> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(own.len() + others.len());
    fds.extend(own.iter().map(|watch| PollFd::new(watch.fd, watch.wants)));
    fds.extend(others.iter().map(|watch| PollFd::new(watch.fd, watch.wants)));
    match nix::poll::ppoll(&mut fds, limit.map(TimeSpec::from_duration), None) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(()),
        Err(error) => return Err(error).context(|| "wait for a disk".to_owned()).map_err(Error::from),
    }
    let (of_own, of_others) = fds.split_at(own.len());
    let found = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::empty());
    let of_own: Vec<PollFlags> = of_own.iter().map(found).collect();
    let of_others: Vec<PollFlags> = of_others.iter().map(found).collect();
    own.iter_mut().zip(of_own).for_each(|(watch, found)| watch.found = found);
    others.iter_mut().zip(of_others).for_each(|(watch, found)| watch.found = found);
    Ok(())
}
