//! Why there is no capture.

use std::io;
use std::path::PathBuf;

/// Why there is no capture, or why it ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error(transparent)]
    System(#[from] nicteam_sys::Error),
    /// The capture could not be written. What was written before can be read.
    #[error("cannot write {}: {error}; hint: what was written before can be read", to.display())]
    Write {
        /// The file, or `standard output`.
        to: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file could not be made.
    #[error("cannot make {}: {error}", to.display())]
    Create {
        /// The file.
        to: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Nobody is there to compile a filter.
    #[error(
        "tcpdump is not installed, which compiles filters; hint: `apt-get install tcpdump` (`dnf install tcpdump`), or capture without a filter"
    )]
    NoCompiler,
    /// The filter is none.
    #[error("filter `{filter}`: {reason}; hint: `man pcap-filter` describes filters")]
    Filter {
        /// The filter.
        filter: String,
        /// What tcpdump said.
        reason: String,
    },
    /// tcpdump could not be run, or its output is none.
    #[error("tcpdump did not compile the filter: {0}")]
    Compiler(String),
}
