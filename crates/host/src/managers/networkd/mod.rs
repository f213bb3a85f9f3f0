//! systemd-networkd: the first `.network` file whose `[Match]` fits a device is applied to it.
//!
//! Rules of systemd.network(5), compared with the real program (`tests/live/networkd.rs`): files of all folders in the order
//! of their names, one masks another of its name in a folder of less importance, drop-ins add to their file.

mod files;
mod matching;

use nicteam_formats::Place;
use nicteam_formats::settings::{Setting, flag};

use super::{Claim, Device, Host, Manager, Severity};
use files::File;
use matching::Fit;

pub(super) struct Networkd;

const NAME: &str = "systemd-networkd";
/// What the kernel keeps of its name.
const PROCESS: &str = "systemd-network";
const UNIT: &str = "systemd-networkd.service";

impl Manager for Networkd {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        let runs = host.running(PROCESS).is_some();
        if !host.is_configured_by_files() || !(runs || host.is_enabled(UNIT)) {
            return Vec::new();
        }
        // Since version 255: somebody else was named.
        if device.property("ID_NET_MANAGED_BY").is_some_and(|who| who != "io.systemd.Network") {
            return Vec::new();
        }
        let Some(chosen) = choose(host, device) else { return Vec::new() };
        if chosen.file.settings_of("Link").any(|of| of.key == "Unmanaged" && flag(&of.value) == Some(true)) {
            return Vec::new();
        }
        vec![chosen.claim(device, runs)]
    }
}

impl Host {
    /// The path of the `.network` file that systemd-networkd applies to a device, if one fits.
    pub fn network_file(&self, member: &str) -> Option<String> {
        choose(self, &Device::find(self, member)).map(|chosen| chosen.file.path)
    }
}

/// The file that is applied to a device.
struct Chosen {
    file: File,
    /// The line by which it fits, and what nobody here can know.
    by: Option<Setting>,
    unsure: Option<Setting>,
}

fn choose(host: &Host, device: &Device) -> Option<Chosen> {
    let mut perhaps = None;
    for file in files::read(host) {
        match matching::fits(&file.settings, device) {
            Fit::No => {}
            Fit::Yes(by) => return Some(Chosen { file, by: Some(by), unsure: None }),
            // A later one that fits for sure says more.
            Fit::Unsure(by, condition) => {
                perhaps.get_or_insert(Chosen { file, by, unsure: Some(condition) });
            }
        }
    }
    perhaps
}

impl Chosen {
    fn claim(&self, device: &Device, runs: bool) -> Claim {
        let name = &device.name;
        let line = self.by.as_ref().map_or_else(String::new, |by| format!(" (`{}={}`)", by.key, by.value));
        let mut why = format!("{} fits {name}{line}: it {}", self.file.path, self.does());
        if let Some(condition) = &self.unsure {
            why += &format!(", if `{}={}` holds", condition.key, condition.value);
        }
        if !runs {
            why += "; it does not run now, and starts with the next boot";
        }
        let severity = if runs && self.unsure.is_none() { Severity::Refuse } else { Severity::Warn };
        Claim { manager: NAME, place: self.place(), why, cure: self.cure(name), severity }
    }

    fn place(&self) -> Option<Place> {
        self.by.as_ref().or(self.file.settings.first()).map(|of| of.place.clone())
    }

    /// What the file makes of a device.
    fn does(&self) -> String {
        let of_network = |key: &str| self.file.settings_of("Network").filter(|of| of.key == key).last();
        for (key, what) in [("Bond", "puts it into the bond"), ("Bridge", "puts it into the bridge")] {
            if let Some(of) = of_network(key).filter(|of| !of.value.is_empty()) {
                return format!("{what} {}", of.value);
            }
        }
        let asks = of_network("DHCP")
            .filter(|of| flag(&of.value) == Some(true) || ["ipv4", "ipv6", "both"].contains(&&*of.value));
        let addresses = self.file.settings_of("Network").chain(self.file.settings_of("Address"));
        let addresses: Vec<&str> =
            addresses.filter(|of| of.key == "Address" && !of.value.is_empty()).map(|of| of.value.as_str()).collect();
        match (asks, addresses.is_empty()) {
            (Some(of), _) => format!("asks for addresses (`DHCP={}`)", of.value),
            (None, false) => format!("gives it {}", addresses.join(", ")),
            (None, true) => "sets it up, takes router advertisements and removes what it does not know".to_owned(),
        }
    }

    /// A file of its own that comes first.
    fn cure(&self, name: &str) -> String {
        if self.file.is_of_netplan() {
            return format!("netplan made it: take {name} out of /etc/netplan, then `netplan apply`");
        }
        let own = format!("00-nicteam-{name}.network");
        let file = self.file.path.rsplit('/').next().unwrap_or_default();
        let ahead = if file < own.as_str() {
            format!("mv {} /etc/systemd/network/50-{file}\n", self.file.path)
        } else {
            String::new()
        };
        format!(
            "{ahead}printf '[Match]\\nName={name}\\n\\n[Link]\\nUnmanaged=yes\\n' >/etc/systemd/network/{own}\nnetworkctl reload"
        )
    }
}
