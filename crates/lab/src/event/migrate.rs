//! `migrate`: a guest's veth goes to another host's bridge, and the guest announces itself there.

use serde::Deserialize;
use serde_json::Value;

use super::kind::Kind;
use crate::error::Error;
use crate::protocol::Request;
use crate::testbed::{Action, Deployment};

/// The kind.
#[derive(Debug)]
pub(super) struct Migrate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    guest: String,
    from: String,
    to: String,
    arp: bool,
    rarp: bool,
}

impl Kind for Migrate {
    fn name(&self) -> &'static str {
        "migrate"
    }

    fn carry_out(&self, details: &Value, deployment: &mut dyn Deployment) -> Result<String, Error> {
        let Details { guest, from, to, arp, rarp } = Details::deserialize(details)
            .map_err(|error| Error::Agent { node: "migrate".to_owned(), message: error.to_string() })?;
        deployment.act(&Action::MoveGuest { guest: guest.clone(), from, to })?;
        deployment.call(&guest, &Request::Announce { device: "eth0".to_owned(), arp, rarp })?;
        Ok(guest)
    }
}
