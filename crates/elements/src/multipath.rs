//! Hosts with an address on each link, because a workload uses all links by itself.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::pattern;
use crate::record::{At, Record};
use crate::resolved::Further;
use crate::units::in_nth_subnet;
use nicteam_diagnostics::Problem;

/// By what a workload takes every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Every {
    /// By an iSCSI session each.
    Sessions,
    /// By a subflow of multipath TCP each.
    Subflows,
}

impl Every {
    /// The key that asks for it.
    pub fn key(self) -> &'static str {
        match self {
            Every::Sessions => "`paths = \"all\"`",
            Every::Subflows => "`mptcp`",
        }
    }

    /// What goes over the links.
    pub fn name(self) -> &'static str {
        match self {
            Every::Sessions => "multipath storage",
            Every::Subflows => "multipath TCP",
        }
    }
}

/// A host with such links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// By what.
    pub every: Every,
    /// Others connect to it.
    pub is_connected_to: bool,
}

/// The hosts of a run with an address on each link: those of its own workloads that use every link, and those of the
/// file's other workloads where the run gives them no team. `takes` says by what a workload takes every link, if it
/// does.
pub fn hosts<'a>(
    workloads: &'a [(At<String>, Record)],
    of_run: Option<&[At<String>]>,
    hosts: &[(&At<String>, Record)],
    takes: impl Fn(&Record) -> Option<Every>,
) -> BTreeMap<&'a str, Taken> {
    let is_of_run = |name: &str| of_run.is_none_or(|names| names.iter().any(|own| own.value == name));
    let has_team = |name: &str| hosts.iter().any(|(host, record)| host.value == name && record.has("team"));
    let mut taken: BTreeMap<&'a str, Taken> = BTreeMap::new();
    for (name, workload) in workloads {
        let Some(every) = takes(workload) else { continue };
        // Each host of a ring connects, and is connected to.
        for (key, is_connected_to) in [("from", pattern::is_ring(workload)), ("to", true)] {
            let names: Option<At<&'a [At<String>]>> = workload.get(key);
            for host in names.iter().flat_map(|at| at.value).filter(|it| is_of_run(&name.value) || !has_team(&it.value))
            {
                let known = taken.entry(host.value.as_str()).or_insert(Taken { every, is_connected_to });
                known.every = known.every.max(every);
                known.is_connected_to |= is_connected_to;
            }
        }
    }
    taken
}

/// The links of a host beside its first: the n-th has the host's place in the n-th subnet after the host's own.
pub fn further(
    name: &At<String>,
    ends: &[(String, String, u32)],
    (address, prefix): (IpAddr, u8),
    problems: &mut Vec<Problem>,
) -> Vec<Further> {
    let links = (1..).zip(ends.iter().skip(1));
    let one = |(n, (device, ..)): (u32, &(String, String, u32))| {
        Some(Further { device: device.clone(), address: in_nth_subnet(address, prefix, n)?, prefix, mac: None })
    };
    let found: Option<Vec<Further>> = links.map(one).collect();
    found.unwrap_or_else(|| {
        let message = format!("no subnets left after that of host `{}` for its {} links", name.value, ends.len());
        problems.push(Problem::at(&name.span, message).hint("give it another `address`"));
        Vec::new()
    })
}
