//! `cable`: a node's end of a cable is pulled, or plugged in again.

use nicteam_experiment::Shown;
use nicteam_node::Error;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::{Action, Deployment};

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "cable";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    plugged: bool,
    shown: Shown,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { node, device, plugged, shown } = read(NAME, details)?;
    deployment.act(&Action::Cable { node, device, plugged })?;
    Ok(shown.into())
}
