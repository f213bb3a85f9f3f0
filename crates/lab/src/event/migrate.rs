//! `migrate`: a guest's veth goes to another host's bridge, and the guest announces itself there.

use nicteam_node::Error;
use nicteam_node::protocol::Request;
use serde::Deserialize;
use serde_json::Value;

use super::kind::{Kind, Place, read};
use crate::testbed::{Action, Deployment};

/// The kind.
pub(super) const KIND: Kind = Kind { name: NAME, carry_out };
const NAME: &str = "migrate";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Details {
    guest: String,
    from: String,
    to: String,
    arp: bool,
    rarp: bool,
}

fn carry_out(details: &Value, deployment: &mut dyn Deployment) -> Result<Place, Error> {
    let Details { guest, from, to, arp, rarp } = read(NAME, details)?;
    deployment.act(&Action::MoveGuest { guest: guest.clone(), from, to })?;
    deployment.call(&guest, &Request::Announce { device: "eth0".to_owned(), arp, rarp })?;
    Ok(Place::of_node(guest))
}
