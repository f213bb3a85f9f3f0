//! A bundle: the folder that holds a record and its samples.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Record, Run, SCHEMA, Sample};

/// Name of the record in its bundle.
pub const RECORD: &str = "record.json";

/// A folder with a record and its samples.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The folder.
    pub dir: PathBuf,
    /// The record.
    pub record: Record,
}

/// A bundle that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The system refused.
    #[error("cannot {operation} {path}: {source}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no record, or no sample.
    #[error("{path}:{line}:{column}: {message}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Another version wrote it.
    #[error("{path}: schema {found}, this version reads {SCHEMA}; hint: report it with the nicteam that wrote it")]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its number.
        found: u32,
    },
}

impl Bundle {
    /// Reads the record of a bundle.
    pub fn open(dir: &Path) -> Result<Bundle, BundleError> {
        #[derive(serde::Deserialize)]
        struct Head {
            schema: u32,
        }
        let path = dir.join(RECORD);
        let text = read(&path)?;
        let format = |error: serde_json::Error| format_error(&path, 0, &error);
        let Head { schema } = serde_json::from_str(&text).map_err(format)?;
        if schema != SCHEMA {
            return Err(BundleError::Schema { path, found: schema });
        }
        let record = serde_json::from_str(&text).map_err(format)?;
        Ok(Bundle { dir: dir.to_owned(), record })
    }

    /// Writes the record into its folder, which must exist.
    pub fn write_record(&self) -> Result<(), BundleError> {
        let mut text = serde_json::to_string_pretty(&self.record).expect("a record has string keys only");
        text.push('\n');
        write(&self.dir.join(RECORD), &text)
    }

    /// Reads a run's raw samples.
    pub fn samples(&self, run: &Run) -> Result<Vec<Sample>, BundleError> {
        let path = self.dir.join(&run.samples);
        let text = read(&path)?;
        text.lines()
            .enumerate()
            .map(|(number, line)| serde_json::from_str(line).map_err(|error| format_error(&path, number, &error)))
            .collect()
    }
}

/// Reads a text file of a bundle.
fn read(path: &Path) -> Result<String, BundleError> {
    fs::read_to_string(path).map_err(|source| BundleError::Io { operation: "read", path: path.to_owned(), source })
}

/// Writes a text file of a bundle.
fn write(path: &Path, text: &str) -> Result<(), BundleError> {
    fs::write(path, text).map_err(|source| BundleError::Io { operation: "write", path: path.to_owned(), source })
}

/// Places a JSON error in a file whose earlier lines were read apart.
fn format_error(path: &Path, lines_before: usize, error: &serde_json::Error) -> BundleError {
    BundleError::Format {
        path: path.to_owned(),
        line: lines_before + error.line(),
        column: error.column(),
        message: error.to_string(),
    }
}
