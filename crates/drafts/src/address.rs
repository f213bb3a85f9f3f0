//! An address with the length of its prefix.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address with the length of its prefix: `10.0.0.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix, 0 to 32 or 128.
    pub prefix: u8,
}

impl Address {
    /// This address alone: a prefix of all bits.
    pub fn host(address: IpAddr) -> Address {
        Address { address, prefix: bits(address) }
    }

    /// With the prefix of its class (RFC 791): what old programs take where nothing is said.
    pub fn of_class(address: Ipv4Addr) -> Address {
        let prefix = match address.octets()[0] {
            0..=127 => 8,
            128..=191 => 16,
            192..=223 => 24,
            _ => 32,
        };
        Address { address: address.into(), prefix }
    }

    /// The network's broadcast address: the bits beyond the prefix are 1; none of IPv6.
    pub fn broadcast(self) -> Option<Ipv4Addr> {
        match self.network().address {
            IpAddr::V4(v4) => {
                let hosts = u32::MAX.checked_shr(u32::from(self.prefix)).unwrap_or(0);
                Some((u32::from(v4) | hosts).into())
            }
            IpAddr::V6(_) => None,
        }
    }

    /// `0.0.0.0/0` or `::/0`, of the family of this address.
    pub fn any_like(address: IpAddr) -> Address {
        let address = match address {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        Address { address, prefix: 0 }
    }

    /// The network that it is in: the bits beyond the prefix are 0.
    pub fn network(self) -> Address {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix.min(32))).unwrap_or(0);
                IpAddr::V4((u32::from(v4) & mask).into())
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix.min(128))).unwrap_or(0);
                IpAddr::V6((u128::from(v6) & mask).into())
            }
        };
        Address { address, ..self }
    }

    /// True if that address is in this one's network.
    pub fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && Address { address, ..self }.network() == self.network()
    }

    /// An address and a netmask that stand apart: `255.255.255.0`, or the length of the prefix.
    ///
    /// # Errors
    /// The netmask is neither; its ones are not in one piece; the prefix is too long for the address.
    pub fn with_netmask(address: IpAddr, netmask: &str) -> Result<Address, AddressError> {
        let refused = || AddressError::Netmask { text: netmask.to_owned(), longest: bits(address) };
        let prefix = match netmask.parse::<Ipv4Addr>() {
            Ok(mask) if address.is_ipv4() => {
                let mask = u32::from(mask);
                let prefix = mask.leading_ones();
                (mask.count_ones() == prefix).then_some(prefix as u8).ok_or_else(refused)?
            }
            _ => digits(netmask).filter(|prefix| *prefix <= bits(address)).ok_or_else(refused)?,
        };
        Ok(Address { address, prefix })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let parsed: IpAddr = address.parse().map_err(|_| AddressError::NoAddress { text: address.to_owned() })?;
        match prefix {
            Some(prefix) => Address::with_netmask(parsed, prefix),
            None => Err(AddressError::NoPrefix { address: parsed }),
        }
    }
}

/// Bits of an address of this family.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn digits(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The text is no address with the length of its prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// What stands before the `/` is no IP address.
    #[error("`{text}` is no IP address")]
    NoAddress {
        /// As it was given.
        text: String,
    },
    /// There is no `/`.
    #[error("`{address}` has no length of its prefix")]
    NoPrefix {
        /// The address.
        address: IpAddr,
    },
    /// What stands behind the `/` is no length of a prefix of this family, and no netmask.
    #[error("`{text}` is no netmask and no length of a prefix")]
    Netmask {
        /// As it was given.
        text: String,
        /// The longest, bits.
        longest: u8,
    },
}

impl AddressError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            AddressError::NoAddress { .. } => "an address is `10.0.0.1/24` or `2001:db8::1/64`".to_owned(),
            AddressError::NoPrefix { address } => {
                let usual = if address.is_ipv4() { 24 } else { 64 };
                format!("add it: `{address}/{usual}`; `{}` for the address alone", Address::host(*address))
            }
            AddressError::Netmask { longest: 32, .. } => {
                "a prefix has 0 to 32 bits: `24`; as a netmask `255.255.255.0`".to_owned()
            }
            AddressError::Netmask { longest, .. } => format!("a prefix has 0 to {longest} bits: `64`"),
        }
    }
}
