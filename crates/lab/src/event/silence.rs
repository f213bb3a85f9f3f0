//! `silence`: a link drops every frame, or carries again.

use nicteam_experiment::Shown;
use nicteam_node::Error;
use nicteam_node::protocol::{Disturb, Disturbance};
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::{Action, Deployment};

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "silence";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    shown: Shown,
    from: Option<String>,
    carries: bool,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { shown, from, carries } = read(NAME, details)?;
    let disturbance = Disturbance::Silence(!carries);
    let Shown { node, member: device, .. } = shown.clone();
    let disturb = Disturb { node, device, from, disturbance };
    deployment.act(&Action::Disturb(vec![disturb]))?;
    Ok(shown.into())
}
