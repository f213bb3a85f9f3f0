//! `nicteam export`: teams in other people's words.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nicteam_formats::{Network, Source, WRITERS, Writer, Written};
use nicteam_host::{bonds, service};

use crate::failure::Failure;
use crate::say;
use crate::value::OneOf;

/// Write teams as another program's configuration, or as the switch's end.
///
/// FILE is of any format that `nicteam import` reads; without one, the files of /etc/nicteam. Each written file is printed
/// below its path; with --dir it is written there instead.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Export {
    /// The format to write.
    #[arg(long, value_name = "FORMAT", value_parser = FORMAT, hide_possible_values = true)]
    to: &'static dyn Writer,
    /// Files or folders with teams; `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// What runs in this network namespace, or the team or bond of this name.
    #[arg(long, value_name = "NAME", num_args = 0..=1, conflicts_with = "files")]
    running: Option<Option<String>>,
    /// Write the files below this folder, which takes the place of `/`.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write over files that are there.
    #[arg(long, requires = "dir")]
    force: bool,
}

fn after_help() -> String {
    let line = |writer: &&dyn Writer| format!("  {:<12} {}\n", writer.name(), writer.title());
    let lines: String = WRITERS.iter().map(line).collect();
    format!(
        "Formats:\n{lines}\n  nicteam export --to netplan /etc/nicteam/team0.toml\n  nicteam export --to cisco --running team0"
    )
}

/// A format on the command line.
const FORMAT: OneOf<&'static dyn Writer> =
    OneOf { parse: named, names: || WRITERS.iter().map(|writer| writer.name()).collect() };

fn named(name: &str) -> Result<&'static dyn Writer, String> {
    let known = WRITERS.iter().find(|writer| writer.name() == name);
    known.copied().ok_or_else(|| {
        let names = || WRITERS.iter().map(|writer| writer.name());
        match nicteam_team::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("formats are {}", names().collect::<Vec<_>>().join(", ")),
        }
    })
}

/// Prints the files, or writes them; what the format has nothing for goes to standard error.
pub(crate) fn run(args: &Export) -> Result<ExitCode, Failure> {
    let network = network(args)?;
    if network.teams.is_empty() {
        return Err(
            Failure::wrong_input("there are no teams to write").hint(Some("name a file with teams, or use --running"))
        );
    }
    let Written { files, left } = args.to.write(&network);
    for sentence in &left {
        say::line(say::visible(sentence));
    }
    if files.is_empty() {
        return Err(Failure::wrong_input(format!("nothing of it can be written as {}", args.to.name())));
    }
    match &args.dir {
        Some(dir) => write(dir, &files, args.force)?,
        None => {
            files.iter().try_for_each(|file| say::data(format_args!("# {}\n{}\n", file.path, file.text.trim_end())))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn network(args: &Export) -> Result<Network, Failure> {
    if let Some(name) = &args.running {
        return Ok(bonds::running(name.as_deref()).map_err(Failure::failed)?.network);
    }
    let files = match args.files.as_slice() {
        [] if !Path::new(service::FOLDER).is_dir() => {
            return Err(Failure::wrong_input(format!("no file is named, and there is no {}", service::FOLDER))
                .hint(Some("name a file with teams, or use --running")));
        }
        [] => vec![service::FOLDER.to_owned()],
        files => files.to_vec(),
    };
    let import = super::import::read(&files, None)?;
    for left in &import.left {
        say::line(format_args!("not taken over: {}: `{}`", say::visible(&left.place), say::visible(&left.text)));
    }
    Ok(import.network)
}

/// Writes files below a folder; none, if one of them is there.
fn write(dir: &Path, files: &[Source], force: bool) -> Result<(), Failure> {
    let target = |file: &Source| dir.join(file.path.trim_start_matches('/'));
    if let Some(there) = files.iter().map(target).find(|path| !force && path.symlink_metadata().is_ok()) {
        return Err(Failure::wrong_input(format!("{} is there already, and nothing was written", there.display()))
            .hint(Some("--force writes over it")));
    }
    for file in files {
        let path = target(file);
        let failed = |error: std::io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        write_one(&path, &file.text, force).map_err(failed)?;
        say::line(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// A file that others cannot read: netplan warns of others.
fn write_one(path: &Path, text: &str, force: bool) -> std::io::Result<()> {
    let mode = if text.starts_with("#!") { 0o755 } else { 0o600 };
    if force
        && let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error);
    }
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(text.as_bytes())
}
