//! How a device makes an IPv6 address by itself (`IFLA_INET6_ADDR_GEN_MODE`).

use std::fmt;
use std::str::FromStr;

use netlink_packet_route::link::{AfSpecInet6, AfSpecUnspec, In6AddrGenMode};

/// How a device makes an IPv6 address by itself. Shown and read in the words of `ip link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddrGenMode {
    /// From its MAC address (`eui64`).
    Eui64,
    /// Not at all (`none`).
    None,
    /// From a secret that is set (`stable_secret`).
    StableSecret,
    /// From a secret that the kernel draws (`random`).
    Random,
    /// One that a newer kernel has, by its number.
    Other(u8),
}

/// The text names no way to make an address.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no addrgenmode: eui64, none, stable_secret or random")]
pub struct ParseAddrGenModeError(String);

impl fmt::Display for AddrGenMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddrGenMode::Eui64 => f.write_str("eui64"),
            AddrGenMode::None => f.write_str("none"),
            AddrGenMode::StableSecret => f.write_str("stable_secret"),
            AddrGenMode::Random => f.write_str("random"),
            AddrGenMode::Other(number) => write!(f, "{number}"),
        }
    }
}

impl FromStr for AddrGenMode {
    type Err = ParseAddrGenModeError;

    fn from_str(text: &str) -> Result<AddrGenMode, ParseAddrGenModeError> {
        Ok(match text {
            "eui64" => AddrGenMode::Eui64,
            "none" => AddrGenMode::None,
            "stable_secret" => AddrGenMode::StableSecret,
            "random" => AddrGenMode::Random,
            _ => AddrGenMode::Other(text.parse().map_err(|_| ParseAddrGenModeError(text.to_owned()))?),
        })
    }
}

/// The one among a device's settings by address family.
pub(super) fn of(families: &[AfSpecUnspec]) -> Option<AddrGenMode> {
    let inet6 = families.iter().find_map(|family| match family {
        AfSpecUnspec::Inet6(settings) => Some(settings),
        _ => None,
    })?;
    inet6.iter().find_map(|setting| match setting {
        AfSpecInet6::AddrGenMode(mode) => Some((*mode).into()),
        _ => None,
    })
}

impl From<In6AddrGenMode> for AddrGenMode {
    fn from(mode: In6AddrGenMode) -> AddrGenMode {
        match mode {
            In6AddrGenMode::Eui64 => AddrGenMode::Eui64,
            In6AddrGenMode::None => AddrGenMode::None,
            In6AddrGenMode::StablePrivacy => AddrGenMode::StableSecret,
            In6AddrGenMode::Random => AddrGenMode::Random,
            other => AddrGenMode::Other((&other).into()),
        }
    }
}

impl From<AddrGenMode> for In6AddrGenMode {
    fn from(mode: AddrGenMode) -> In6AddrGenMode {
        match mode {
            AddrGenMode::Eui64 => In6AddrGenMode::Eui64,
            AddrGenMode::None => In6AddrGenMode::None,
            AddrGenMode::StableSecret => In6AddrGenMode::StablePrivacy,
            AddrGenMode::Random => In6AddrGenMode::Random,
            AddrGenMode::Other(number) => In6AddrGenMode::Other(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for mode in [
            AddrGenMode::Eui64,
            AddrGenMode::None,
            AddrGenMode::StableSecret,
            AddrGenMode::Random,
            AddrGenMode::Other(9),
        ] {
            assert_eq!(mode.to_string().parse::<AddrGenMode>().unwrap(), mode);
            assert_eq!(AddrGenMode::from(In6AddrGenMode::from(mode)), mode);
        }
        assert!("eui6".parse::<AddrGenMode>().is_err());
        assert!("256".parse::<AddrGenMode>().is_err());
    }
}
