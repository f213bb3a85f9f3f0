//! `mtu`: one end of a cable gets another MTU.

use nicteam_experiment::Shown;
use nicteam_node::Error;
use nicteam_node::protocol::Request;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::Deployment;

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "mtu";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    mtu: u32,
    shown: Shown,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { node, device, mtu, shown } = read(NAME, details)?;
    deployment.call(&node, &Request::SetMtu { device, mtu })?;
    Ok(shown.into())
}
