//! An initiator and a target with several paths between them.

use std::time::Duration;

use nicteam_storage::{DiskSpec, Path};
use nicteam_testnet::{Host, IscsiTarget, Switch};

use super::relay::Relay;

/// An initiator and a target, joined by a switch a path.
pub struct Net {
    pub initiator: Host,
    pub target: Host,
    /// The switch of each path. A path that is added later has a link emulator instead.
    pub switches: Vec<Switch>,
    paths: usize,
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
        let mut net = Net { initiator: Host::quiet(), target: Host::quiet(), switches: Vec::new(), paths };
        for path in 0..paths {
            let mut switch = Switch::new();
            let device = format!("eth{path}");
            switch.join(&mut net.initiator, &device, "near");
            switch.join(&mut net.target, &device, "far");
            net.switches.push(switch);
            net.address(path);
        }
        net
    }

    /// One more, whose frames to the target can be held back.
    pub fn add_relayed_path(&mut self, delay: Duration) -> Relay {
        let path = self.paths;
        let relay = Relay::new(&mut self.initiator, &mut self.target, &format!("eth{path}"), delay);
        self.address(path);
        self.paths += 1;
        relay
    }

    fn address(&mut self, path: usize) {
        let device = format!("eth{path}");
        self.initiator.address(&device, &[(&format!("10.77.{path}.1"), 24)]);
        self.target.address(&device, &[(&format!("10.77.{path}.2"), 24)]);
    }

    /// Has the target serve a file of so many bytes.
    #[track_caller]
    pub fn serve(&self, bytes: u64) -> IscsiTarget {
        IscsiTarget::start_or_skip(&self.target.netns, bytes, &[]).expect("looked for before")
    }

    /// A disk over all paths.
    pub fn spec(&self) -> DiskSpec {
        let path = |path: usize| Path {
            portal: IscsiTarget::portal(&format!("10.77.{path}.2")),
            bind_device: path.is_multiple_of(2).then(|| format!("eth{path}")),
        };
        DiskSpec::new((0..self.paths).map(path).collect(), IscsiTarget::NAME, IscsiTarget::LUN)
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
