//! `rate`: a cable gets another rate.

use nicteam_experiment::Shown;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::error::Error;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Rate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    senders: Vec<(String, String)>,
    rate_bps: u64,
    shown: Shown,
}

impl Kind for Rate {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
        let Details { senders, rate_bps, shown } = read(self.name(), details)?;
        for (node, device) in senders {
            deployment.act(&Action::Rate { node, device, rate_bps })?;
        }
        Ok(shown.into())
    }
}
