//! `nicteam check`.

use std::path::Path;

use nicteam_host::check::{self, Plan};
use nicteam_host::{Refusal, up};

use super::file;
use crate::failure::Failure;
use crate::say;

/// Say what `nicteam up FILE` would do, and what is in its way; change nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    given: file::Given,
    /// A JSON array, an object a team; described in docs/up.md.
    #[arg(long)]
    json: bool,
}

/// Checks the teams of a file; a refusal is a failure.
pub(super) fn run(args: &Check) -> Result<(), Failure> {
    let (import, names) = args.given.read()?;
    let active = up::refuse_active(&import);
    let mut plans = Vec::new();
    let mut coming = Vec::new();
    for team in file::teams(&import, names)? {
        let mut plan = check::check(&team, &coming, Path::new("/"))?;
        coming.push(team.name);
        plan.refusals.splice(0..0, active.iter().cloned());
        plans.push(plan);
    }
    match args.json {
        true => say::data(serde_json::to_string_pretty(&plans).map_err(Failure::failed)? + "\n")?,
        false => plans.iter().try_for_each(|plan| say::data(say::visible(text(plan))))?,
    }
    match plans.iter().filter(|plan| !plan.refusals.is_empty()).count() {
        0 => Ok(()),
        1 => Err(Failure::failed("a team cannot come up")),
        count => Err(Failure::failed(format!("{count} teams cannot come up"))),
    }
}

fn text(plan: &Plan) -> String {
    let head = match (plan.is_up, plan.refusals.is_empty()) {
        (true, _) => format!("{}: is up; its options and addresses would become the file's\n", plan.team),
        (false, true) => format!("{}: would come up in {} steps\n", plan.team, plan.steps.len()),
        (false, false) => format!("{}: cannot come up\n", plan.team),
    };
    let refusal = |refusal: &Refusal| format!("  in the way: {}\n    hint: {}\n", refusal.what, refusal.hint);
    let refusals = plan.refusals.iter().map(refusal);
    let notes = plan.notes.iter().map(|note| format!("  note: {}\n", note.replace("; hint: ", "\n    hint: ")));
    // Those of a team that cannot come up are in the object alone: they would be read as what happens.
    let shown = if plan.refusals.is_empty() { plan.steps.as_slice() } else { &[] };
    let steps = shown.iter().enumerate().map(|(number, step)| format!("  {:2}  {step}\n", number + 1));
    [head].into_iter().chain(refusals).chain(steps).chain(notes).collect()
}
