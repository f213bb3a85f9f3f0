//! Files `ifcfg-*` of RHEL and its kin: read by the scripts of `network.service`, and by NetworkManager's plugin.

use std::str::FromStr;

use nicteam_formats::settings::{self, flag};
use nicteam_wire::Mac;

use super::{Claim, Device, Host, Manager, Severity};

pub(super) struct Ifcfg;

const NAME: &str = "network-scripts (ifcfg)";
const FOLDER: &str = "/etc/sysconfig/network-scripts";

impl Manager for Ifcfg {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        if !host.is_configured_by_files() {
            return Vec::new();
        }
        let paths = host.files(FOLDER, "").into_iter();
        let paths = paths.filter(|path| path.contains("/ifcfg-") && !path.ends_with('~') && !path.ends_with(".bak"));
        paths.filter_map(|path| claim(host, device, &path)).collect()
    }
}

fn claim(host: &Host, device: &Device, path: &str) -> Option<Claim> {
    let source = host.read(path)?;
    let lines = settings::ifcfg(&source);
    let value = |key: &str| lines.iter().rev().find(|of| of.key == key);
    let text = |key: &str| value(key).map(|of| of.value.clone());
    let by_name = value("DEVICE").filter(|_| text("DEVICE").is_some_and(|of| device.is_named(&of)));
    let hardware = device.permanent_mac().or_else(|| device.mac());
    let by_mac = value("HWADDR")
        .filter(|_| text("HWADDR").is_some_and(|of| Mac::from_str(&of).ok().is_some_and(|mac| Some(mac) == hardware)));
    let by = by_name.or(by_mac)?;
    if text("ONBOOT").and_then(|of| flag(&of)) == Some(false) {
        return None;
    }
    let master = text("MASTER").map(|of| format!("puts it into the bond {of}"));
    let bridge = || text("BRIDGE").map(|of| format!("puts it into the bridge {of}"));
    let dhcp = || text("BOOTPROTO").filter(|of| of == "dhcp").map(|_| "asks for an address by DHCP".to_owned());
    let address = || text("IPADDR").map(|of| format!("gives it {of}"));
    let does = master.or_else(bridge).or_else(dhcp).or_else(address);
    let severity = if does.is_some() { Severity::Refuse } else { Severity::Warn };
    let does = does.unwrap_or_else(|| "sets it up".to_owned());
    Some(Claim {
        manager: NAME,
        place: Some(by.place.clone()),
        why: format!("{path} is for {} and {does} at boot", device.name),
        cure: format!("mv {path} {FOLDER}/disabled-{}", path.rsplit('/').next().unwrap_or_default()),
        severity,
    })
}
