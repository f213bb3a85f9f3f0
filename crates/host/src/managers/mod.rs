//! Who manages a device on this host beside us: each manager of networks that would build, address or rename it.
//!
//! A manager is a file and a line in [`MANAGERS`]. What they say is read from files and from `/proc`, so it can be asked of any
//! folder; nobody is asked over D-Bus, and nothing is changed. The one thing that is changed elsewhere is NetworkManager's
//! configuration for as long as a device is ours ([`network_manager::set_unmanaged`]).

mod device;
mod holders;
mod host;
mod ifcfg;
mod ifupdown;
mod kernel;
mod lines;
mod netplan;
pub mod network_manager;
mod networkd;

use std::path::Path;

use nicteam_formats::Place;
use nicteam_sys::netlink::Link;
use serde::{Deserialize, Serialize};

pub use device::Device;
pub use host::{Host, Process};

/// Somebody who manages a device, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who: `systemd-networkd`.
    pub manager: &'static str,
    /// The line that makes it so, where one does.
    pub place: Option<Place>,
    /// What it does with the device, as a sentence without its full stop.
    pub why: String,
    /// What ends it: lines that can be pasted into a shell, or what to change in the place.
    pub cure: String,
    /// How much it matters.
    pub severity: Severity,
}

/// How much a claim matters to a device that is to be a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does now, or at the next start of its program, what a member does not need: worth a word.
    Warn,
    /// Two owners would build the same device.
    Refuse,
}

/// Somebody who may manage devices.
pub(crate) trait Manager: Sync {
    /// Its claims on a device.
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim>;
}

/// Every manager, in the order in which their claims are told: what holds a device now comes first.
static MANAGERS: &[&dyn Manager] = &[
    &kernel::Kernel,
    &network_manager::NetworkManager,
    &networkd::Networkd,
    &netplan::Netplan,
    &ifupdown::Ifupdown,
    &ifcfg::Ifcfg,
    &holders::Holders,
];

/// Who manages a device of this host, by its name; nobody manages one that is not there, but for files that name it.
/// `root` is `/`, or a folder that stands for it.
pub fn claims(root: &Path, links: &[Link], member: &str) -> Vec<Claim> {
    Host::look(root, links).claims(member)
}

impl Host {
    /// A device as managers see it, by its name.
    pub fn device(&self, name: &str) -> Device {
        Device::find(self, name)
    }

    /// Who manages a device, by its name.
    pub fn claims(&self, member: &str) -> Vec<Claim> {
        let device = Device::find(self, member);
        MANAGERS.iter().flat_map(|manager| manager.claims(self, &device)).collect()
    }
}
