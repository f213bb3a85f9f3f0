//! `silence`: a link drops every frame, or carries again.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::protocol::{Disturb, Disturbance};
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Silence;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    team: Option<String>,
    from: Option<String>,
    carries: bool,
}

impl Kind for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, team, from, carries } = read(self.name(), details)?;
        let disturbance = Disturbance::Silence(!carries);
        let disturb = Disturb { node: node.clone(), device: device.clone(), from, disturbance };
        deployment.act(&Action::Disturb(vec![disturb]))?;
        Ok(Place { node, team, member: Some(device) })
    }
}
