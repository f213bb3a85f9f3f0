//! What a run does to its network while it is measured. One file a kind, and one line in [`KINDS`].

mod cable;
mod filters;
mod impair;
mod kind;
mod migrate;
mod mtu;
mod nodes;
mod rate;
mod silence;
mod target;

use kind::Kind;
pub(crate) use kind::Place;
use nicteam_experiment::Event;
use nicteam_node::Error;

use crate::testbed::Deployment;

/// All kinds.
const KINDS: [Kind; 15] = [
    migrate::KIND,
    cable::KIND,
    silence::KIND,
    target::KIND,
    impair::KIND,
    rate::KIND,
    nodes::HANG,
    nodes::RESTART,
    nodes::LACP,
    mtu::KIND,
    filters::KIND,
    nodes::STOP,
    nodes::KILL,
    nodes::BUSY,
    nodes::REBOOT,
];

/// Carries an event out; where it happens.
///
/// # Errors
/// It cannot be done.
pub(crate) fn carry_out(event: &dyn Event, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let kind = KINDS.iter().find(|kind| kind.name == event.kind());
    let unknown = || Error::Agent { node: event.kind().to_owned(), message: "is no event that a lab knows".to_owned() };
    (kind.ok_or_else(unknown)?.carry_out)(&event.details(), deployment)
}
