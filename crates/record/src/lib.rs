//! What an experiment leaves behind: the types of `record.json` and of the raw samples.
//!
//! A bundle is a folder: `record.json` ([`Record`]), `samples/RUN.jsonl` (a
//! [`Sample`] a line) and `report.html`. Units stand last in every name.
//! The file format is described in `docs/record.md`.
#![forbid(unsafe_code)]

mod alike;
mod bundle;
mod cure;
mod defaults;
mod echo;
mod environment;
mod error;
mod event;
mod expected;
mod fault;
mod finding;
mod folder;
mod machine;
mod making;
pub mod measure;
mod names;
mod numbers;
mod one_sided;
mod sample;
mod storage;
mod task;
mod topology;
mod traffic_test;

use serde::{Deserialize, Serialize};

pub use alike::{Looks, alike, drawn};
pub use bundle::{Bundle, MAX_RECORD_BYTES, MAX_SAMPLES_BYTES, PAGE, RECORD};
pub use cure::{Change, Cure, Links, Missing, MissingPart};
use defaults::{is_false, is_once, is_zero, once, tcp};
pub use echo::{Echo, EchoReply, RoundTrip, RoundTrips, TIMED_PAYLOAD_BYTES};
pub use environment::{Environment, Machine};
pub use error::BundleError;
pub use event::{Event, EventKind};
pub use expected::Expected;
pub use fault::{Fault, Resources};
pub use finding::{Finding, LinkLoad, LinkLoads, Side};
pub use folder::Folder;
pub use machine::{Cpu, HostCpu, Memory};
pub use making::{MARK, RUNNING, Running, SampleLog, is_abandoned, line, samples_of};
pub use names::names;
pub use numbers::thousands;
pub use one_sided::{OneSided, PlainHost, PlainMember};
pub use sample::{ConnectionSample, Datagrams, MacMoveSample, MemberSample, Relayed, Sample};
pub use storage::{Disk, Negotiated, Stall, StoragePath, Target};
pub use task::{Bucket, Histogram, ModelledDisks, Operations, Probes, Program, Transfer};
pub use topology::{Further, Gemodel, Host, Impaired, Impairments, Link, LinkEnd, Switch, SwitchModel, Team, Topology};
pub use traffic_test::TrafficTest;

/// Number of the format that this version writes.
pub const SCHEMA: u32 = 1;

/// One experiment's outcome: `record.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of nicteam that wrote it.
    pub nicteam: String,
    /// When the first run began, RFC 3339, UTC.
    pub started: String,
    /// Where it ran.
    pub environment: Environment,
    /// What was asked.
    pub experiment: Experiment,
    /// What came out, in the order of the file.
    pub runs: Vec<Run>,
    /// Set if the record is partial: the run that did not end, and why. Neither
    /// it nor the runs after it are in `runs`. Absent from older records.
    #[serde(default)]
    pub unfinished: Option<Unfinished>,
    /// Runs that were left out, because this machine does not have the engine of a team.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A run that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name.
    pub run: String,
    /// Set if it is one of several that differ by their engine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Why, in words: `this kernel has no bonding driver`.
    pub reason: String,
}

/// The run at which an experiment ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Its name.
    pub run: String,
    /// Why it did not end, in words: `stopped by SIGINT`.
    pub reason: String,
}

impl Record {
    /// If the record is partial: what is missing and why, in a sentence.
    pub fn partial(&self) -> Option<String> {
        let Unfinished { run, reason } = self.unfinished.as_ref()?;
        let (ended, all) = (self.runs.len(), self.experiment.order.len());
        Some(format!("run `{run}` did not end: {reason}; {ended} of {all} runs are recorded"))
    }
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name it was run by.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it wants to know, in a sentence or two.
    pub question: Option<String>,
    /// The experiment file, whole.
    pub file: String,
    /// What the command line changed: `rate=1gbit`, `duration=60s`.
    pub overrides: Vec<String>,
    /// Rate that the lab gave the links without a chosen rate, bit/s, where
    /// that is below the default because this machine carries no more in true
    /// packets. It stands in `overrides` too, so that the experiment can be run again.
    #[serde(default)]
    pub rate_lowered_bps: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// How often each run was carried out, in an order that the seed and the file give ([`Repetition`]).
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: u32,
    /// Names of the runs that were asked for, in the order in which they run.
    pub order: Vec<String>,
    /// What must come out of them, in the order of the file. Absent from older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expected>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Set of one of several runs that differ only in the engine of the hosts' teams: which run of the file it is,
    /// and by which engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// What it does, in words.
    pub description: Option<String>,
    /// What the published test found, in its words (`110 MB/s`).
    pub published: Option<String>,
    /// The published figure as a part of its own limit, 0 to 1.
    pub published_of_limit: Option<f64>,
    /// What the published test found for each client, by direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_rates: Vec<PublishedRates>,
    /// The run of the file that it is drawn beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<String>,
    /// Set if it was carried out several times: which run of the file it is, and which time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<Repetition>,
    /// How often it was carried out anew because a hypervisor took the processors away meanwhile; the last time is
    /// what is recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub done_again: u32,
    /// What was built for it.
    pub topology: Topology,
    /// Payload that arrived in the measured window, bit/s, counted by the
    /// receiving programs, all workloads together.
    pub delivered_bps: f64,
    /// Payload that the links could have carried, bit/s; `docs/record.md` defines it.
    pub limit_bps: f64,
    /// `delivered_bps / limit_bps`.
    pub of_limit: f64,
    /// What sets the limit, in words.
    pub limit_reason: String,
    /// Traffic of every member of every team.
    pub members: Vec<Member>,
    /// Every member of the teams of mode 802.3ad as a port; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<Port>,
    /// Buckets that carried something and their members, of teams that spread by buckets and report them
    /// (`engine = "ovs"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<BucketMember>,
    /// Members of hosts' teams with a switch port that spoke PAgP, which no team answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pagp: Vec<PagpHeard>,
    /// Teams in mode stripe that sent to hosts which do not; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_sided: Vec<OneSided>,
    /// How often each switch learned a known address at another port; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mac_moves: Vec<MacMoves>,
    /// Every connection.
    pub connections: Vec<Connection>,
    /// Tasks that ask and are answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operations>,
    /// Tests of throughput in SoftEther's scheme.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic_tests: Vec<TrafficTest>,
    /// Tasks that carry a file, or something like it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<Transfer>,
    /// Tasks that probe the way to another host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probes>,
    /// What served storage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The disks that hosts used of them, with their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disk>,
    /// Programs that were not ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// What became of the frames on each direction of each impaired link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relayed: Vec<Relayed>,
    /// What happened while it ran, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// What each fault did to the traffic, in order of time; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What its nodes used before the faults and after them; empty without faults, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resources>,
    /// The real machines that its hosts were; empty in network namespaces, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Machine>,
    /// Why it delivered what it delivered, the costliest first; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Where the share of the limit went that it did not deliver; none in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Processor time.
    pub cpu: Cpu,
    /// Memory of the machine; none: not looked at, as in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Links let two frames go at once instead of a burst: it is the wire's time that a packet takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smooth_links: bool,
    /// The measured window, without the warm-up, milliseconds.
    pub measured_ms: f64,
    /// What was left out before it, milliseconds.
    pub warmup_ms: f64,
    /// Layer whose bytes `delivered_bps` counts.
    pub delivered_counted_at: String,
    /// Layer whose bytes `members` count.
    pub members_counted_at: String,
    /// Raw samples, relative to the bundle.
    pub samples: String,
    /// SHA-256 of that file, hexadecimal.
    pub samples_sha256: String,
}

/// Published figures of one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedRates {
    /// The client.
    pub host: String,
    /// What it received, bit/s.
    pub download_bps: u64,
    /// What it sent, bit/s.
    pub upload_bps: u64,
}

/// One of several times that a run was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    /// The run; with several engines, by one of them.
    pub of: String,
    /// Which time, from 1.
    pub number: u32,
}

/// One of several runs that differ only in the engine of the hosts' teams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The run of the file.
    pub of: String,
    /// The engine.
    pub engine: String,
}

impl Run {
    /// The run of the file, with several engines by one of them, however often it was carried out.
    pub fn base_name(&self) -> &str {
        self.repetition.as_ref().map_or(&self.name, |repetition| &repetition.of)
    }

    /// Whether a finding says that this machine's processors held it back: its figures are not those of the network alone.
    pub fn is_held_by_machine(&self) -> bool {
        self.findings.iter().any(|finding| ["machine", "one-processor", "target"].contains(&finding.cause.as_str()))
    }

    /// If what carries frames over the impaired links did not keep up, so that
    /// they did more than was declared: what is wrong, in a sentence. That is
    /// so if it dropped frames, or if more than one in a hundred left late.
    pub fn relay_trouble(&self) -> Option<String> {
        let sum = |of: fn(&Relayed) -> u64| self.relayed.iter().map(of).sum::<u64>();
        let (frames, late, dropped) = (sum(|r| r.frames), sum(|r| r.late), sum(|r| r.dropped));
        if dropped == 0 && late * 100 <= frames {
            return None;
        }
        let share = late as f64 * 100.0 / frames.max(1) as f64;
        let latest_ms = self.relayed.iter().map(|r| r.latest_us).max().unwrap_or(0) as f64 / 1e3;
        Some(format!(
            "The machine did not keep up with the impaired links: {share:.1} % of {frames} frames left more than 1 ms \
             later than declared, at most {latest_ms:.1} ms, and {dropped} were dropped."
        ))
    }
}

/// One member's traffic in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Host or switch.
    pub host: String,
    /// Its team's device.
    pub team: String,
    /// The member's device.
    pub member: String,
    /// Sent, bit/s.
    pub tx_bps: f64,
    /// Received, bit/s.
    pub rx_bps: f64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames dropped on the way out: by the team, or by the link's queue.
    pub tx_drops: u64,
    /// Frames dropped on the way in by the team.
    pub rx_drops: u64,
}

/// A member of a team of mode 802.3ad at the end of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Host or switch.
    pub host: String,
    /// Its team's device.
    pub team: String,
    /// The member's device.
    pub member: String,
    /// True if frames were sent by it.
    pub aggregates: bool,
    /// The partner's system, if one spoke.
    pub partner: Option<String>,
    /// Why it does not aggregate, or what is wrong though it does, in the words of `nicteam team show`.
    pub why_not: Option<String>,
}

/// A bucket of a team that spreads frames by buckets, at the end of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketMember {
    /// Host or switch.
    pub host: String,
    /// Its team's device.
    pub team: String,
    /// The bucket.
    pub bucket: u8,
    /// Device of the member that had it.
    pub member: String,
}

/// How often a switch learned a known address at another port, in the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MacMoves {
    /// The switch.
    pub switch: String,
    /// How often.
    pub moves: u64,
    /// True: more was learned at once than could be counted, so there were more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_least: bool,
}

/// The PAgP hello of the port at the other end of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagpHeard {
    /// Host or switch.
    pub host: String,
    /// Its team's device.
    pub team: String,
    /// The member's device.
    pub member: String,
    /// The switch, by the name or the address in its hello.
    pub switch: String,
    /// Its port, if the hello has it.
    pub port: String,
    /// Mode of the port: `auto` or `desirable`.
    pub mode: String,
}

/// One connection in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Its workload.
    pub workload: String,
    /// Its number in the run, from 0.
    pub index: u32,
    /// Host that sends the payload.
    pub from: String,
    /// Host that receives it.
    pub to: String,
    /// Address and port of the sending end.
    pub src: String,
    /// Address and port of the receiving end.
    pub dst: String,
    /// Payload received, bit/s.
    pub delivered_bps: f64,
    /// Segments sent again in the measured window (`tcpi_total_retrans`).
    pub retransmits: u64,
    /// Segments with payload sent in it (`tcpi_data_segs_out`).
    pub segments: u64,
    /// Mean of the smoothed round-trip times sampled in it, microseconds (`tcpi_rtt`).
    pub rtt_us: f64,
    /// Congestion control of the sending end; empty for datagrams.
    pub congestion: String,
    /// `tcp`, `mptcp` or `udp`; older records know `tcp` alone.
    #[serde(default = "tcp")]
    pub transport: String,
    /// VLAN of its frames' tag, 1 to 4094; none: its host sends them without a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Multipath TCP: subflows at the end of it; their segments are added up above,
    /// and their round-trip times averaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subflows: Option<u32>,
    /// What became of its datagrams, if it is of these; then nothing is known of
    /// segments and round-trip times, which are 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Datagrams>,
}
