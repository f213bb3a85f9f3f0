//! `impair`: a link does something else to frames than before.

use nicteam_impair::Impairments;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::protocol::{Disturb, Disturbance};
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Impair;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    team: Option<String>,
    from: Option<String>,
    impairments: Option<Impairments>,
}

impl Kind for Impair {
    fn name(&self) -> &'static str {
        "impair"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, team, from, impairments } = read(self.name(), details)?;
        let disturbance = Disturbance::Impair(impairments);
        let disturb = Disturb { node: node.clone(), device: device.clone(), from, disturbance };
        deployment.act(&Action::Disturb(vec![disturb]))?;
        Ok(Place { node, team, member: Some(device) })
    }
}
