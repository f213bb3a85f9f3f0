//! The compiled half of the Python package `nicteam`: predictions, records and findings.
//!
//! Everything that a Python program sees is described in `nicteam/_nicteam.pyi`. Values that are not tables cross the
//! border as JSON; tables cross it as Arrow, without a copy.

mod predict;
mod records;
mod which;

use pyo3::prelude::*;

/// The compiled half of the package `nicteam`.
#[pymodule]
mod _nicteam {
    #[pymodule_export]
    use super::predict::{experiments, predict, predict_many};
    #[pymodule_export]
    use super::records::Record;
    #[pymodule_export]
    use super::which::{policies, which};
}

/// A value of JSON as Python has it.
fn to_python<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
