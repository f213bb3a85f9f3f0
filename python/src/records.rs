//! What an experiment left behind: `record.json` and its samples.

use std::path::PathBuf;

use nicteam_record::{Bundle, Run, Sample};
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use serde::{Deserialize, Serialize};

use crate::predict::batch;
use crate::to_python;

/// A record: what an experiment was, what each run delivered, and why not more.
#[pyclass(frozen, module = "nicteam")]
pub struct Record {
    bundle: Bundle,
}

#[pymethods]
impl Record {
    /// Reads the record of a folder, and looks for findings by the rules of this version.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Record> {
        py.detach(|| {
            let mut bundle = Bundle::open(&folder).map_err(|error| PyOSError::new_err(error.to_string()))?;
            nicteam_report::add_findings(&mut bundle.record);
            Ok(Record { bundle })
        })
    }

    fn __repr__(&self) -> String {
        let record = &self.bundle.record;
        format!("Record({:?}, started {:?}, {} runs)", record.experiment.name, record.started, record.runs.len())
    }

    /// The folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.bundle.dir.clone()
    }

    /// Name of the experiment.
    #[getter]
    fn name(&self) -> &str {
        &self.bundle.record.experiment.name
    }

    /// Everything, as `record.json` has it.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.bundle.record).expect("a record has string keys only");
        to_python(py, &value)
    }

    /// Names of the runs, in the order in which they ran.
    fn run_names(&self) -> Vec<&str> {
        self.bundle.record.runs.iter().map(|run| run.name.as_str()).collect()
    }

    /// A row a run.
    fn runs(&self) -> PyResult<PyRecordBatch> {
        let rows: Vec<RunRow> = self.bundle.record.runs.iter().map(RunRow::new).collect();
        batch(&rows)
    }

    /// A row a cause of what a run did not deliver, the costliest first.
    fn findings(&self) -> PyResult<PyRecordBatch> {
        let runs = self.bundle.record.runs.iter();
        let rows: Vec<FindingRow> = runs.flat_map(FindingRow::of_run).collect();
        batch(&rows)
    }

    /// A row a member and sample of this run.
    fn members(&self, py: Python<'_>, run: &str) -> PyResult<PyRecordBatch> {
        let samples = self.samples(py, run)?;
        let rows: Vec<MemberRow> = samples.iter().flat_map(MemberRow::of_sample).collect();
        batch(&rows)
    }

    /// A row a connection's end and sample of this run.
    fn connections(&self, py: Python<'_>, run: &str) -> PyResult<PyRecordBatch> {
        let samples = self.samples(py, run)?;
        let rows: Vec<ConnectionRow> = samples.iter().flat_map(ConnectionRow::of_sample).collect();
        batch(&rows)
    }
}

impl Record {
    fn samples(&self, py: Python<'_>, name: &str) -> PyResult<Vec<Sample>> {
        let runs = &self.bundle.record.runs;
        let run = runs.iter().find(|run| run.name == name).ok_or_else(|| {
            let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
            PyKeyError::new_err(format!("no run {name:?}; the record has {}", names.join(", ")))
        })?;
        py.detach(|| self.bundle.samples(run)).map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

#[derive(Serialize, Deserialize)]
struct RunRow {
    run: String,
    /// The run of the file, of one that was repeated or carried out by several engines.
    of: String,
    engine: Option<String>,
    repetition: u32,
    delivered_bps: f64,
    limit_bps: f64,
    of_limit: f64,
    limit_reason: String,
    published_of_limit: Option<f64>,
    connections: u64,
    retransmits: u64,
    measured_ms: f64,
}

impl RunRow {
    fn new(run: &Run) -> RunRow {
        let repetition = run.repetition.as_ref();
        RunRow {
            run: run.name.clone(),
            of: run.variant.as_ref().map_or_else(|| run.base_name().to_owned(), |variant| variant.of.clone()),
            engine: run.variant.as_ref().map(|variant| variant.engine.clone()),
            repetition: repetition.map_or(1, |it| it.number),
            delivered_bps: run.delivered_bps,
            limit_bps: run.limit_bps,
            of_limit: run.of_limit,
            limit_reason: run.limit_reason.clone(),
            published_of_limit: run.published_of_limit,
            connections: run.connections.len() as u64,
            retransmits: run.connections.iter().map(|connection| connection.retransmits).sum(),
            measured_ms: run.measured_ms,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct FindingRow {
    run: String,
    cause: String,
    /// Part of the run's limit that was lost to it.
    lost: f64,
    /// Host or switch that chose among the links.
    node: Option<String>,
    policy: Option<String>,
    connections: Vec<u32>,
}

impl FindingRow {
    fn of_run(run: &Run) -> impl Iterator<Item = FindingRow> {
        run.findings.iter().map(|finding| FindingRow {
            run: run.name.clone(),
            cause: finding.cause.clone(),
            lost: finding.lost,
            node: finding.node.clone(),
            policy: finding.policy.clone(),
            connections: finding.connections.clone(),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct MemberRow {
    t_ms: f64,
    host: String,
    team: String,
    member: String,
    tx_frames: u64,
    tx_bytes: u64,
    tx_drops: u64,
    rx_frames: u64,
    rx_bytes: u64,
    rx_drops: u64,
}

impl MemberRow {
    fn of_sample(sample: &Sample) -> impl Iterator<Item = MemberRow> {
        sample.members.iter().map(|member| MemberRow {
            t_ms: sample.t_ms,
            host: sample.host.clone(),
            team: member.team.clone(),
            member: member.member.clone(),
            tx_frames: member.tx_frames,
            tx_bytes: member.tx_bytes,
            tx_drops: member.tx_drops,
            rx_frames: member.rx_frames,
            rx_bytes: member.rx_bytes,
            rx_drops: member.rx_drops,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct ConnectionRow {
    t_ms: f64,
    host: String,
    connection: u32,
    received_bytes: u64,
    segments: u64,
    retransmits: u64,
    rtt_us: u32,
}

impl ConnectionRow {
    fn of_sample(sample: &Sample) -> impl Iterator<Item = ConnectionRow> {
        sample.connections.iter().map(|connection| ConnectionRow {
            t_ms: sample.t_ms,
            host: sample.host.clone(),
            connection: connection.index,
            received_bytes: connection.received_bytes,
            segments: connection.segments,
            retransmits: connection.retransmits,
            rtt_us: connection.rtt_us,
        })
    }
}
