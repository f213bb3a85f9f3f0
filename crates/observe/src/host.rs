//! What was read of a host.

use std::collections::HashMap;

use nicteam_bundles::Bundle;
use nicteam_netlink::Link;
use serde::{Deserialize, Serialize};

/// The bundles of a host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Them, by name.
    pub bundles: Vec<Bundle>,
    /// What could not be read, each as a sentence.
    pub unseen: Vec<String>,
}

impl Host {
    /// The bundle of this name, or with this device.
    pub fn bundle(&self, name: &str) -> Option<&Bundle> {
        let called = |bundle: &&Bundle| bundle.name == name;
        let of_device = |bundle: &&Bundle| bundle.device.as_deref() == Some(name);
        self.bundles.iter().find(called).or_else(|| self.bundles.iter().find(of_device))
    }
}

/// Devices by name.
pub(crate) type Named<'a> = HashMap<&'a str, &'a Link>;

/// These devices by name.
pub(crate) fn named(links: &[Link]) -> Named<'_> {
    links.iter().map(|link| (link.name.as_str(), link)).collect()
}

/// An address as all of this crate writes it.
pub(crate) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
