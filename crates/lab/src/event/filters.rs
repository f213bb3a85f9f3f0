//! `filters`: the filters of a member are removed.

use nicteam_node::Error;
use nicteam_node::protocol::Request;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::Deployment;

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "filters";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    team: String,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { node, device, team } = read(NAME, details)?;
    deployment.call(&node, &Request::RemoveFilters { device: device.clone() })?;
    Ok(Place { node, team: Some(team), member: Some(device) })
}
