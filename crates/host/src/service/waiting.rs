//! Devices that a boot has yet to bring.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nicteam_netlink::Netlink;

use crate::Error;

/// How often is looked.
const LOOK: Duration = Duration::from_millis(50);

/// Devices that did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent(pub Vec<String>);

/// Waits until these devices are there, and udev, where it runs, is through with each: before that one may have the name that another
/// is about to get. Returns those that did not come within `bound`.
///
/// # Errors
/// The kernel does not list its devices.
pub fn wait_for_devices(devices: &[String], bound: Duration) -> Result<Absent, Error> {
    let (mut netlink, start) = (Netlink::open()?, Instant::now());
    let udev = Udev::here();
    loop {
        let links = netlink.links()?;
        let ready: BTreeSet<&str> =
            links.iter().filter(|link| udev.is_through(link.index)).map(|link| link.name.as_str()).collect();
        let absent: Vec<String> = devices.iter().filter(|device| !ready.contains(device.as_str())).cloned().collect();
        if absent.is_empty() || start.elapsed() >= bound {
            return Ok(Absent(absent));
        }
        sleep(LOOK);
    }
}

/// What udev says of devices, where it looks after those of this network namespace.
struct Udev(Option<PathBuf>);

impl Udev {
    /// It looks after the first network namespace alone, while it runs.
    fn here() -> Udev {
        let namespace = |of: &str| fs::read_link(format!("/proc/{of}/ns/net")).ok();
        let is_first = namespace("1").is_some_and(|first| namespace("thread-self") == Some(first));
        let runs = Path::new("/run/udev/control").exists();
        Udev((is_first && runs).then(|| PathBuf::from("/run/udev/data")))
    }

    /// True if it has nothing more to do with a device: then there is an entry for it (what libudev calls initialized).
    fn is_through(&self, index: u32) -> bool {
        self.0.as_ref().is_none_or(|data| data.join(format!("n{index}")).exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udev_is_waited_for_where_it_runs() {
        let folder = std::env::temp_dir().join(format!("nicteam-udev-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("n7"), "").unwrap();
        let udev = Udev(Some(folder.clone()));
        assert!(udev.is_through(7) && !udev.is_through(8));
        assert!(Udev(None).is_through(8));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_does_not_come_is_named() {
        let devices = ["lo".to_owned(), "nosuchdevice".to_owned()];
        let Absent(absent) = wait_for_devices(&devices, Duration::ZERO).unwrap();
        assert_eq!(absent, ["nosuchdevice"]);
    }
}
