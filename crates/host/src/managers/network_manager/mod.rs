//! NetworkManager: it manages every device that nothing keeps it from (NetworkManager.conf(5)).
//!
//! Read are its configuration, what it noted of devices in `/run/NetworkManager/devices`, its profiles (keyfiles) and what udev
//! says. It is not asked over D-Bus: what it was told at run time alone (`nmcli device set eth1 managed no`) is known as soon as
//! it has noted it.

mod config;
mod ours;
mod profiles;
mod spec;
mod state;

use nicteam_formats::quoted;
use nicteam_formats::settings::flag;

use super::{Claim, Device, Host, Manager, Severity, ifupdown};
use config::Config;
use state::State;

pub use ours::{set_managed, set_unmanaged};

pub(super) struct NetworkManager;

const NAME: &str = "NetworkManager";
const UNIT: &str = "NetworkManager.service";

impl Manager for NetworkManager {
    fn claims(&self, host: &Host, device: &Device) -> Vec<Claim> {
        let runs = host.running(NAME).is_some();
        if !host.is_configured_by_files() || !(runs || host.is_enabled(UNIT)) {
            return Vec::new();
        }
        let state = State::read(host, device);
        if !state.managed.unwrap_or_else(|| is_managed(host, device)) {
            return Vec::new();
        }
        let profile = profiles::of(host, device, state.connection.as_deref());
        let (place, mut why) = match profile {
            Some(profile) => {
                let what = format!("it manages {}, with the profile `{}`", device.name, profile.id);
                (Some(profile.place), what)
            }
            None if state.managed.is_some() => (state.place, format!("it manages {} now", device.name)),
            None if has_automatic_profile(host, device) => {
                let what = "it makes a profile with DHCP by itself (`Wired connection 1`)";
                (None, format!("nothing keeps it from {}, for which {what}", device.name))
            }
            // Without a profile it leaves the device as it is.
            None => return weak(device, runs),
        };
        if !runs {
            why += "; it does not run now, and starts with the next boot";
        }
        let severity = if runs { Severity::Refuse } else { Severity::Warn };
        vec![Claim { manager: NAME, place, why, cure: cure(&device.name, runs), severity }]
    }
}

/// It has the device, and nothing to do with it.
fn weak(device: &Device, runs: bool) -> Vec<Claim> {
    let why = format!("nothing keeps it from {}; it has no profile for it, and sets it up", device.name);
    vec![Claim { manager: NAME, place: None, why, cure: cure(&device.name, runs), severity: Severity::Warn }]
}

/// Whether its configuration, and what udev says, let it manage a device.
fn is_managed(host: &Host, device: &Device) -> bool {
    let config = Config::read(host);
    if let Some(managed) = config.of_device(device, "managed") {
        // It has more weight than all that follows.
        return flag(&managed) != Some(false);
    }
    if config.value("keyfile", "unmanaged-devices").is_some_and(|list| spec::fits(&list, device)) {
        return false;
    }
    if let Some(unmanaged) = device.property("NM_UNMANAGED") {
        return flag(unmanaged) == Some(false);
    }
    if device.property("ID_NET_MANAGED_BY").is_some_and(|who| who != "org.freedesktop.NetworkManager") {
        return false;
    }
    // Debian's plugin: what stands in its file is ifupdown's, unless somebody says otherwise.
    let asks_ifupdown =
        config.value("main", "plugins").is_none_or(|list| list.split([',', ';']).any(|of| of.trim() == "ifupdown"));
    if asks_ifupdown
        && config.value("ifupdown", "managed").is_none_or(|of| flag(&of) != Some(true))
        && ifupdown::names(host, device)
    {
        return false;
    }
    // Its own udev rules (85-nm-unmanaged.rules), should there be no udev; and what others make it only watches.
    device.kind().is_empty()
}

/// Whether it makes a profile by itself for an Ethernet device without one.
fn has_automatic_profile(host: &Host, device: &Device) -> bool {
    let none_for = Config::read(host).value("main", "no-auto-default");
    device.kind_of_type == "ether"
        && device.kind().is_empty()
        && !none_for.is_some_and(|list| spec::fits(&list, device))
}

/// At once and from now on.
fn cure(name: &str, runs: bool) -> String {
    let file = format!("/etc/NetworkManager/conf.d/90-unmanaged-{name}.conf");
    let own =
        format!("printf '[device-unmanaged-{name}]\\nmatch-device=interface-name:={name}\\nmanaged=0\\n' >{file}");
    if runs {
        format!("nmcli device set {} managed no\n{own}\nsystemctl reload NetworkManager", quoted(name))
    } else {
        own
    }
}
