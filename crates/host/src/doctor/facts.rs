//! What was seen of a host: values, which rules look at.

use std::collections::BTreeMap;
use std::time::Duration;

use nicteam_netlink::{IngressFilter, Link};
use nicteam_sys::ethtool::{Feature, Room};
use nicteam_team::mode::Traits;
use nicteam_team::{Config, Mode};
use nicteam_wire::{Lacpdu, Lldp};

use crate::managers::Claim;

/// A host.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Its kernel, and what we may there.
    pub kernel: Kernel,
    /// Hardware, and whatever else is in a bundle.
    pub devices: Vec<Device>,
    /// Bonds of the kernel's driver and teams of ours.
    pub bundles: Vec<Bundle>,
    /// Teams of which `up` or `down` did not come to its end, or whose devices somebody removed.
    pub half_way: Vec<String>,
    /// Settings by their path below `/proc/sys/net`: `ipv4/conf/all/rp_filter`.
    pub sysctls: BTreeMap<String, String>,
    /// IPv4 networks that more than one device has an address in, with the devices.
    pub shared_networks: Vec<(String, Vec<String>)>,
    /// How long the devices were listened to.
    pub listened: Duration,
    /// What could not be looked at, each as a sentence.
    pub unseen: Vec<String>,
}

/// A kernel.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Its release: `6.1.0-18-amd64`.
    pub release: String,
    /// Why eBPF programs cannot be loaded, if so.
    pub no_bpf: Option<String>,
    /// It tells its types (`/sys/kernel/btf/vmlinux`).
    pub has_btf: bool,
    /// Processors.
    pub processors: usize,
    /// The capabilities, of those that a team needs, that this process lacks.
    pub lacks: Vec<&'static str>,
}

/// A device.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// As the kernel has it.
    pub link: Link,
    /// Its driver.
    pub driver: String,
    /// True for a station of a wireless network.
    pub is_wireless: bool,
    /// Mbit/s, if known.
    pub speed_mbps: Option<u32>,
    /// True for full duplex, if known.
    pub full_duplex: Option<bool>,
    /// True if it agrees that with the other end, if known.
    pub negotiates: Option<bool>,
    /// Offloads and their kin by the kernel's names; empty if unknown.
    pub features: BTreeMap<String, Feature>,
    /// Places for received frames.
    pub rx_ring: Option<Room>,
    /// Queues for received frames.
    pub rx_queues: Option<Room>,
    /// Received frames that found no place since it is there.
    pub rx_missed: u64,
    /// The mode of a macvlan.
    pub macvlan_mode: Option<String>,
    /// Who manages it.
    pub claims: Vec<Claim>,
    /// The tc filters on what it receives.
    pub filters: Vec<IngressFilter>,
    /// What the port at its other end says.
    pub heard: Heard,
}

/// What a port says of itself.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// By LLDP.
    pub lldp: Option<Lldp>,
    /// By LACP.
    pub lacp: Option<Lacpdu>,
}

/// Who runs a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// The kernel's bonding driver.
    #[default]
    Kernel,
    /// A process of ours.
    Team,
    /// A team of ours whose process is gone, or belongs to somebody who controls it alone.
    TeamAlone,
}

/// Several links used as one.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// Its device.
    pub name: String,
    /// Who runs it.
    pub owner: Owner,
    /// Its mode by the kernel's name; empty if unknown.
    pub mode: String,
    /// Its options by the kernel's names.
    pub options: BTreeMap<String, String>,
    /// True for a team that runs on the eBPF dataplane.
    pub is_on_bpf: bool,
    /// Its members' devices.
    pub members: Vec<String>,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// True if it is a port of a bridge.
    pub is_bridged: bool,
    /// What its own process says is wrong, with what to do.
    pub problems: Vec<(String, String)>,
}

impl HostFacts {
    /// The device of this name.
    pub fn device(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.link.name == name)
    }

    /// The members of a bundle that are there.
    pub fn members<'a>(&'a self, bundle: &'a Bundle) -> impl Iterator<Item = &'a Device> {
        bundle.members.iter().filter_map(|name| self.device(name))
    }

    /// The bundle that a device is a member of.
    pub fn bundle_of(&self, device: &Device) -> Option<&Bundle> {
        self.bundles.iter().find(|bundle| bundle.members.contains(&device.link.name))
    }

    /// A setting, if the kernel has it.
    pub fn sysctl(&self, path: &str) -> Option<&str> {
        self.sysctls.get(path).map(String::as_str)
    }
}

impl Bundle {
    /// What is true of its mode, and its configuration; `None` for a mode that is not known.
    pub fn traits(&self) -> Option<(&'static Traits, Config)> {
        let mode: Mode = self.mode.parse().ok()?;
        let mut config = Config::default();
        // What a kernel's bond has and a team has not makes no difference here.
        let _ = config.set("mode", &self.mode);
        for (name, value) in self.options.iter().filter(|(name, _)| *name != "mode") {
            let _ = config.set(name, value);
        }
        Some((mode.traits(), config))
    }

    /// An option's value.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }
}

impl Kernel {
    /// True for this version and newer ones; for a release that cannot be read, too.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        let mut numbers = self.release.split(|of: char| !of.is_ascii_digit()).filter_map(|of| of.parse::<u32>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(own_major), Some(own_minor)) => (own_major, own_minor) >= (major, minor),
            _ => true,
        }
    }
}
