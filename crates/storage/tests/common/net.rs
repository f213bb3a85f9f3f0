//! An initiator and a target with several paths between them.

use std::net::SocketAddr;

use nicteam_storage::{DiskSpec, Path};
use nicteam_testnet::{Host, Switch};

use super::target::NAME;

/// An initiator and a target, joined by a switch a path.
pub struct Net {
    pub initiator: Host,
    pub target: Host,
    pub switches: Vec<Switch>,
}

/// Where a path is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The initiator's own device is set down.
    Near,
    /// The target's is; the initiator keeps its carrier.
    Far,
    /// The switch passes nothing; every carrier stays.
    Silent,
}

impl Net {
    /// So many paths, each a subnet of its own.
    pub fn new(paths: usize) -> Net {
        let mut net = Net { initiator: Host::quiet(), target: Host::quiet(), switches: Vec::new() };
        for path in 0..paths {
            let mut switch = Switch::new();
            let device = format!("eth{path}");
            switch.join(&mut net.initiator, &device, "near");
            switch.join(&mut net.target, &device, "far");
            net.initiator.address(&device, &[(&format!("10.77.{path}.1"), 24)]);
            net.target.address(&device, &[(&format!("10.77.{path}.2"), 24)]);
            net.switches.push(switch);
        }
        net
    }

    /// A disk over all paths.
    pub fn spec(&self) -> DiskSpec {
        let path = |path: usize| Path {
            portal: SocketAddr::from(([10, 77, path as u8, 2], 3260)),
            bind_device: path.is_multiple_of(2).then(|| format!("eth{path}")),
        };
        DiskSpec::new((0..self.switches.len()).map(path).collect(), NAME, 1)
    }

    /// Cuts a path, or joins it again.
    pub fn set_cut(&mut self, path: usize, cut: Cut, is_cut: bool) {
        let device = format!("eth{path}");
        match cut {
            Cut::Near => self.initiator.set_up(&device, !is_cut),
            Cut::Far => self.target.set_up(&device, !is_cut),
            Cut::Silent => self.switches[path].set_passing("far", !is_cut),
        }
    }
}
