//! `nicteam service generator`: what systemd is to start at boot.

use std::path::PathBuf;

use nicteam_host::service;

use crate::say;

/// Make the links by which systemd starts an instance of nicteam@.service for each team: systemd.generator(7).
#[derive(Debug, clap::Args)]
pub(crate) struct Generator {
    /// The folder for the links; systemd gives two more, which are not used.
    #[arg(required = true, num_args = 1..=3)]
    folders: Vec<PathBuf>,
    /// The folder of the files.
    #[arg(long, value_name = "FOLDER", default_value = service::FOLDER)]
    config: PathBuf,
}

/// Makes what can be made. A boot goes on in any case, so nothing is an error; the log has what is wrong.
pub(super) fn run(generator: &Generator) {
    let Some(units) = generator.folders.first() else { return };
    for complaint in service::generate(&generator.config, units).complaints {
        say::line(format_args!("nicteam: {}", say::visible(complaint)));
    }
}
