//! The steps by which a team comes up and goes down, as values.

use std::net::IpAddr;

use nicteam_netlink::object::{Address, Neighbour, Route, Rule};

use crate::found::Above;
use crate::survey::Sysctls;

/// Stands for the team's device, which has no index before the team has begun.
pub(crate) const TEAM: u32 = u32::MAX;

/// A step. Each can be taken again, whatever of it was done before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Start the team, or its process: the members join.
    Start,
    /// End the team: the members leave.
    Stop,
    /// Give a device these settings where its own differ.
    Settings { device: String, like: String, settings: Sysctls },
    /// Set a device up.
    SetUp(u32),
    /// Switch IPv6 of a member on or off; off it has no addresses. One that is not the team's member any more stays as it is.
    SwitchIpv6 { member: u32, on: bool },
    /// Add an address.
    AddAddress(Address),
    /// Remove an address.
    RemoveAddress(Address),
    /// Remove the link-local addresses of IPv6 that the kernel has made, but for these.
    KeepLinkLocal { device: u32, keep: Vec<IpAddr> },
    /// Add a route behind those to the same destination.
    AddRoute(Route),
    /// Remove a route.
    RemoveRoute(Route),
    /// Remove the route that the kernel has made for an address, where none was.
    RemoveConnected { device: u32, to: (IpAddr, u8) },
    /// Add a policy rule.
    AddRule(Rule),
    /// Remove a policy rule.
    RemoveRule(Rule),
    /// Make a neighbour known.
    SetNeighbour(Neighbour),
    /// Make a device again, on this one.
    Remake { above: Box<Above>, below: u32 },
    /// Tell neighbours where these addresses are now.
    Announce { device: u32, addresses: Vec<IpAddr> },
}

/// Whether what comes in has to come by the way that leads back (`rp_filter`).
const SOURCE_CHECK: &str = "ipv4/conf/*/rp_filter";

impl Step {
    /// Takes the check of sources out of settings, as a step of its own.
    pub(crate) fn split_source_check(&mut self) -> Option<Step> {
        let Step::Settings { device, like, settings } = self else { return None };
        let value = settings.remove(SOURCE_CHECK)?;
        let settings = Sysctls::from([(SOURCE_CHECK.to_owned(), value)]);
        Some(Step::Settings { device: device.clone(), like: like.clone(), settings })
    }

    /// No check of sources at a device that is about to go.
    pub(crate) fn no_source_check(device: &str) -> Step {
        let settings = Sysctls::from([(SOURCE_CHECK.to_owned(), "0".to_owned())]);
        Step::Settings { device: device.to_owned(), like: device.to_owned(), settings }
    }

    /// What it is, as a sentence; `name`: of the device of an index.
    pub(crate) fn words(&self, name: &dyn Fn(u32) -> String) -> String {
        let devices = |route: &Route| {
            let mut names: Vec<String> = route.devices().into_iter().map(name).collect();
            names.dedup();
            names.join(", ")
        };
        match self {
            Step::Start => format!("start {}: its members join", name(TEAM)),
            Step::Stop => format!("end {}: its members leave", name(TEAM)),
            Step::Settings { device, like, .. } if device == like => format!("give {device} its settings (sysctl)"),
            Step::Settings { device, like, .. } => format!("give {device} the settings of {like} (sysctl)"),
            Step::SetUp(index) => format!("set {} up", name(*index)),
            Step::SwitchIpv6 { member, on } => {
                format!("switch IPv6 {} at {}", if *on { "on" } else { "off" }, name(*member))
            }
            Step::AddAddress(address) => format!("add {} to {}", address.words(), name(address.index())),
            Step::RemoveAddress(address) => format!("remove {} from {}", address.words(), name(address.index())),
            Step::KeepLinkLocal { device, .. } => format!("remove new link-local addresses from {}", name(*device)),
            Step::AddRoute(route) => format!("add the route {} over {}", route.words(), devices(route)),
            Step::RemoveRoute(route) => format!("remove the route {} over {}", route.words(), devices(route)),
            Step::RemoveConnected { device, to: (address, prefix) } => {
                format!("remove the route {address}/{prefix} of the kernel's from {}", name(*device))
            }
            Step::AddRule(rule) => format!("add the rule `{}`", rule.words()),
            Step::RemoveRule(rule) => format!("remove the rule `{}`", rule.words()),
            Step::SetNeighbour(neighbour) => {
                format!("make the neighbour {} known to {}", neighbour.words(), name(neighbour.index()))
            }
            Step::Remake { above, below } => {
                format!("make {} {} again on {}", above.device.kind(), above.device.name(), name(*below))
            }
            Step::Announce { device, addresses } => {
                let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                format!("announce {} by {}", addresses.join(", "), name(*device))
            }
        }
    }
}
