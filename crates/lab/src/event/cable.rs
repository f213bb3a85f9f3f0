//! `cable`: a node's end of a cable is pulled, or plugged in again.

use nicteam_experiment::Shown;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Cable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    plugged: bool,
    shown: Shown,
}

impl Kind for Cable {
    fn name(&self) -> &'static str {
        "cable"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, plugged, shown } = read(self.name(), details)?;
        deployment.act(&Action::Cable { node, device, plugged })?;
        Ok(shown.into())
    }
}
