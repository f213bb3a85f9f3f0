//! Multipath TCP: the addresses by which a host is to be reached.

use std::net::IpAddr;

use nicteam_sys::Result;

use crate::generic::{Family, attribute};

/// Which addresses a namespace's connections use beside their own
/// (`ip mptcp`), of the namespace it was opened in.
#[derive(Debug)]
pub struct PathManager {
    family: Family,
}

impl PathManager {
    /// In the caller's namespace.
    ///
    /// # Errors
    /// `ENOENT`: the kernel has no multipath TCP.
    pub fn open() -> Result<PathManager> {
        let family = Family::open("mptcp_pm", || "talk to the path manager of multipath TCP".to_owned())?;
        Ok(PathManager { family })
    }

    /// How many subflows, 0 to 8, a connection may have beside its first one, and
    /// how many announced addresses of the other end it takes.
    pub fn set_limits(&mut self, subflows: u32) -> Result<()> {
        let [accepted, own] = [ATTR_RCV_ADD_ADDRS, ATTR_SUBFLOWS].map(|kind| attribute(kind, &subflows.to_ne_bytes()));
        let attributes = [accepted, own].concat();
        self.family.request(CMD_SET_LIMITS, &attributes, || format!("allow {subflows} more subflows"))
    }

    /// Lets connections announce one of the namespace's addresses, so that their
    /// other ends open a subflow to it.
    pub fn announce(&mut self, address: IpAddr, ifindex: u32) -> Result<()> {
        let (family, kind, bytes) = match address {
            IpAddr::V4(v4) => (libc::AF_INET, ADDR_ATTR_ADDR4, v4.octets().to_vec()),
            IpAddr::V6(v6) => (libc::AF_INET6, ADDR_ATTR_ADDR6, v6.octets().to_vec()),
        };
        let endpoint = [
            attribute(ADDR_ATTR_FAMILY, &(family as u16).to_ne_bytes()),
            attribute(kind, &bytes),
            attribute(ADDR_ATTR_FLAGS, &ADDR_FLAG_SIGNAL.to_ne_bytes()),
            attribute(ADDR_ATTR_IF_IDX, &ifindex.to_ne_bytes()),
        ];
        let nested = attribute(ATTR_ADDR | libc::NLA_F_NESTED as u16, &endpoint.concat());
        self.family.request(CMD_ADD_ADDR, &nested, || format!("announce {address} to other ends of multipath TCP"))
    }
}

// Linux 6.1 include/uapi/linux/mptcp.h.
const CMD_ADD_ADDR: u8 = 1;
const CMD_SET_LIMITS: u8 = 5;
const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
const ADDR_ATTR_FAMILY: u16 = 1;
const ADDR_ATTR_ADDR4: u16 = 3;
const ADDR_ATTR_ADDR6: u16 = 4;
const ADDR_ATTR_FLAGS: u16 = 6;
const ADDR_ATTR_IF_IDX: u16 = 7;
const ADDR_FLAG_SIGNAL: u32 = 1;
