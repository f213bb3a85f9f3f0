//! What the kernel keeps of refusals: a socket's error queue (`IP_RECVERR`, ip(7)).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

use super::message;
use super::receive::{Refused, received};
use crate::Result;

/// Who could not pass a packet on, or did not want it, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who said so; none: this host.
    pub from: Option<IpAddr>,
    /// Number of the question, where that is told.
    pub sequence: Option<u16>,
    /// Why.
    pub cause: Cause,
}

/// Why a packet was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is larger than this, and must not be cut.
    TooBig {
        /// Largest IP packet, bytes; 0: an old router did not say.
        mtu: u32,
    },
    /// An ICMP or ICMPv6 message of another type and code.
    Icmp {
        /// Its type.
        kind: u8,
        /// Its code.
        code: u8,
    },
    /// This host's error of this number.
    Local(i32),
}

/// Takes the next one; with a number, only those of this socket's questions count.
pub(super) fn take(fd: &OwnedFd, ident: Option<u16>) -> Result<Option<Refusal>> {
    // What was refused; its beginning is enough.
    let mut refused = [0; 512];
    while let Some((length, beside)) = received(fd, &mut refused, libc::MSG_ERRQUEUE)? {
        let Some(found) = beside.refused else { continue };
        let numbers = message::numbers(&refused[..length]);
        let is_local = found.error.ee_origin == libc::SO_EE_ORIGIN_LOCAL;
        // Of a local refusal nothing is quoted.
        if !is_local && ident.is_some() && numbers.map(|(of, _)| of) != ident {
            continue;
        }
        let sequence = numbers.filter(|_| ident.is_some() && !is_local).map(|(_, sequence)| sequence);
        return Ok(Some(Refusal { from: found.from(), sequence, cause: found.cause() }));
    }
    Ok(None)
}

impl Refused {
    fn from(&self) -> Option<IpAddr> {
        if self.error.ee_origin == libc::SO_EE_ORIGIN_LOCAL {
            return None;
        }
        match libc::c_int::from(self.offender.family) {
            libc::AF_INET => Some(IpAddr::V4(Ipv4Addr::from(self.offender.v4_or_flow))),
            libc::AF_INET6 => Some(IpAddr::V6(Ipv6Addr::from(self.offender.v6))),
            _ => None,
        }
    }

    fn cause(&self) -> Cause {
        let libc::sock_extended_err { ee_errno, ee_origin, ee_type, ee_code, ee_info, .. } = self.error;
        match ee_origin {
            _ if ee_errno == libc::EMSGSIZE as u32 => Cause::TooBig { mtu: ee_info },
            libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => Cause::Icmp { kind: ee_type, code: ee_code },
            _ => Cause::Local(ee_errno as i32),
        }
    }
}
