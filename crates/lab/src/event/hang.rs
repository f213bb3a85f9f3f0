//! `hang`: nothing passes the cables of a switch, whose ports stay up.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::protocol::{Disturb, Disturbance};
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Hang;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    switch: String,
    ports: Vec<String>,
    works: bool,
}

impl Kind for Hang {
    fn name(&self) -> &'static str {
        "hang"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { switch, ports, works } = read(self.name(), details)?;
        let disturb = |device: String| Disturb {
            node: switch.clone(),
            device,
            from: None,
            disturbance: Disturbance::Silence(!works),
        };
        deployment.act(&Action::Disturb(ports.into_iter().map(disturb).collect()))?;
        Ok(Place { node: switch, team: None, member: None })
    }
}
