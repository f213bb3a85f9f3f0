//! Nexthop objects (`RTM_NEWNEXTHOP`; include/uapi/linux/nexthop.h), as far as a team has to know of them.

use super::{Object, kind};
use crate::Netlink;
use nicteam_sys::Result;

/// A nexthop object, which routes name by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nexthop(Object);

const NHA_ID: u16 = 1;
const NHA_OIF: u16 = 5;

impl Nexthop {
    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.u32_of(NHA_ID).unwrap_or_default()
    }

    /// Its device; `None` for a group, and one that drops what comes.
    pub fn device(&self) -> Option<u32> {
        self.0.u32_of(NHA_OIF)
    }
}

impl Netlink {
    /// The nexthop objects; none where the kernel has no such (before 5.3).
    pub fn nexthops(&mut self) -> Result<Vec<Nexthop>> {
        match self.dump(&Object::new(kind::NEXTHOP), "nexthop objects") {
            Ok(objects) => Ok(objects.into_iter().map(Nexthop).collect()),
            Err(error) if matches!(error.errno(), Some(libc::EOPNOTSUPP | libc::EINVAL)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
