//! What NetworkManager noted of a device.

use nicteam_formats::Place;
use nicteam_formats::settings::{self, flag};

use super::super::{Device, Host};

/// What it noted of a device.
#[derive(Default)]
pub(super) struct State {
    pub(super) managed: Option<bool>,
    pub(super) connection: Option<String>,
    pub(super) place: Option<Place>,
}

impl State {
    pub(super) fn read(host: &Host, device: &Device) -> State {
        device.link.as_ref().map_or_else(State::default, |link| State::at(host, link.index))
    }

    /// Of the device of this index.
    pub(super) fn at(host: &Host, index: u32) -> State {
        let file = host.read(&format!("/run/NetworkManager/devices/{index}"));
        let lines = file.as_ref().map(settings::key_file).unwrap_or_default();
        let of = |key: &str| lines.iter().find(|of| of.section == "device" && of.key == key);
        let managed = of("managed");
        State {
            managed: managed.and_then(|of| flag(&of.value)),
            connection: of("connection-uuid").map(|of| of.value.clone()),
            place: managed.map(|of| of.place.clone()),
        }
    }
}
