//! What patterns of configuration files are compared with.

use nicteam_netlink::Link;
use nicteam_wire::Mac;

use super::Host;

/// A device as managers of networks see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its other names.
    pub alternative_names: Vec<String>,
    /// What the kernel knows of it; `None`: it is not there.
    pub link: Option<Link>,
    /// The driver, by the name that `ethtool -i` shows; empty if unknown.
    pub driver: String,
    /// What systemd calls its type: `ether`, or udev's `DEVTYPE` (`bond`, `wlan`).
    pub kind_of_type: String,
    /// What udev noted of it: `ID_PATH=pci-0000:00:03.0`.
    pub properties: Vec<(String, String)>,
}

impl Device {
    /// The device of this name, which may be one of its alternative names.
    pub(crate) fn find(host: &Host, name: &str) -> Device {
        let by_name = host.links.iter().find(|link| link.name == name);
        let other = || host.links.iter().find(|link| link.alternative_names.iter().any(|of| of == name));
        match by_name.or_else(other) {
            Some(link) => Device::of(host, link),
            None => Device { name: name.to_owned(), kind_of_type: "ether".to_owned(), ..Device::default() },
        }
    }

    fn of(host: &Host, link: &Link) -> Device {
        let folder = format!("/sys/class/net/{}", link.name);
        let driver = host.last_of_link(&format!("{folder}/device/driver"));
        Device {
            name: link.name.clone(),
            alternative_names: link.alternative_names.clone(),
            driver: driver.unwrap_or_else(|| driver_of_kind(&link.kind).to_owned()),
            kind_of_type: kind_of_type(host, &folder),
            properties: properties(host, link.index),
            link: Some(link.clone()),
        }
    }

    /// Its address, if it has one.
    pub(crate) fn mac(&self) -> Option<Mac> {
        self.link.as_ref().map(|link| Mac(link.mac)).filter(|mac| *mac != Mac::default())
    }

    /// The address that its hardware has.
    pub(crate) fn permanent_mac(&self) -> Option<Mac> {
        self.link.as_ref().and_then(|link| link.permanent_mac).map(Mac)
    }

    /// The kind of a device that is no hardware.
    pub(crate) fn kind(&self) -> &str {
        self.link.as_ref().map_or("", |link| link.kind.as_str())
    }

    /// What udev noted under this name.
    pub(crate) fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// True if one of its names is this.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.alternative_names.iter().any(|of| of == name)
    }
}

/// What `ETHTOOL_GDRVINFO` answers for devices that have no hardware below (Linux 6.1 drivers/net).
fn driver_of_kind(kind: &str) -> &str {
    match kind {
        "bond" => "bonding",
        "vlan" => "802.1Q VLAN Support",
        other => other,
    }
}

/// udev's `DEVTYPE`, which the kernel gives all but plain Ethernet; else the name of its hardware type.
fn kind_of_type(host: &Host, folder: &str) -> String {
    let uevent = host.read(&format!("{folder}/uevent"));
    let of_udev = uevent.as_ref().and_then(|of| of.text.lines().find_map(|line| line.strip_prefix("DEVTYPE=")));
    if let Some(kind) = of_udev {
        return kind.to_owned();
    }
    let number = host.read(&format!("{folder}/type")).map(|of| of.text.trim().to_owned());
    // ARPHRD_*, Linux include/uapi/linux/if_arp.h.
    match number.as_deref() {
        Some("772") => "loopback",
        Some("32") => "infiniband",
        Some("65534") => "none",
        _ => "ether",
    }
    .to_owned()
}

/// Lines `E:NAME=VALUE` of udev's database.
fn properties(host: &Host, index: u32) -> Vec<(String, String)> {
    if !host.is_configured_by_files() {
        return Vec::new();
    }
    let Some(data) = host.read(&format!("/run/udev/data/n{index}")) else { return Vec::new() };
    let pairs = data.text.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
