//! Bringing a team up.

use std::path::PathBuf;

use nicteam_daemon::Kept;
use nicteam_formats::Team;

use crate::Error;
use crate::check;

/// How a team is brought up.
#[derive(Debug)]
pub struct Options<'a> {
    /// Where other managers' files are looked for: `/`.
    pub root: PathBuf,
    /// What a user said that shall be done in spite of a refusal by [`crate::managers`].
    pub despite_managers: bool,
    /// Hears of each step before it is taken: its number, counted from 0, and what it is.
    pub watch: Watch<'a>,
}

/// Hears of steps.
pub type Watch<'a> = Option<Listener<'a>>;

/// Whom steps are told.
pub struct Listener<'a>(pub &'a mut dyn FnMut(usize, &str));

impl std::fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { root: PathBuf::from("/"), despite_managers: false, watch: None }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Each change, as a sentence; none if there was nothing to do.
    pub changes: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Starts the team: as a process of its own, or in this one.
pub type Start<'a> = &'a mut dyn FnMut(&Kept) -> Result<(), String>;

/// Brings a team up: see the head of this file. Called again, it does what is left to do, which may be nothing.
///
/// # Errors
/// Something is in the way, or a step failed; then what was done is undone, and what could not be undone is
/// [`crate::down::take_down`]'s to try again.
pub fn bring_up(team: &Team, start: Start<'_>, options: Options<'_>) -> Result<Done, Error> {
    let plan = check::check(team, &options.root)?;
    if !plan.refusals.is_empty() {
        return Err(Error::Refused { refusals: plan.refusals });
    }
    let kept = check::kept(team)?;
    start(&kept).map_err(|why| Error::NotStarted { team: team.name.clone(), why })?;
    Ok(Done { changes: vec![format!("started team {}", team.name)], notes: plan.notes })
}
