//! Looks at the host again and again.

use std::collections::BTreeMap;
use std::time::Instant;

use nicteam_bundles::Sample;
use nicteam_daemon::TeamStatus;
use nicteam_netlink::Netlink;
use nicteam_sys::Result;
use nicteam_sys::ethtool::Ethtool;

use crate::devices::complete;
use crate::host::{Host, named};
use crate::sampler::sample;
use crate::team::Teams;
use crate::{kernel, openvswitch, team, teamd};

/// Looks at the bundles of a network namespace. What it needs for that it keeps, so a look costs little.
#[derive(Debug)]
pub struct Observer {
    pub(crate) netlink: Netlink,
    ethtool: Option<Ethtool>,
    begun: Instant,
    /// The teams of nicteam.
    pub teams: Teams,
}

/// A look at a host.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The bundles.
    pub host: Host,
    /// What teams of nicteam have said beyond that, by name.
    pub statuses: BTreeMap<String, TeamStatus>,
    /// The counters of all devices, at the beginning of the look.
    pub sample: Sample,
}

impl Observer {
    /// In the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel gives no netlink socket.
    pub fn open() -> Result<Observer> {
        let (netlink, ethtool) = (Netlink::open()?, Ethtool::open().ok());
        Ok(Observer { netlink, ethtool, begun: Instant::now(), teams: Teams::default() })
    }

    /// How the host is now.
    ///
    /// # Errors
    /// The kernel does not list its devices.
    pub fn look(&mut self) -> Result<Look> {
        let links = self.netlink.links()?;
        let at = self.begun.elapsed();
        let mut host = Host::default();
        let statuses = team::read(&mut host, &links, &mut self.teams);
        kernel::read(&mut host, &links, &mut self.netlink);
        teamd::read(&mut host, &links);
        openvswitch::read(&mut host);
        let by_name = named(&links);
        host.bundles.iter_mut().for_each(|bundle| complete(bundle, &by_name, self.ethtool.as_ref()));
        host.bundles.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Look { host, statuses, sample: sample(at, links) })
    }
}
