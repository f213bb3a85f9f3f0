//! `rate`: a cable gets another rate.

use nicteam_experiment::Shown;
use nicteam_node::Error;
use nicteam_node::protocol::Request;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::Deployment;

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "rate";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    senders: Vec<(String, String)>,
    rate_bps: u64,
    shown: Shown,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { senders, rate_bps, shown } = read(NAME, details)?;
    for (node, device) in senders {
        deployment.call(&node, &Request::ChangeRate { device, rate_bps })?;
    }
    Ok(shown.into())
}
