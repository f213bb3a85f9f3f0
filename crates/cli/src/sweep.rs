//! `nicteam sweep`: thousands of experiments, by the Python package.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::failure::Failure;

/// Predict, or run, every point of a space of experiments, on Dask.
///
/// The file names a template of an experiment, the values of its parameters, and the folder for the result, in Parquet.
/// Points that are there already are not done again. docs/python.md describes the file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  nicteam sweep links-used.toml\n  nicteam sweep links-used.toml --scheduler tcp://10.0.0.1:8786"
)]
pub(crate) struct Args {
    /// The sweep, in TOML.
    file: String,
    /// Folder for the result, instead of the file's.
    #[arg(long, value_name = "DIR")]
    store: Option<String>,
    /// A Dask cluster: tcp://10.0.0.1:8786. Processes of this machine by default.
    #[arg(long, value_name = "ADDRESS")]
    scheduler: Option<String>,
}

/// Becomes the package's program. Returns where that is not possible.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let python = std::env::var_os("NICTEAM_PYTHON").unwrap_or_else(|| "python3".into());
    // Without -P a folder `nicteam` where the user stands, as in a checkout, would be taken for the package.
    let has_package = Command::new(&python).args(["-P", "-c", "import nicteam.sweeping"]).output();
    match has_package {
        Ok(output) if output.status.success() => {}
        Ok(_) => return Err(without(&format!("`{}` has no package `nicteam`", python.display()))),
        Err(error) => return Err(without(&format!("`{}`: {error}", python.display()))),
    }
    let options = [("--store", &args.store), ("--scheduler", &args.scheduler)];
    let options = options.into_iter().filter_map(|(name, value)| Some([name, value.as_deref()?])).flatten();
    let program = std::env::current_exe().map_err(Failure::failed)?;
    let mut command = Command::new(&python);
    command.args(["-P", "-m", "nicteam"]).arg(&args.file).args(options).env("NICTEAM", program);
    Err(Failure::failed(format!("`{}`: {}", python.display(), command.exec())))
}

fn without(problem: &str) -> Failure {
    Failure::missing(problem).hint(Some(
        "sweeps need the Python package: `make python` in a checkout, then NICTEAM_PYTHON=target/python/bin/python"
            .to_owned(),
    ))
}
