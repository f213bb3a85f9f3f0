//! How the lab carries experiments out for this program.

use std::path::PathBuf;

use nicteam_dataplane::Kind;
use nicteam_lab::Options;

use crate::failure::Failure;

/// On this machine, with this program for the agents.
pub(super) fn options(output: PathBuf, dataplane: Option<Kind>, privileges: &'static str) -> Result<Options, Failure> {
    Ok(Options {
        binary: myself()?,
        output,
        dataplane,
        privileges,
        testbed: None,
        kinds: None,
        explain: nicteam_report::find_reasons,
    })
}

/// This program, for the agents.
pub(super) fn myself() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::failed(format!("cannot find myself: {error}")))
}
