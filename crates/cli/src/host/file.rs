//! Teams of files, whatever their format.

use std::path::Path;

use nicteam_formats::{Format, Import, Team, toml};
use nicteam_host::configuration::MAKES_ONE;
use nicteam_host::{check, service};

use super::refusals::refused;
use crate::failure::Failure;
use crate::{convert, say};

/// What a command line names: files, and teams of them.
#[derive(Debug, clap::Args)]
pub(super) struct Given {
    /// Files or folders of one format that `nicteam import` reads (`-`: standard input), the files of /etc/nicteam by default;
    /// then names of teams, all by default.
    #[arg(value_name = "FILE|NAME")]
    words: Vec<String>,
    /// The files' format; found out by default.
    #[arg(long, value_name = "FORMAT", value_parser = convert::FORMAT, hide_possible_values = true)]
    from: Option<&'static dyn Format>,
}

impl Given {
    /// Reads the files, in any format that is known.
    pub(super) fn read(&self) -> Result<(Import, &[String]), Failure> {
        read(&self.words, self.from)
    }
}

/// The same of words; the names are behind the files.
pub(super) fn read<'a>(
    words: &'a [String],
    from: Option<&'static dyn Format>,
) -> Result<(Import, &'a [String]), Failure> {
    let count = words.iter().enumerate().take_while(|(at, word)| is_file(word, *at == 0)).count();
    let (files, names) = words.split_at(count);
    let import = match files {
        [] => convert::read(&own(names)?, from)?,
        files => convert::read(files, from.or_else(|| ours(files)))?,
    };
    if import.network.teams.is_empty() {
        let files = if files.is_empty() { service::FOLDER.to_owned() } else { files.join(", ") };
        return Err(Failure::wrong_input(format!("no team in {files}")).hint(Some("docs/up.md shows a file with one")));
    }
    for left in &import.left {
        say::line(format_args!("note: {}: `{}` is not taken over: {}", left.place, say::visible(&left.text), left.why));
    }
    Ok((import, names))
}

/// No name of a team has a `/`. A folder is named first, or with a `/`: it may have the name of a team.
fn is_file(word: &str, is_first: bool) -> bool {
    word == "-" || word.contains('/') || Path::new(word).is_file() || is_first && Path::new(word).is_dir()
}

/// The files of the teams that boot.
fn own(names: &[String]) -> Result<Vec<String>, Failure> {
    let files = service::files(Path::new(service::FOLDER)).map_err(Failure::wrong_input)?;
    if !files.is_empty() {
        return Ok(files.iter().map(|path| path.display().to_string()).collect());
    }
    let what = match names.first() {
        Some(first) => format!("there is no file {first}, and {} has no team", service::FOLDER),
        None => format!("no file is named, and {} has none", service::FOLDER),
    };
    Err(Failure::wrong_input(what).hint(Some(MAKES_ONE)))
}

/// The teams of these names, or all, each behind those that it stands on; they go together.
pub(super) fn teams(import: &Import, names: &[String]) -> Result<Vec<Team>, Failure> {
    let all = &import.network.teams;
    for name in names {
        if !all.iter().any(|team| team.name == *name) {
            let known: Vec<&str> = all.iter().map(|team| team.name.as_str()).collect();
            let failure = Failure::wrong_input(format!(
                "there is no file {name}, and no team of this name in those that were read"
            ));
            return Err(failure.hint(Some(format!("they have {}", known.join(", ")))));
        }
    }
    let wanted = import.network.lowest_first().into_iter();
    let teams: Vec<Team> = wanted.filter(|team| names.is_empty() || names.contains(&team.name)).cloned().collect();
    match check::between(&teams) {
        refusals if refusals.is_empty() => Ok(teams),
        refusals => Err(Failure::wrong_input(refused(&refusals))),
    }
}

/// Our own format, where a folder alone is named that has a file of it.
fn ours(files: &[String]) -> Option<&'static dyn Format> {
    let [path] = files else { return None };
    let has_ours = service::files(Path::new(path)).is_ok_and(|files| !files.is_empty());
    has_ours.then_some(&toml::Toml as _)
}
