//! Devices that stand on another one (`RTM_NEWLINK`; include/uapi/linux/if_link.h), to be made again on a third.

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};

use super::{Object, attributes, kind, nest};
use crate::Netlink;
use nicteam_sys::Result;

/// A device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device(Object);

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_IFALIAS: u16 = 20;
const IFLA_GROUP: u16 = 27;
const IFLA_NUM_TX_QUEUES: u16 = 31;
const IFLA_NUM_RX_QUEUES: u16 = 32;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_GSO_MAX_SIZE: u16 = 41;

const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_INFO_SLAVE_DATA: u16 = 5;
/// How many frames for groups wait, which the kernel tells and refuses to be told.
const IFLA_MACVLAN_BC_QUEUE_LEN_USED: u16 = 8;
const IFLA_MACVLAN_MACADDR_COUNT: u16 = 6;
/// `struct ifla_vlan_flags`: flags, and which of them are meant. The kernel tells that all bits are, and refuses to be told so.
const IFLA_VLAN_FLAGS: u16 = 2;
/// Which a VLAN device has unless it is told otherwise.
const VLAN_FLAG_REORDER_HDR: u32 = 1;

/// Places in `ifinfomsg`.
const INDEX: usize = 4;
const FLAGS: usize = 8;
const CHANGE: usize = 12;
const IFF_UP: u32 = 1;
const IFF_ALLMULTI: u32 = 0x200;
const IFF_PROMISC: u32 = 0x100;

impl Device {
    /// As a text for files.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    /// Reads such a text.
    pub fn from_hex(text: &str) -> Option<Device> {
        Object::from_hex(text).filter(|object| object.kind == kind::LINK).map(Device)
    }

    /// Interface index.
    pub fn index(&self) -> u32 {
        self.0.header_u32(INDEX)
    }

    /// Name.
    pub fn name(&self) -> &str {
        self.0.text_of(IFLA_IFNAME).unwrap_or_default()
    }

    /// Its kind; empty for hardware.
    pub fn kind(&self) -> String {
        let info = self.info();
        let text = info.iter().find(|(number, _)| *number == IFLA_INFO_KIND).map_or(&[][..], |(_, value)| value);
        String::from_utf8_lossy(text.strip_suffix(&[0]).unwrap_or(text)).into_owned()
    }

    /// The device below, if that lives in this namespace.
    pub fn below(&self) -> Option<u32> {
        self.0.u32_of(IFLA_LINK).filter(|_| self.0.attribute(IFLA_LINK_NETNSID).is_none())
    }

    /// Index of its master.
    pub fn master(&self) -> Option<u32> {
        self.0.u32_of(IFLA_MASTER)
    }

    /// Administratively up.
    pub fn is_up(&self) -> bool {
        self.0.header_u32(FLAGS) & IFF_UP != 0
    }

    /// An attribute of its kind (`IFLA_INFO_DATA`).
    pub fn data(&self, number: u16) -> Option<u32> {
        let data = self.info().into_iter().find(|(of, _)| of & super::NUMBER == IFLA_INFO_DATA)?;
        let (_, value) = attributes(&data.1)?.into_iter().find(|(of, _)| of & super::NUMBER == number)?;
        Some(u32::from_ne_bytes(value.first_chunk().copied()?))
    }

    /// The attributes of its kind.
    pub(super) fn settings(&self) -> Vec<(u16, Vec<u8>)> {
        self.nested(IFLA_INFO_DATA)
    }

    /// What its master's kind says of it.
    pub(super) fn member_settings(&self) -> Vec<(u16, Vec<u8>)> {
        self.nested(IFLA_INFO_SLAVE_DATA)
    }

    /// Its address, if that has six bytes.
    pub fn mac(&self) -> Option<[u8; 6]> {
        self.0.attribute(IFLA_ADDRESS)?.try_into().ok()
    }

    /// Its MTU, bytes.
    pub fn mtu(&self) -> u32 {
        self.0.u32_of(IFLA_MTU).unwrap_or_default()
    }

    fn nested(&self, number: u16) -> Vec<(u16, Vec<u8>)> {
        let found = self.info().into_iter().find(|(of, _)| of & super::NUMBER == number);
        found.and_then(|(_, value)| attributes(&value)).unwrap_or_default()
    }

    fn info(&self) -> Vec<(u16, Vec<u8>)> {
        attributes(self.0.attribute(IFLA_LINKINFO).unwrap_or_default()).unwrap_or_default()
    }

    /// The request that makes it, down, on another device. An MTU above that one's is refused by the kernel, so it has none then.
    fn request(&self, below: u32, largest_mtu: u32) -> Object {
        let mut object = self.0.clone();
        let flags = self.0.header_u32(FLAGS) & (IFF_ALLMULTI | IFF_PROMISC);
        object.set_header_u32(FLAGS, flags);
        object.set_header_u32(CHANGE, flags);
        let kind = self.kind();
        let own = |(number, value): (u16, Vec<u8>)| match number & super::NUMBER {
            IFLA_INFO_KIND => Some((number, value)),
            IFLA_INFO_DATA => Some((number, data_of(&kind, &value))),
            _ => None,
        };
        let info: Vec<_> = self.info().into_iter().filter_map(own).collect();
        object.keep(&[
            IFLA_ADDRESS,
            IFLA_IFNAME,
            IFLA_MTU,
            IFLA_TXQLEN,
            IFLA_IFALIAS,
            IFLA_GROUP,
            IFLA_NUM_TX_QUEUES,
            IFLA_NUM_RX_QUEUES,
            IFLA_GSO_MAX_SEGS,
            IFLA_GSO_MAX_SIZE,
            IFLA_LINKINFO,
        ]);
        if object.u32_of(IFLA_MTU).is_some_and(|mtu| mtu > largest_mtu) {
            object.remove(&[IFLA_MTU]);
        }
        object.set_u32(IFLA_LINK, below);
        object.set(IFLA_LINKINFO, nest(&info));
        object
    }
}

/// The settings of a kind, without what it only tells.
fn data_of(kind: &str, value: &[u8]) -> Vec<u8> {
    let told: &[u16] = if matches!(kind, "macvlan" | "macvtap") {
        &[IFLA_MACVLAN_BC_QUEUE_LEN_USED, IFLA_MACVLAN_MACADDR_COUNT]
    } else {
        &[]
    };
    let mut kept = attributes(value).unwrap_or_default();
    kept.retain(|(number, _)| !told.contains(&(number & super::NUMBER)));
    if kind == "vlan" {
        set_vlan_flags(&mut kept);
    }
    nest(&kept)
}

/// The flags of a VLAN device as the kernel takes them. It does not tell them where none is set.
fn set_vlan_flags(settings: &mut Vec<(u16, Vec<u8>)>) {
    let told = settings.iter().position(|(number, _)| number & super::NUMBER == IFLA_VLAN_FLAGS);
    let told = told.map(|at| settings.remove(at).1);
    let flags = told.and_then(|value| value.first_chunk().copied()).map_or(0, u32::from_ne_bytes);
    let meant = flags | VLAN_FLAG_REORDER_HDR;
    settings.push((IFLA_VLAN_FLAGS, [flags.to_ne_bytes(), meant.to_ne_bytes()].concat()));
}

impl Netlink {
    /// The devices of the namespace, as the kernel tells them.
    pub fn devices(&mut self) -> Result<Vec<Device>> {
        Ok(self.dump(&Object::new(kind::LINK), "devices")?.into_iter().map(Device).collect())
    }

    /// Makes a device of the same name, index, address, kind and settings again, down, on device `below`. Its old self has to be gone.
    pub fn add_device(&mut self, device: &Device, below: u32, largest_mtu: u32) -> Result<()> {
        let request = device.request(below, largest_mtu);
        let operation = || format!("make the {} {} on device {below}", device.kind(), device.name());
        self.make(&request, NLM_F_CREATE | NLM_F_EXCL, operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_asked_for_without_what_the_kernel_only_tells() {
        let mut object = Object::new(kind::LINK);
        object.set_header_u32(INDEX, 9);
        object.set_header_u32(FLAGS, IFF_UP | IFF_PROMISC);
        object.set_text(IFLA_IFNAME, "mac0");
        object.set_u32(IFLA_MTU, 9000);
        object.set_u32(IFLA_LINK, 3);
        object.set_u32(50, 7);
        let data = nest(&[(1, vec![4, 0, 0, 0]), (IFLA_MACVLAN_BC_QUEUE_LEN_USED, vec![0; 4])]);
        object.set(IFLA_LINKINFO, nest(&[(IFLA_INFO_KIND, b"macvlan\0".to_vec()), (IFLA_INFO_DATA, data)]));
        let device = Device(object);
        assert_eq!((device.kind().as_str(), device.below(), device.data(1)), ("macvlan", Some(3), Some(4)));
        let request = Device(device.request(12, 1500));
        assert_eq!((request.below(), request.data(1), request.data(8)), (Some(12), Some(4), None));
        assert_eq!((request.0.attribute(50), request.0.u32_of(IFLA_MTU), request.is_up()), (None, None, false));
        assert_eq!((request.name(), request.index()), ("mac0", 9));
    }

    #[test]
    fn a_vlan_device_is_asked_for_with_its_own_flags_alone() {
        let id = (1, vec![7, 0]);
        for (flags, meant) in [(VLAN_FLAG_REORDER_HDR, 1), (0, 1), (4, 5)] {
            let pair = |mask: u32| (IFLA_VLAN_FLAGS, [u32::to_ne_bytes(flags), mask.to_ne_bytes()].concat());
            let told = if flags == 0 { vec![id.clone()] } else { vec![id.clone(), pair(u32::MAX)] };
            assert_eq!(attributes(&data_of("vlan", &nest(&told))).unwrap(), [id.clone(), pair(meant)]);
        }
    }
}
