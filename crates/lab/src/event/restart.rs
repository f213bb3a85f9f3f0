//! `restart`: the ports of a switch go down, and up again. Its bridge forgets the addresses of a port that goes down.

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Restart;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    switch: String,
    ports: Vec<String>,
    is_up: bool,
}

impl Kind for Restart {
    fn name(&self) -> &'static str {
        "restart"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { switch, ports, is_up } = read(self.name(), details)?;
        for device in ports {
            deployment.act(&Action::Cable { node: switch.clone(), device, plugged: is_up })?;
        }
        Ok(Place { node: switch, team: None, member: None })
    }
}
