//! A bundle: the folder that holds a record and its samples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{BundleError, Folder, Record, Run, SCHEMA, Sample};

/// Name of the record in its bundle.
pub const RECORD: &str = "record.json";
/// Name of the page in its bundle.
pub const PAGE: &str = "report.html";
/// Largest record that is read, bytes: some hundred runs of some hundred connections.
pub const MAX_RECORD_BYTES: u64 = 64 << 20;
/// Largest file of samples that is read, bytes: half an hour of ten hosts with four links each, ten samples a second.
pub const MAX_SAMPLES_BYTES: u64 = 256 << 20;

/// A folder with a record and its samples.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The folder.
    pub dir: PathBuf,
    /// The record.
    pub record: Record,
}

impl Bundle {
    /// Reads the record of a bundle.
    pub fn open(dir: &Path) -> Result<Bundle, BundleError> {
        #[derive(serde::Deserialize)]
        struct Head {
            schema: u32,
        }
        let path = dir.join(RECORD);
        let text = Folder::open(dir)?.read(RECORD, MAX_RECORD_BYTES)?;
        let format = |error: serde_json::Error| format_error(&path, 0, &error);
        let Head { schema } = serde_json::from_str(&text).map_err(format)?;
        if schema != SCHEMA {
            return Err(BundleError::Schema { path, found: schema });
        }
        let record: Record = serde_json::from_str(&text).map_err(format)?;
        // Else a short record could have a large file read any number of times.
        let mut names = BTreeSet::new();
        if let Some(twice) = record.runs.iter().find(|run| !names.insert(&run.samples)) {
            return Err(BundleError::Shared { path, samples: twice.samples.clone() });
        }
        Ok(Bundle { dir: dir.to_owned(), record })
    }

    /// Writes the record into its folder, which must exist.
    pub fn write_record(&self) -> Result<(), BundleError> {
        let mut text = serde_json::to_string_pretty(&self.record).expect("a record has string keys only");
        text.push('\n');
        Folder::open(&self.dir)?.write(RECORD, &text)
    }

    /// Writes the page into the bundle's folder.
    pub fn write_page(&self, page: &str) -> Result<(), BundleError> {
        Folder::open(&self.dir)?.write(PAGE, page)
    }

    /// Reads a run's raw samples.
    pub fn samples(&self, run: &Run) -> Result<Vec<Sample>, BundleError> {
        let path = self.dir.join(&run.samples);
        Folder::open(&self.dir)?.read_lines(&run.samples, MAX_SAMPLES_BYTES, |number, line| {
            serde_json::from_str(line).map_err(|error| format_error(&path, number, &error))
        })
    }
}

/// Gives a JSON error its place in a file of which earlier lines were read separately.
fn format_error(path: &Path, lines_before: usize, error: &serde_json::Error) -> BundleError {
    BundleError::Format {
        path: path.to_owned(),
        line: lines_before + error.line(),
        column: error.column(),
        message: error.to_string(),
    }
}
