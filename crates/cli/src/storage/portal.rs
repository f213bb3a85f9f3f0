//! A portal of a target, as people write it.

use std::net::{IpAddr, SocketAddr};

use nicteam_storage::Path;

use crate::value;

/// Where a portal listens if nothing else is said (RFC 7143).
const PORT: u16 = 3260;

/// Reads `10.0.0.2`, `10.0.0.2:3261`, `[fd00::2]:3261`, and each with the device to leave by behind a comma.
pub(super) fn portal(text: &str) -> Result<Path, String> {
    let (address, device) = match text.split_once(',') {
        Some((address, device)) => (address, Some(value::device(device)?)),
        None => (text, None),
    };
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let with_port = address.parse::<SocketAddr>().ok();
    let portal = with_port.or_else(|| bare.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, PORT)));
    let portal = portal.ok_or_else(|| {
        format!("`{address}` is no address; hint: write 10.0.0.2, 10.0.0.2:{PORT} or 10.0.0.2,eth1 (names are not looked up)")
    })?;
    Ok(Path { portal, bind_device: device })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portal_is_an_address_with_or_without_port_and_device() {
        let read = |text| portal(text).map(|path| (path.portal.to_string(), path.bind_device));
        assert_eq!(read("10.0.0.2"), Ok(("10.0.0.2:3260".to_owned(), None)));
        assert_eq!(read("10.0.0.2:3261,eth1"), Ok(("10.0.0.2:3261".to_owned(), Some("eth1".to_owned()))));
        assert_eq!(read("fd00::2"), Ok(("[fd00::2]:3260".to_owned(), None)));
        assert_eq!(read("[fd00::2],eth1"), Ok(("[fd00::2]:3260".to_owned(), Some("eth1".to_owned()))));
        for wrong in ["", "target", "10.0.0.2:", "10.0.0.2,", "10.0.0.2:99999", "10.0.0.2,a-name-that-is-too-long"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
