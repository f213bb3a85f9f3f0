//! `filters`: the filters of a member are removed.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Filters;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    team: String,
}

impl Kind for Filters {
    fn name(&self) -> &'static str {
        "filters"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, team } = read(self.name(), details)?;
        deployment.act(&Action::RemoveFilters { node: node.clone(), device: device.clone() })?;
        Ok(Place { node, team: Some(team), member: Some(device) })
    }
}
