//! `silence`: a link drops every frame, or carries again.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
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
    carries: bool,
}

impl Kind for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, team, carries } = read(self.name(), details)?;
        deployment.act(&Action::Silence { node: node.clone(), device: device.clone(), carries })?;
        Ok(Place { node, team, member: Some(device) })
    }
}
