//! VLAN devices (802.1Q).

use netlink_packet_route::link::{InfoData, InfoKind, InfoVlan, LinkAttribute, LinkInfo, LinkMessage};

use super::Netlink;
use nicteam_sys::Result;

impl Netlink {
    /// Makes a device, down, whose frames are those of another one with this VLAN ID (1 to 4094).
    ///
    /// # Errors
    /// `EOPNOTSUPP` where the kernel has no 8021q, `ERANGE` for another VLAN ID.
    pub fn add_vlan(&mut self, name: &str, on: u32, id: u16) -> Result<()> {
        let mut link = LinkMessage::default();
        link.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Link(on),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Vlan),
                LinkInfo::Data(InfoData::Vlan(vec![InfoVlan::Id(id)])),
            ]),
        ];
        self.create(link, || format!("make the VLAN device {name}"))
    }
}
