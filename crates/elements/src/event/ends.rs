//! The direction of a cable that an event concerns.

use super::kind::Told;
use crate::keys::{Key, Kind, Need, Thing};
use crate::record::{At, Record};
use crate::resolved::End;
use nicteam_diagnostics::Problem;

/// The key that names the direction.
pub(super) const FROM: Key = Key {
    name: "from",
    kind: Kind::One(Thing::Host),
    need: Need::Otherwise("both directions"),
    doc: "One direction only: the fault concerns the frames that this node, at one end of the cable, sends.",
};

/// The key that names one end.
pub(super) const END: Key = Key {
    name: "end",
    kind: Kind::One(Thing::Host),
    need: Need::Otherwise("the switch's end; between two hosts or two switches the second end of `link`"),
    doc: "The end of the cable at which it happens. `cable`: the device there goes down, and the other end loses its \
        carrier.",
};

/// The end of a cable that an event names, or would if it named one; what is wrong goes to the problems.
pub(super) fn chosen_end<'t>(record: &Record, ends: [&'t End; 2], told: &mut Told<'_, '_>) -> Option<&'t End> {
    let Some(name) = record.get::<&[At<String>]>("end").and_then(|at| at.value.first().cloned()) else {
        let is_switch = |node: &str| told.topology.switches.iter().any(|switch| switch.name == node);
        return Some(if is_switch(&ends[0].node) && !is_switch(&ends[1].node) { ends[0] } else { ends[1] });
    };
    let found = ends.into_iter().find(|end| end.node == name.value);
    if found.is_none() {
        told.problems.push(no_end_at(&name, ends));
    }
    found
}

/// The node whose frames alone an event concerns, if it names one.
///
/// # Errors
/// The cable has no end there.
pub(super) fn sender(record: &Record, ends: [&End; 2]) -> Result<Option<String>, Problem> {
    let Some(name) = record.get::<&[At<String>]>("from").and_then(|at| at.value.first().cloned()) else {
        return Ok(None);
    };
    if ends.iter().all(|end| end.node != name.value) {
        return Err(no_end_at(&name, ends));
    }
    Ok(Some(name.value))
}

/// A node that a cable has no end at.
fn no_end_at(name: &At<String>, ends: [&End; 2]) -> Problem {
    let problem = Problem::at(&name.span, format!("the cable has no end at `{}`", name.value));
    problem.hint(format!("its ends are at `{}` and `{}`", ends[0].node, ends[1].node))
}

/// One direction in words, if it is one: ` from a`.
pub(super) fn direction(from: Option<&String>) -> String {
    from.map_or_else(String::new, |node| format!(" from {node}"))
}
