//! A fault by hand, in a topology that is held: by the kinds and keys that events of a file have.

use std::sync::Arc;
use std::time::Duration;

use nicteam_diagnostics::{Diagnostics, Problem, toml_syntax};
use nicteam_elements::event::{self, EVENT, Told};
use nicteam_elements::keys::Kind;
use nicteam_elements::read::read;
use nicteam_elements::resolved::Run;
use nicteam_elements::timed::Event;
use toml::de::DeTable;

/// A fault by hand.
#[derive(Clone, Debug)]
pub struct ByHand {
    /// What happens now.
    pub event: Arc<dyn Event>,
    /// What puts it right again; none: nothing lasts.
    pub undone: Option<Arc<dyn Event>>,
    /// After how long that happens by itself; none: it is left to the user.
    pub lasts: Option<Duration>,
}

/// The text of a fault that a command line names: its kind, and `KEY=VALUE` each. Nodes at the ends of a link have a comma
/// between them.
pub fn fault_text(kind: &str, values: &[String]) -> String {
    let mut text = format!("kind = {kind:?}\n");
    for value in values {
        let (key, value) = value.split_once('=').unwrap_or((value, ""));
        let is_number = value.parse::<u64>().is_ok();
        let value = match EVENT.key(key).map(|key| &key.kind) {
            Some(Kind::Ends) => format!("{:?}", value.split(',').map(str::trim).collect::<Vec<_>>()),
            Some(Kind::Integer(_)) if is_number => value.to_owned(),
            _ => format!("{value:?}"),
        };
        text += &format!("{key} = {value}\n");
    }
    text
}

/// Reads a fault that is to happen in the topology of a run.
///
/// # Errors
/// Everything that is wrong with it, at its place in the text.
pub fn fault(run: &Run, text: &str) -> Result<ByHand, Diagnostics> {
    let text = format!("{text}at = \"0s\"\n");
    let (table, errors) = DeTable::parse_recoverable(&text);
    let mut problems = Vec::new();
    let record = read(table.get_ref(), 0..0, &EVENT, &mut problems);
    if !errors.is_empty() {
        return Err(Diagnostics::new("the fault", &text, toml_syntax::problems(&errors, &text).0));
    }
    if let Some(every) = record.get::<Duration>("every") {
        let problem = Problem::at(&every.span, "a fault by hand happens once");
        problems.push(problem.hint("remove `every`, or put the fault into the file"));
    }
    let mut happens = None;
    if problems.is_empty() {
        let (topology, impairments, duration) = (&run.topology, &run.impairments, Duration::MAX);
        let told = &mut Told { topology, impairments, duration, problems: &mut problems };
        happens = event::happens(&record, told);
        let relayed = event::relayed(std::slice::from_ref(&record));
        let mut cables = relayed.iter().flat_map(|it| it.places(&topology.cables));
        let is_direct = cables.any(|place| topology.cables[place].impaired.is_none());
        let without_process = happens.as_ref().is_some_and(|it: &event::Happens| {
            let own = topology.teams.iter().find(|team| team.node == it.event.node());
            it.event.needs_process() && own.is_none_or(|team| !team.own_process)
        });
        if is_direct || without_process {
            let problem = Problem::outside("the topology was not built for faults of this kind");
            problems.push(problem.hint("build it with `nicteam lab up --faults`"));
        }
    }
    let lasts = record.get::<Duration>("for").map(|at| at.value);
    match happens.filter(|_| problems.is_empty()) {
        Some(event::Happens { event, undone }) => Ok(ByHand { event, undone, lasts }),
        None => Err(Diagnostics::new("the fault", &text, problems)),
    }
}

/// The kinds of faults, each with the keys that it takes.
pub fn fault_kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    event::kinds()
}
