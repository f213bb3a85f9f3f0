//! `lacp`: the LACPDUs that a switch sends are dropped.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::protocol::{Disturb, Disturbance};
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Lacp;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    switch: String,
    ports: Vec<String>,
    speaks: bool,
}

impl Kind for Lacp {
    fn name(&self) -> &'static str {
        "lacp"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { switch, ports, speaks } = read(self.name(), details)?;
        let disturb = |device: String| Disturb {
            node: switch.clone(),
            device,
            from: Some(switch.clone()),
            disturbance: Disturbance::LacpSilence(!speaks),
        };
        deployment.act(&Action::Disturb(ports.into_iter().map(disturb).collect()))?;
        Ok(Place { node: switch, team: None, member: None })
    }
}
