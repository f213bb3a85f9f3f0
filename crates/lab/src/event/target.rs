//! `target`: what serves a target is killed, or started again.

use nicteam_node::Error;
use nicteam_node::protocol::TargetAct;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::target;
use crate::testbed::Deployment;

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "target";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    target: String,
    host: String,
    restarted: bool,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { target, host, restarted } = read(NAME, details)?;
    let act = if restarted { TargetAct::Restart } else { TargetAct::Kill };
    target::act(deployment, &host, &target, act)?;
    Ok(Place::of_node(host))
}
