//! What each run of an experiment would deliver.

use arrow_schema::{FieldRef, Schema};
use nicteam_experiment::{
    self as experiment, Experiment, Overrides, Predicted, parse_duration, parse_rate, predicted_json,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use serde::{Deserialize, Serialize};
use serde_arrow::schema::{SchemaLike, TracingOptions};

use crate::to_python;

/// The experiments that come with nicteam: names and titles.
#[pyfunction]
pub fn experiments() -> Vec<(&'static str, &'static str)> {
    experiment::builtin().iter().map(|builtin| (builtin.name, builtin.title())).collect()
}

/// What each run of an experiment would deliver.
#[pyfunction]
#[pyo3(signature = (name, text, seeds, only, rate, duration, engines))]
#[expect(clippy::too_many_arguments, reason = "they are the options of `nicteam lab predict`")]
pub fn predict<'py>(
    py: Python<'py>,
    name: &str,
    text: Option<&str>,
    seeds: u32,
    only: Option<Vec<String>>,
    rate: Option<&str>,
    duration: Option<&str>,
    engines: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let rate_bps = rate.map(parse_rate).transpose().map_err(PyValueError::new_err)?;
    let duration = duration.map(parse_duration).transpose().map_err(PyValueError::new_err)?;
    let overrides = Overrides { rate_bps, duration, only, engines };
    let (name, predicted) = py.detach(|| {
        let experiment = read(name, text, &overrides)?;
        Ok::<_, PyErr>((experiment.name.clone(), experiment::predict_drawn(&experiment, seeds)))
    })?;
    to_python(py, &predicted_json(&name, &predicted, seeds)["runs"])
}

/// The experiment in this text, or of this name, or in this file.
fn read(name: &str, text: Option<&str>, overrides: &Overrides) -> PyResult<Experiment> {
    let parsed = match text {
        Some(text) => experiment::parse(name, name, text, overrides),
        None => {
            let found = experiment::find(name).map_err(|error| {
                let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                PyValueError::new_err(format!("{error}{hint}"))
            })?;
            experiment::parse(&found.name, &found.path, &found.text, overrides)
        }
    };
    parsed.map_err(|problems| PyValueError::new_err(problems.to_string()))
}

/// A run of one of many experiments.
#[derive(Serialize, Deserialize)]
struct Row {
    /// Place of the experiment in the list.
    point: u64,
    run: String,
    limit_bps: f64,
    bps: Option<f64>,
    of_limit: Option<f64>,
    held_by: Option<String>,
    not_predicted: Option<String>,
    p5_bps: Option<f64>,
    median_bps: Option<f64>,
    p95_bps: Option<f64>,
}

impl Row {
    fn new(point: usize, run: Predicted) -> Row {
        let of_limit = run.of_limit();
        let (outcome, not_predicted) = match run.outcome {
            Ok(outcome) => (Some(outcome), None),
            Err(reason) => (None, Some(reason)),
        };
        let drawn = outcome.as_ref().and_then(|outcome| outcome.drawn);
        Row {
            point: point as u64,
            run: run.run,
            limit_bps: run.limit_bps,
            bps: outcome.as_ref().map(|outcome| outcome.bps),
            of_limit,
            held_by: outcome.map(|outcome| outcome.held_by),
            not_predicted,
            p5_bps: drawn.map(|drawn| drawn.p5_bps),
            median_bps: drawn.map(|drawn| drawn.median_bps),
            p95_bps: drawn.map(|drawn| drawn.p95_bps),
        }
    }
}

/// What the runs of many experiments would deliver, as one table. Other threads of Python go on meanwhile.
#[pyfunction]
#[pyo3(signature = (texts, seeds))]
pub fn predict_many(py: Python<'_>, texts: Vec<String>, seeds: u32) -> PyResult<PyRecordBatch> {
    py.detach(|| {
        let mut rows = Vec::new();
        for (point, text) in texts.iter().enumerate() {
            let read = experiment::parse("point", "the experiment", text, &Overrides::default());
            let read = read.map_err(|problems| PyValueError::new_err(format!("point {point}: {problems}")))?;
            rows.extend(experiment::predict_drawn(&read, seeds).into_iter().map(|run| Row::new(point, run)));
        }
        batch(&rows)
    })
}

/// Rows as a table; its columns are the fields of the row's type, also where there is no row.
pub(crate) fn batch<'a, T: Serialize + Deserialize<'a>>(rows: &[T]) -> PyResult<PyRecordBatch> {
    let failed = |error: serde_arrow::Error| PyValueError::new_err(error.to_string());
    let fields = Vec::<FieldRef>::from_type::<T>(TracingOptions::default()).map_err(failed)?;
    let batch = if rows.is_empty() {
        arrow_array::RecordBatch::new_empty(Schema::new(fields).into())
    } else {
        serde_arrow::to_record_batch(&fields, &rows).map_err(failed)?
    };
    Ok(PyRecordBatch::new(batch))
}
