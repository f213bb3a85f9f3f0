//! `mtu`: one end of a cable gets another MTU.

use nicteam_experiment::Shown;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Mtu;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    node: String,
    device: String,
    mtu: u32,
    shown: Shown,
}

impl Kind for Mtu {
    fn name(&self) -> &'static str {
        "mtu"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { node, device, mtu, shown } = read(self.name(), details)?;
        deployment.act(&Action::Mtu { node, device, mtu })?;
        Ok(shown.into())
    }
}
