//! Who manages a device on this host beside us: each manager of networks that would build, address or rename it.
//!
//! A manager is a file and a line in [`MANAGERS`]. What they say is read from files and from `/proc`, so it can be asked of any
//! folder; nobody is asked over D-Bus, and nothing is changed. The one thing that is changed elsewhere is NetworkManager's
//! configuration for as long as a device is ours ([`network_manager::set_unmanaged`]).

mod claim;
mod device;
mod holders;
mod host;
mod ifcfg;
mod ifupdown;
mod kernel;
mod netplan;
pub mod network_manager;
mod networkd;

use std::path::Path;

use nicteam_netlink::Link;

pub(crate) use claim::Manager;
pub use claim::{Claim, Severity};
pub use device::Device;
pub use host::{Host, Process};

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
