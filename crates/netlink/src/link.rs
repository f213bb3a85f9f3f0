//! A device as the kernel describes it (`RTM_NEWLINK`).

use netlink_packet_core::{DecodeError, NetlinkDeserializable, NetlinkHeader, NlasIterator, ParseableParametrized};
use netlink_packet_route::link::{
    InfoData, InfoMacVlan, InfoVlan, LinkAttribute, LinkFlags, LinkHeader, LinkInfo, LinkMessage, MacVlanMode, Prop,
    Stats64,
};

use super::addr_gen_mode::{self, AddrGenMode};
use nicteam_sys::packet::Tag;

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Interface index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Its other names (`IFLA_PROP_LIST`): udev gives a device all the names that it could have had.
    pub alternative_names: Vec<String>,
    /// Kind (`veth`, `bridge`); empty for hardware.
    pub kind: String,
    /// Address; zero for a device that has none of six bytes.
    pub mac: [u8; 6],
    /// The address that it was made with (`IFLA_PERM_ADDRESS`), of hardware; `None` where the driver tells none.
    pub permanent_mac: Option<[u8; 6]>,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Administratively up.
    pub up: bool,
    /// Carrier (`IFF_LOWER_UP`).
    pub carrier: bool,
    /// The kernel sends by it (`IFF_RUNNING`). A worker of the kernel takes notice of a carrier a moment after the driver, on a busy
    /// machine later; what is sent before is dropped without a word (Linux net/core/link_watch.c).
    pub running: bool,
    /// Somebody has set it to take all multicast frames (`IFF_ALLMULTI`).
    pub all_multicast: bool,
    /// Somebody has set it to take every frame (`IFF_PROMISC`).
    pub promiscuous: bool,
    /// It takes every frame, because somebody has set it to or something on top
    /// of it or a socket wants them (`IFLA_PROMISCUITY`).
    pub takes_all: bool,
    /// Index of the master (bridge), if there is one.
    pub master: Option<u32>,
    /// Index of the device at the other end for veth, of the device below for
    /// VLANs and their kin (`IFLA_LINK`). It counts in the namespace of that device.
    pub peer: Option<u32>,
    /// True if that is another namespace (`IFLA_LINK_NETNSID`).
    pub peer_elsewhere: bool,
    /// The tag, without priority, of the frames that a VLAN device sends.
    pub vlan: Option<Tag>,
    /// The mode of a macvlan: `private`, `vepa`, `bridge`, `passthru` or `source`.
    pub macvlan_mode: Option<String>,
    /// Largest GSO frame, bytes (`IFLA_GSO_MAX_SIZE`).
    pub gso_max_size: u32,
    /// Most packets in one (`IFLA_GSO_MAX_SEGS`).
    pub gso_max_segs: u32,
    /// A note for people (`IFLA_IFALIAS`); empty if there is none.
    pub alias: String,
    /// How it makes an IPv6 address by itself; `None` for a device without IPv6.
    pub addr_gen_mode: Option<AddrGenMode>,
    /// Traffic counters.
    pub stats: LinkStats,
}

/// Counters of a device (`IFLA_STATS64`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Frames received.
    pub rx_frames: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Frames dropped on the way in.
    pub rx_drops: u64,
    /// Frames received damaged.
    pub rx_errors: u64,
    /// Frames for which the device had no place.
    pub rx_missed: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames dropped on the way out.
    pub tx_drops: u64,
    /// Frames that the device could not send.
    pub tx_errors: u64,
    /// Frames that met another one when they had been sent for long (IEEE 802.3: late collisions).
    pub late_collisions: u64,
}

/// A decoded `RTM_NEWLINK`.
pub(super) fn link_of(message: &LinkMessage) -> Link {
    let mut link = Link {
        index: message.header.index,
        up: message.header.flags.contains(LinkFlags::Up),
        carrier: message.header.flags.contains(LinkFlags::LowerUp),
        running: message.header.flags.contains(LinkFlags::Running),
        all_multicast: message.header.flags.contains(LinkFlags::Allmulti),
        promiscuous: message.header.flags.contains(LinkFlags::Promisc),
        ..Link::default()
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name.clone_from(name),
            LinkAttribute::Address(bytes) => link.mac = bytes.as_slice().try_into().unwrap_or_default(),
            LinkAttribute::Mtu(mtu) => link.mtu = *mtu,
            LinkAttribute::Controller(index) => link.master = Some(*index),
            LinkAttribute::Link(index) => link.peer = Some(*index),
            LinkAttribute::GsoMaxSize(bytes) => link.gso_max_size = *bytes,
            LinkAttribute::GsoMaxSegs(packets) => link.gso_max_segs = *packets,
            LinkAttribute::IfAlias(alias) => link.alias.clone_from(alias),
            LinkAttribute::AfSpecUnspec(families) => link.addr_gen_mode = addr_gen_mode::of(families),
            LinkAttribute::Stats64(stats) => link.stats = stats_of(stats),
            LinkAttribute::LinkInfo(infos) => {
                (link.kind, link.vlan) = (kind_of(infos), vlan_of(infos));
                link.macvlan_mode = macvlan_mode_of(infos);
            }
            LinkAttribute::LinkNetNsId(_) => link.peer_elsewhere = true,
            LinkAttribute::Promiscuity(count) => link.takes_all = *count > 0,
            LinkAttribute::PermAddress(bytes) => link.permanent_mac = bytes.as_slice().try_into().ok(),
            LinkAttribute::PropList(list) => link.alternative_names = names_of(list),
            _ => {}
        }
    }
    link
}

/// An answer to a request for devices; none if it is something else. The kernel sends some 60 attributes of each device; those
/// that a [`Link`] has are decoded, and the others are not.
#[derive(Debug)]
pub(super) struct Described(pub(super) Option<Link>);

impl NetlinkDeserializable for Described {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Described, DecodeError> {
        if header.message_type != libc::RTM_NEWLINK {
            return Ok(Described(None));
        }
        let mut message = LinkMessage::default();
        message.header = LinkHeader::parse(payload)?;
        let family = message.header.interface_family;
        for attribute in NlasIterator::new(payload.get(HEADER_BYTES..).unwrap_or_default()) {
            let attribute = attribute?;
            if READ.contains(&attribute.kind()) {
                message.attributes.push(LinkAttribute::parse_with_param(&attribute, family)?);
            }
        }
        Ok(Described(Some(link_of(&message))))
    }
}

/// `struct ifinfomsg`.
const HEADER_BYTES: usize = 16;
/// The attributes that [`link_of`] reads.
const READ: [u16; 15] = [
    libc::IFLA_ADDRESS,
    libc::IFLA_IFNAME,
    libc::IFLA_MTU,
    libc::IFLA_LINK,
    libc::IFLA_MASTER,
    libc::IFLA_LINKINFO,
    libc::IFLA_IFALIAS,
    libc::IFLA_STATS64,
    libc::IFLA_AF_SPEC,
    libc::IFLA_PROMISCUITY,
    libc::IFLA_LINK_NETNSID,
    libc::IFLA_GSO_MAX_SEGS,
    libc::IFLA_GSO_MAX_SIZE,
    libc::IFLA_PROP_LIST,
    libc::IFLA_PERM_ADDRESS,
];

fn names_of(list: &[Prop]) -> Vec<String> {
    let name = |prop: &Prop| match prop {
        Prop::AltIfName(name) => Some(name.clone()),
        _ => None,
    };
    list.iter().filter_map(name).collect()
}

fn kind_of(infos: &[LinkInfo]) -> String {
    let kind = infos.iter().find_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    });
    kind.unwrap_or_default()
}

fn vlan_of(infos: &[LinkInfo]) -> Option<Tag> {
    let data = infos.iter().find_map(|info| match info {
        LinkInfo::Data(InfoData::Vlan(data)) => Some(data),
        _ => None,
    })?;
    let id = data.iter().find_map(|info| if let InfoVlan::Id(id) = info { Some(*id) } else { None })?;
    let protocol = data.iter().find_map(|info| if let InfoVlan::Protocol(of) = info { Some(*of) } else { None });
    Some(Tag { protocol: protocol.unwrap_or_default().into(), tci: id })
}

/// By the names of `ip link`.
fn macvlan_mode_of(infos: &[LinkInfo]) -> Option<String> {
    let data = infos.iter().find_map(|info| match info {
        LinkInfo::Data(InfoData::MacVlan(data)) => Some(data),
        _ => None,
    })?;
    let mode = data.iter().find_map(|info| if let InfoMacVlan::Mode(mode) = info { Some(mode) } else { None })?;
    let name = match mode {
        MacVlanMode::Private => "private",
        MacVlanMode::Vepa => "vepa",
        MacVlanMode::Bridge => "bridge",
        MacVlanMode::Passthrough => "passthru",
        MacVlanMode::Source => "source",
        _ => return None,
    };
    Some(name.to_owned())
}

fn stats_of(stats: &Stats64) -> LinkStats {
    LinkStats {
        rx_frames: stats.rx_packets,
        rx_bytes: stats.rx_bytes,
        rx_drops: stats.rx_dropped,
        rx_errors: stats.rx_errors,
        rx_missed: stats.rx_missed_errors.saturating_add(stats.rx_fifo_errors),
        tx_frames: stats.tx_packets,
        tx_bytes: stats.tx_bytes,
        tx_drops: stats.tx_dropped,
        tx_errors: stats.tx_errors,
        late_collisions: stats.tx_window_errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::Emitable;
    use netlink_packet_route::link::{AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoKind, VlanProtocol};

    #[test]
    fn nothing_that_a_link_has_is_left_undecoded() {
        let mut message = LinkMessage::default();
        message.header.index = 7;
        message.header.flags = LinkFlags::Up;
        let mut stats = Stats64::default();
        stats.rx_bytes = 9;
        let name = "eth0".to_owned();
        let settings = AfSpecInet6::AddrGenMode(In6AddrGenMode::Random);
        message.attributes = vec![
            LinkAttribute::IfName(name.clone()),
            LinkAttribute::Address(vec![2, 0, 0, 0, 0, 1]),
            LinkAttribute::PermAddress(vec![2, 0, 0, 0, 0, 2]),
            LinkAttribute::Mtu(9000),
            LinkAttribute::Controller(3),
            LinkAttribute::Link(4),
            LinkAttribute::LinkNetNsId(1),
            LinkAttribute::GsoMaxSize(65_536),
            LinkAttribute::GsoMaxSegs(17),
            LinkAttribute::IfAlias("of a user".to_owned()),
            LinkAttribute::Promiscuity(1),
            LinkAttribute::PropList(vec![Prop::AltIfName(name)]),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth)]),
            LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![settings])]),
            LinkAttribute::Stats64(stats),
        ];
        assert_eq!(message.attributes.len(), READ.len());
        let whole = link_of(&message);
        assert_eq!((whole.kind.as_str(), whole.stats.rx_bytes, whole.alternative_names.len()), ("veth", 9, 1));
        // Each attribute changes something, so one that were left out would be missed.
        for at in 0..message.attributes.len() {
            let mut less = message.clone();
            less.attributes.remove(at);
            assert_ne!(link_of(&less), whole, "{:?}", message.attributes[at]);
        }
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        let mut header = NetlinkHeader::default();
        header.message_type = libc::RTM_NEWLINK;
        assert_eq!(Described::deserialize(&header, &bytes).unwrap().0, Some(whole));
        header.message_type = libc::RTM_NEWADDR;
        assert_eq!(Described::deserialize(&header, &bytes).unwrap().0, None);
    }

    #[test]
    fn a_vlan_device_tells_its_tag_and_what_is_below() {
        let of = |data: Vec<InfoVlan>| {
            let mut message = LinkMessage::default();
            message.attributes = vec![
                LinkAttribute::Link(12),
                LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Vlan), LinkInfo::Data(InfoData::Vlan(data))]),
            ];
            link_of(&message)
        };
        let link = of(vec![InfoVlan::Protocol(VlanProtocol::Ieee8021Ad), InfoVlan::Id(7)]);
        assert_eq!((link.kind.as_str(), link.peer, link.peer_elsewhere), ("vlan", Some(12), false));
        assert_eq!(link.vlan, Some(Tag { protocol: 0x88a8, tci: 7 }));
        assert_eq!(of(vec![InfoVlan::Id(4094)]).vlan, Some(Tag { protocol: 0x8100, tci: 4094 }), "older kernels");
        assert_eq!(of(Vec::new()).vlan, None);
    }
}
