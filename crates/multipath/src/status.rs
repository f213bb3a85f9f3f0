//! What can be seen of the paths, in ESXi's words.

use std::fmt;
use std::time::Duration;

use crate::{Kind, Multipath, PathId, PathState};

/// The state of [`Multipath`]. Its `Display` is what `esxcli storage nmp device list` shows of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// `Path Selection Policy`: ESXi's plug-in, or Linux' word where ESXi has none.
    pub policy: &'static str,
    /// `Path Selection Policy Device Config`, with its braces.
    pub device_config: String,
    /// The paths, in their order.
    pub paths: Vec<PathStatus>,
    /// How often a command went by another path than the one before.
    pub switches: u64,
    /// Requests that no path has.
    pub waiting: usize,
    /// How often a command was sent again.
    pub resent: u64,
}

/// One path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Its state.
    pub state: PathState,
    /// Commands of requests that were executed.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these, read.
    pub read_bytes: u64,
    /// Of these, written.
    pub written_bytes: u64,
    /// The times from sending to the answer of these commands, summed up.
    pub answer_time: Duration,
    /// Commands that are outstanding.
    pub outstanding: usize,
    /// Their bytes.
    pub outstanding_bytes: u64,
    /// The least latency of late, without the time that the data take; none before the first answer of its session.
    pub latency: Option<Duration>,
    /// Delivery rate while busy, in bytes a second: of reads; none before the first of its session.
    pub read_rate: Option<f64>,
    /// The same of writes.
    pub write_rate: Option<f64>,
    /// How often it died.
    pub deaths: u32,
    /// Writes of a lost session that is not fenced yet.
    pub unfenced: usize,
}

impl Multipath {
    /// The paths and what they did.
    pub fn status(&self) -> Status {
        let status = |(index, path): (usize, &crate::path::Path)| PathStatus {
            state: path.state(PathId(index)),
            ios: path.counters.ios,
            bytes: path.counters.read_bytes + path.counters.written_bytes,
            read_bytes: path.counters.read_bytes,
            written_bytes: path.counters.written_bytes,
            answer_time: path.counters.answer_time,
            outstanding: path.outstanding(),
            outstanding_bytes: path.outstanding_bytes(),
            latency: path.measure.latency(),
            read_rate: path.measure.rate(Kind::Read),
            write_rate: path.measure.rate(Kind::Write),
            deaths: path.counters.deaths,
            unfenced: path.unfenced.as_ref().map_or(0, |lost| lost.writes.len()),
        };
        Status {
            policy: self.config.policy.entry().plugin,
            device_config: format!("{{{}}}", self.chooser.device_config(&self.paths)),
            paths: self.paths.iter().enumerate().map(status).collect(),
            switches: self.switches,
            waiting: self.requests.waiting(),
            resent: self.resent,
        }
    }
}

impl PathStatus {
    /// Whether commands are sent by it.
    pub fn is_working(&self) -> bool {
        matches!(self.state, PathState::Up | PathState::Suspect)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |working: bool| {
            let paths = self.paths.iter().enumerate().filter(|(_, path)| path.is_working() == working);
            let names: Vec<String> = paths.map(|(index, _)| PathId(index).runtime_name()).collect();
            names.join(", ")
        };
        writeln!(f, "   Path Selection Policy: {}", self.policy)?;
        writeln!(f, "   Path Selection Policy Device Config: {}", self.device_config)?;
        writeln!(f, "   Working Paths: {}", names(true))?;
        // Not ESXi's.
        writeln!(f, "   Dead Paths: {}", names(false))
    }
}
