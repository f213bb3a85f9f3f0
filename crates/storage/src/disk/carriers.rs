//! The carriers of the devices by which paths leave.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nicteam_netlink::Monitor;
use nicteam_sys::ethtool::Ethtool;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;

/// The devices by which paths leave, and whether they have their carriers.
#[derive(Debug)]
pub(super) struct Carriers {
    monitor: Monitor,
    ethtool: Ethtool,
    /// A path each.
    devices: Vec<Option<Device>>,
    next_look: Duration,
}

#[derive(Debug)]
struct Device {
    name: String,
    carrier: bool,
}

/// Netlink may be up to a second late with a physical NIC; its driver is asked this often.
const LOOK_INTERVAL: Duration = Duration::from_millis(40);

impl Carriers {
    /// Of so many paths, in the caller's network namespace.
    pub(super) fn open(paths: usize) -> nicteam_sys::Result<Carriers> {
        let devices = (0..paths).map(|_| None).collect();
        Ok(Carriers { monitor: Monitor::open()?, ethtool: Ethtool::open()?, devices, next_look: Duration::ZERO })
    }

    /// Readable when something has happened to a device.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.monitor.as_fd()
    }

    /// A path leaves by this device.
    pub(super) fn set_device(&mut self, path: usize, name: String) {
        if self.device(path) != Some(&name) {
            self.devices[path] = Some(Device { name, carrier: true });
            self.next_look = Duration::ZERO;
        }
    }

    /// The device by which a path leaves, once known.
    pub(super) fn device(&self, path: usize) -> Option<&str> {
        self.devices[path].as_ref().map(|device| device.name.as_str())
    }

    /// Whether it has its carrier; true while it is not known.
    pub(super) fn carrier(&self, path: usize) -> bool {
        self.devices[path].as_ref().is_none_or(|device| device.carrier)
    }

    /// When to look next.
    pub(super) fn next_look(&self) -> Option<Duration> {
        self.devices.iter().any(Option::is_some).then_some(self.next_look)
    }

    /// Reads carriers, if it is time to or netlink has a message; returns the paths with a changed carrier.
    pub(super) fn look(&mut self, hinted: bool, now: Duration) -> Vec<(usize, bool)> {
        if hinted {
            // The driver is asked in any case; netlink only triggers it.
            let _ = self.monitor.changes();
        }
        if !hinted && self.next_look().is_none_or(|due| now < due) {
            return Vec::new();
        }
        self.next_look = now + LOOK_INTERVAL;
        let Carriers { ethtool, devices, .. } = self;
        let look = |(path, device): (usize, &mut Option<Device>)| {
            let device = device.as_mut()?;
            let carrier = carrier(ethtool, &device.name);
            (std::mem::replace(&mut device.carrier, carrier) != carrier).then_some((path, carrier))
        };
        devices.iter_mut().enumerate().filter_map(look).collect()
    }
}

/// A device that is gone has none; if a driver does not report its carrier, it is assumed to be there.
fn carrier(ethtool: &Ethtool, device: &str) -> bool {
    match ethtool.carrier(device) {
        Ok(carrier) => carrier,
        Err(error) => error.errno() != Some(Errno::ENODEV as i32),
    }
}

/// The device that has this address.
pub(super) fn device_of(address: IpAddr) -> Option<String> {
    let has_it = |found: &nix::ifaddrs::InterfaceAddress| {
        let found = found.address.as_ref();
        let v4 = || found.and_then(|it| it.as_sockaddr_in()).map(|it| IpAddr::V4(it.ip()));
        let v6 = || found.and_then(|it| it.as_sockaddr_in6()).map(|it| IpAddr::V6(it.ip()));
        v4().or_else(v6) == Some(address)
    };
    getifaddrs().ok()?.find(has_it).map(|found| found.interface_name)
}
