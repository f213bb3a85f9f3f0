//! Programs that are not ours.

use std::path::Path;

use nicteam_experiment::{self as experiment, Experiment};
use nicteam_node::Error;
use nicteam_record::{Event, EventKind, Program};

use crate::installed::is_program;

/// Refuses an experiment whose programs this machine does not have, before anything is built.
///
/// # Errors
/// [`Error::Experiment`]: each at its place in the file, with the package that has it where that is known.
pub fn check_programs(experiment: &Experiment) -> Result<(), Error> {
    experiment::check_programs(experiment, is_installed).map_err(Error::Experiment)
}

/// Whether there is a program of this name in the folders of `PATH`, or at this path.
fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
}

/// What there is to tell of a program that failed; it began so many milliseconds after the window did.
pub(crate) fn trouble(program: &Program, began_ms: f64) -> Event {
    let code = program.exit_code.map_or_else(String::new, |code| format!(" with exit status {code}"));
    let said = program.last_lines.last().map_or_else(String::new, |line| format!(": {line}"));
    Event {
        t_ms: began_ms + program.took_ms as f64,
        node: program.host.clone(),
        kind: EventKind::Trouble,
        team: None,
        member: None,
        text: format!("`{}` ended{code} after {} ms{said}", program.command.join(" "), program.took_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_its_name_or_its_path() {
        assert!(is_installed("sh") && is_installed("/bin/sh"));
        assert!(!is_installed("no-such-program") && !is_installed("/etc/passwd") && !is_installed("/bin"));
    }
}
