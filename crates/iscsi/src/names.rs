//! Names as libiscsi takes them.

use std::ffi::CString;

use crate::{Error, Login};

/// Names as libiscsi takes them.
pub struct Names {
    pub initiator: CString,
    pub target: CString,
    pub portal: CString,
    pub device: Option<CString>,
}

impl Names {
    /// Bytes of an iSCSI name (RFC 7143 section 4.2.7.1).
    const LONGEST: usize = 223;
    /// Bytes of an interface's name (`IFNAMSIZ` less the zero byte).
    const LONGEST_DEVICE: usize = 15;

    /// Their lengths are looked at: libiscsi cuts off what is longer than 255 bytes.
    pub fn of(login: &Login) -> Result<Names, Error> {
        let device = login.bind_device.as_deref();
        Ok(Names {
            initiator: c_name("the initiator's name", &login.initiator, Self::LONGEST)?,
            target: c_name("the target's name", &login.target, Self::LONGEST)?,
            portal: c_name("the portal", &login.portal.to_string(), Self::LONGEST)?,
            device: device.map(|name| c_name("the interface", name, Self::LONGEST_DEVICE)).transpose()?,
        })
    }
}

fn c_name(what: &'static str, value: &str, most: usize) -> Result<CString, Error> {
    let error = || Error::Name { what, value: value.to_owned(), most };
    let fits = (1..=most).contains(&value.len());
    CString::new(value).ok().filter(|_| fits).ok_or_else(error)
}
