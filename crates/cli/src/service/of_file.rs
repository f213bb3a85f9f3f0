//! What each command for one team takes.

use std::path::PathBuf;

use nicteam_host::service::FOLDER;

/// A team of the files.
#[derive(Debug, clap::Args)]
pub(crate) struct OfFile {
    /// The team: a section `[teams.NAME]`.
    pub(super) name: String,
    /// The folder of the files.
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    pub(super) config: PathBuf,
}
