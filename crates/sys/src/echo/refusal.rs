//! What the kernel keeps of refusals: a socket's error queue (`IP_RECVERR`, ip(7)).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

use super::message;
use crate::Result;
use crate::packet::control;

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

/// `struct sock_extended_err` (Linux include/uapi/linux/errqueue.h) with the address behind it, as far as it is needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    error: libc::sock_extended_err,
    offender: Offender,
}

/// `struct sockaddr_in6`, whose beginning is that of `sockaddr_in`: family, port, then address or flow and address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Offender {
    family: u16,
    port: u16,
    v4_or_flow: [u8; 4],
    v6: [u8; 16],
}

/// The refusal in the control messages of this header.
pub(super) fn raw(header: &libc::msghdr) -> Option<Raw> {
    // That of IPv4 has a shorter address behind it.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct OfIpv4 {
        error: libc::sock_extended_err,
        offender: libc::sockaddr_in,
    }
    if let Some(OfIpv4 { error, offender }) = control(header, libc::SOL_IP, libc::IP_RECVERR) {
        let (family, port) = (offender.sin_family, offender.sin_port);
        let offender = Offender { family, port, v4_or_flow: offender.sin_addr.s_addr.to_ne_bytes(), v6: [0; 16] };
        return Some(Raw { error, offender });
    }
    control(header, libc::SOL_IPV6, libc::IPV6_RECVERR)
}

/// Takes the next one; with a number, only those of this socket's questions count.
pub(super) fn take(fd: &OwnedFd, ident: Option<u16>) -> Result<Option<Refusal>> {
    // What was refused; its beginning is enough.
    let mut refused = [0; 512];
    while let Some((length, beside)) = super::received(fd, &mut refused, libc::MSG_ERRQUEUE)? {
        let Some(raw) = beside.refused else { continue };
        let numbers = message::numbers(&refused[..length]);
        let is_local = raw.error.ee_origin == libc::SO_EE_ORIGIN_LOCAL;
        // Of a local refusal nothing is quoted.
        if !is_local && ident.is_some() && numbers.map(|(of, _)| of) != ident {
            continue;
        }
        let sequence = numbers.filter(|_| ident.is_some() && !is_local).map(|(_, sequence)| sequence);
        return Ok(Some(Refusal { from: raw.from(), sequence, cause: raw.cause() }));
    }
    Ok(None)
}

impl Raw {
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
