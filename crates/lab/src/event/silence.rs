//! `silence`: a link drops every frame, or carries again.

use nicteam_experiment::Shown;
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
    shown: Shown,
    from: Option<String>,
    carries: bool,
}

impl Kind for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { shown, from, carries } = read(self.name(), details)?;
        let disturbance = Disturbance::Silence(!carries);
        let Shown { node, member: device, .. } = shown.clone();
        let disturb = Disturb { node, device, from, disturbance };
        deployment.act(&Action::Disturb(vec![disturb]))?;
        Ok(shown.into())
    }
}
