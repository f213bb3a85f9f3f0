//! Why a bundle cannot be read or written.

use std::io;
use std::path::PathBuf;

use crate::SCHEMA;

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
    /// The record names a file that cannot be one of its bundle.
    #[error(
        "the record names the file {name:?}, which is {why}; \
         hint: a bundle names its own files alone (samples/RUN.jsonl); if it comes from a stranger, beware of it"
    )]
    Name {
        /// As the record has it.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A symbolic link, a FIFO, a device, ...
    #[error(
        "{path:?} is a {found}, not a {wanted}; \
         hint: a bundle holds regular files alone; remove it, and if the bundle comes from a stranger, beware of it"
    )]
    NotRegular {
        /// The file.
        path: PathBuf,
        /// What it has to be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// No bundle has so large a file.
    #[error("{path:?} is larger than a file of a bundle may be ({max_bytes} bytes)")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        max_bytes: u64,
    },
    /// Two runs have the same samples.
    #[error("{path:?}: two runs name the samples {samples:?}; hint: each run has a file of its own")]
    Shared {
        /// The record.
        path: PathBuf,
        /// The name of the samples.
        samples: String,
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
