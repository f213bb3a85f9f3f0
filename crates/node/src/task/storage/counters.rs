//! What a disk counted, and what is recorded of it.

use std::net::IpAddr;

use nicteam_experiment::Storage;
use nicteam_multipath::{PathState, PathStatus};
use nicteam_record::{self as record, StoragePath};
use nicteam_storage as storage;

use crate::protocol::PathSpec;

/// Policy whose state names how many requests a turn has.
const ROUND_ROBIN: &str = "round-robin";

/// What a disk counted so far.
#[derive(Clone, Debug, Default)]
pub(in crate::task) struct Counters {
    /// None of what counts nothing.
    pub(super) status: Option<storage::Status>,
    /// Its paths as the lab has them.
    pub(super) paths: Vec<PathSpec>,
    /// Requests that the model of disks had, and how many of them its cache answered.
    pub(in crate::task) model: (u64, u64),
}

/// How a task used its disk in a window.
pub(in crate::task) struct Use<'a> {
    pub(in crate::task) index: u32,
    pub(in crate::task) storage: &'a Storage,
    /// At the window's beginning and at its end.
    pub(in crate::task) counters: [&'a Counters; 2],
}

impl Use<'_> {
    /// What there is to record of it; none of a disk that counts nothing.
    pub(in crate::task) fn disk(&self) -> Option<record::Disk> {
        let [before, after] = self.counters.map(|counters| counters.status.as_ref());
        let after = after?;
        let several = after.paths.len() > 1;
        let takes_turns = several && self.storage.policy == ROUND_ROBIN;
        let config = after.multipath.device_config.trim_matches(['{', '}']);
        let paths = (0..after.paths.len()).map(|path| self.path(path, before, after)).collect();
        Some(record::Disk {
            index: self.index,
            target: self.storage.target.clone(),
            policy: if several { self.storage.policy.clone() } else { String::new() },
            turn_ios: takes_turns.then_some(self.storage.iops),
            esxi: if several { config.to_owned() } else { String::new() },
            switches: after.multipath.switches - before.map_or(0, |before| before.multipath.switches),
            paths,
            ..record::Disk::default()
        })
    }

    fn path(&self, path: usize, before: Option<&storage::Status>, after: &storage::Status) -> StoragePath {
        let ([then, now], session) = (
            [before, Some(after)].map(|status| status.and_then(|status| status.multipath.paths.get(path))),
            &after.paths[path],
        );
        let grown = |field: fn(&PathStatus) -> u64| now.map_or(0, field).saturating_sub(then.map_or(0, field));
        let own = self.counters[1].paths.get(path);
        let ios = grown(|path| path.ios);
        let answer_us = grown(|path| path.answer_time.as_micros() as u64);
        StoragePath {
            path: path as u32,
            device: session.device.clone().or_else(|| own.map(|own| own.device.clone())).unwrap_or_default(),
            address: own.map_or_else(String::new, |own: &PathSpec| IpAddr::to_string(&own.client)),
            portal: session.portal.to_string(),
            state: now.map_or("", |path| state(path.state)).to_owned(),
            ios,
            read_bytes: grown(|path| path.read_bytes),
            written_bytes: grown(|path| path.written_bytes),
            latency_us: (ios > 0).then(|| answer_us as f64 / ios as f64),
            failures: now.map_or(0, |path| u64::from(path.deaths)),
            logins: u64::from(session.logins),
            connections: Vec::new(),
            negotiated: session.negotiated.map(negotiated),
        }
    }
}

/// A state in the words of the record.
pub(super) fn state(state: PathState) -> &'static str {
    match state {
        PathState::LoggingIn => "logging in",
        PathState::Up => "active",
        PathState::Suspect => "suspect",
        PathState::Fencing => "fencing",
        PathState::Dead => "dead",
    }
}

/// What a session negotiated, in the words of the record.
fn negotiated(of: storage::Negotiated) -> record::Negotiated {
    let digest = |on: bool| if on { "CRC32C" } else { "None" }.to_owned();
    record::Negotiated {
        first_burst_bytes: of.first_burst,
        max_burst_bytes: of.max_burst,
        max_recv_data_bytes: of.max_recv_data,
        own_max_recv_data_bytes: of.own_max_recv_data,
        immediate_data: of.immediate_data,
        initial_r2t: of.initial_r2t,
        header_digest: digest(of.header_digest),
        data_digest: digest(of.data_digest),
    }
}
