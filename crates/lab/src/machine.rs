//! Whether the machine has the engines of an experiment, and what serves its targets; asked before anything is built.

use std::collections::BTreeMap;
use std::fmt;

use nicteam_experiment::{Experiment, Run};
use nicteam_node::Error;
use nicteam_record::{Skipped, Variant};

use crate::engine::{self, Absent};
use crate::target;

/// Something that the machine may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    /// Who runs a team.
    Engine(&'a str),
    /// Who serves targets of this kind.
    Target(&'a str),
}

impl Part<'_> {
    fn is_there(self) -> Result<(), Absent> {
        match self {
            Part::Engine(name) => engine::find(name).map_or(Ok(()), |engine| engine.is_there()),
            Part::Target(name) => target::find(name).map_or(Ok(()), |kind| kind.is_there()),
        }
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Engine(name) => write!(f, "a team with engine `{name}`"),
            Part::Target(name) => write!(f, "a target of kind `{name}`"),
        }
    }
}

/// Runs that this machine cannot carry out, and why: nothing can be done here about the engine of one of their teams, or
/// about what serves one of their targets.
///
/// # Errors
/// Something is missing that can be had, or no run is left.
pub fn check_machine(experiment: &Experiment) -> Result<Vec<Skipped>, Error> {
    skipped(experiment, |part| part.is_there())
}

/// The same, asking this of each part once.
fn skipped(experiment: &Experiment, is_there: impl Fn(Part<'_>) -> Result<(), Absent>) -> Result<Vec<Skipped>, Error> {
    let mut asked: BTreeMap<Part<'_>, Result<(), Absent>> = BTreeMap::new();
    let mut skipped = Vec::new();
    for run in &experiment.runs {
        let engines = run.topology.teams.iter().map(|team| Part::Engine(&team.engine));
        for part in engines.chain(run.topology.targets.iter().map(|target| Part::Target(target.kind))) {
            let Err(absent) = asked.entry(part).or_insert_with(|| is_there(part)) else { continue };
            if let Some(hint) = &absent.hint {
                let message = format!("run `{}` has {part}: {}", run.name, absent.reason);
                return Err(Error::Missing(format!("{message}; hint: {hint}")));
            }
            skipped.push(Skipped { run: run.name.clone(), variant: variant(run), reason: absent.reason.clone() });
            break;
        }
    }
    match skipped.first() {
        Some(first) if skipped.len() == experiment.runs.len() => {
            Err(Error::Missing(format!("no run can be carried out here; `{}`: {}", first.run, first.reason)))
        }
        _ => Ok(skipped),
    }
}

/// What the record says of a run that differs from others by its engine alone.
pub(crate) fn variant(run: &Run) -> Option<Variant> {
    let variant = run.variant.as_ref()?;
    Some(Variant { of: variant.of.clone(), engine: variant.engine.clone() })
}

#[cfg(test)]
mod tests {
    use nicteam_experiment::{Overrides, parse};

    use super::*;

    const FILE: &str = "title = 't'\nlinks = [{ between = ['a', 'b'], count = 2 }]\nteams.t.mode = 'active-backup'\n\
        hosts.a.team = 't'\nhosts.b.team = 't'\nworkloads.w = { kind = 'tcp', from = 'a', to = 'b' }\n\
        [[runs]]\nname = 'r'\nworkloads = 'w'\n";

    fn asked(engines: &[&str], missing: &str, hint: Option<&str>) -> Result<Vec<Skipped>, String> {
        let engines = engines.iter().map(|engine| (*engine).to_owned()).collect();
        let experiment = parse("t", "t.toml", FILE, &Overrides { engines, ..Overrides::default() }).unwrap();
        let absent = Absent { reason: "there is none".to_owned(), hint: hint.map(str::to_owned) };
        let is_there = |part: Part<'_>| if part == Part::Engine(missing) { Err(absent.clone()) } else { Ok(()) };
        skipped(&experiment, is_there).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_had_is_skipped_and_what_can_is_an_error() {
        assert_eq!(asked(&["nicteam", "kernel"], "ovs", Some("install it")), Ok(Vec::new()));
        let skipped = asked(&["nicteam", "kernel"], "kernel", None).unwrap();
        let [Skipped { run, reason, variant: Some(variant) }] = &skipped[..] else { panic!("{skipped:?}") };
        assert_eq!((run.as_str(), reason.as_str(), variant.of.as_str()), ("r.kernel", "there is none", "r"));
        let error = asked(&["nicteam", "ovs"], "ovs", Some("install it")).unwrap_err();
        assert!(error.contains("run `r.ovs`") && error.ends_with("there is none; hint: install it"), "{error}");
    }

    #[test]
    fn nothing_left_to_run_is_an_error() {
        let error = asked(&["kernel"], "kernel", None).unwrap_err();
        assert_eq!(error, "no run can be carried out here; `r`: there is none");
    }
}
