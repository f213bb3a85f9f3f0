//! From no session to the first one, and from the last one to none.

use std::time::Duration;

use nicteam_multipath::PathState;

use super::state::Disk;
use crate::{DiskSpec, Error, Volume, watch};

/// Number of the command that logs out.
const LOGOUT: u64 = u64::MAX;
/// How long a target may take to answer logouts.
const LOGOUT_LIMIT: Duration = Duration::from_secs(2);
/// How long the first path waits for the others.
const OTHERS_LIMIT: Duration = Duration::from_secs(1);

impl Disk {
    /// Waits for paths, and for the size.
    pub(super) fn log_in(&mut self, spec: &DiskSpec) -> Result<(), Error> {
        self.do_effects();
        self.wait_for_paths(spec, self.now() + spec.open_timeout)?;
        // A path that is up has reported its size.
        if let Some((blocks, block_bytes)) = self.capacity.known() {
            self.blocks = blocks;
            self.block_bytes = block_bytes;
            self.longest = (self.longest / block_bytes.max(1) as usize).max(1) * block_bytes as usize;
        }
        Ok(())
    }

    /// Until one is up and every other one is, too, or has failed.
    fn wait_for_paths(&mut self, spec: &DiskSpec, deadline: Duration) -> Result<(), Error> {
        let mut first_up = None;
        loop {
            self.turn(Some(STEP), &mut [])?;
            if let (None, Some(reason)) = (self.capacity.known(), self.capacity.mismatch()) {
                let (target, reason) = (spec.target.clone(), reason.to_owned());
                return Err(Error::Capacity { lun: spec.lun, target, reason });
            }
            let (now, states) = (self.now(), self.multipath.status().paths);
            let sessions = self.sessions.status();
            let is_up = |path: usize| states[path].state == PathState::Up;
            let has_failed = |path: usize| sessions[path].last_error.is_some() || states[path].deaths > 0;
            let up = (0..states.len()).filter(|path| is_up(*path)).count();
            let settled = (0..states.len()).all(|path| is_up(path) || has_failed(path));
            if up > 0 {
                let first = *first_up.get_or_insert(now);
                if settled || now > first + OTHERS_LIMIT {
                    return Ok(());
                }
            } else if now > deadline {
                let mut reasons: Vec<String> = sessions
                    .iter()
                    .map(|path| match &path.last_error {
                        Some(reason) => format!("{}: {reason}", path.portal),
                        None => format!("{}: no answer", path.portal),
                    })
                    .collect();
                reasons.dedup();
                return Err(Error::NoPath {
                    target: spec.target.clone(),
                    paths: states.len(),
                    reasons: reasons.join("; "),
                    hint: "is the target started, and does its portal answer to `iscsi-ls iscsi://ADDRESS`?",
                });
            }
        }
    }

    /// Logs out by every path that can, within a limit.
    pub(super) fn log_out(&mut self) -> Result<(), Error> {
        let mut left: Vec<usize> = Vec::new();
        for path in 0..self.sessions.len() {
            if let Some(session) = self.sessions.session(path).filter(|session| session.is_ready()) {
                session.logout(LOGOUT);
                left.push(path);
            }
        }
        let deadline = self.now() + LOGOUT_LIMIT;
        while !left.is_empty() && self.now() < deadline {
            let (paths, mut own) = self.sessions.watches();
            watch::wait(Some(deadline.saturating_sub(self.now())), &mut own, &mut [])?;
            let found: Vec<_> = paths.into_iter().zip(own.iter().map(|watch| watch.found)).collect();
            for (path, found) in found {
                if let Some(session) = self.sessions.session(path) {
                    session.service(found);
                }
            }
            // The answer or the end of the session completes it. Multipath gets no further message.
            while let Some((path, report)) = self.sessions.next_report() {
                if report.ends(LOGOUT) {
                    left.retain(|other| *other != path.0);
                }
            }
            left.retain(|path| self.sessions.session(*path).is_some());
        }
        Ok(())
    }

    /// Whether the logical unit has another block than the sessions were opened for.
    pub(super) fn has_other_blocks(&self, spec: &DiskSpec) -> bool {
        self.block_bytes() != spec.multipath.block_bytes
    }
}

/// How often it is looked whether a path is up, at least.
const STEP: Duration = Duration::from_millis(20);
