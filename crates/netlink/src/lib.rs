//! The kernel's netlink interfaces: links, addresses, routes and filters by route netlink; shaping, nf_tables, TCP sockets,
//! MPTCP endpoints and TCP metrics beside them. Without policy, and without `unsafe`.
#![forbid(unsafe_code)]

use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, BridgeStpState, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags,
    LinkInfo, LinkMessage,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;

use nicteam_sys::{Context, Result};

mod addr_gen_mode;
mod bond;
mod connection;
mod discipline;
mod filter;
mod generic;
pub mod inet_diag;
mod learned;
mod link;
mod monitor;
pub mod mptcp;
pub mod nft;
pub mod object;
mod route;
pub mod shape;
pub mod tcp_metrics;
mod vlan;

pub use addr_gen_mode::AddrGenMode;
pub use bond::{BondAggregate, BondMember, BondOption};
use connection::Connection;
pub use discipline::Discipline;
pub use filter::{FilterPlace, IngressFilter};
pub use learned::{Learned, Moves};
use link::Described;
pub use link::{Link, LinkStats};
pub use monitor::{Change, Monitor};

/// Bytes of the longest alias that [`Netlink::set_alias`] can set (`IFALIASZ`, less its end and the message's).
pub const MAX_ALIAS: usize = 254;

/// A route netlink socket, of the namespace it was opened in. Requests wait for their answer.
#[derive(Debug)]
pub struct Netlink {
    connection: Connection,
}

/// One end of a veth pair to be.
#[derive(Clone, Debug)]
pub struct VethEnd<'a> {
    /// Device name.
    pub name: &'a str,
    /// Interface index; give every end of a machine its own (two ends with the
    /// same index learn of carrier loss up to a second late). `None`: the kernel's choice.
    pub index: Option<u32>,
    /// Address; `None`: random.
    pub mac: Option<[u8; 6]>,
    /// Namespace it is to live in; `None`: the socket's own.
    pub netns: Option<BorrowedFd<'a>>,
    /// Most packets in a GSO frame; 1 makes every frame an MTU-sized packet. `None`: the kernel's choice.
    pub gso_max_segs: Option<u32>,
}

impl Netlink {
    /// In the caller's network namespace.
    pub fn open() -> Result<Netlink> {
        let connection = Connection::open(NETLINK_ROUTE).context(|| "open a route netlink socket".to_owned())?;
        Ok(Netlink { connection })
    }

    /// Makes a veth pair.
    pub fn add_veth(&mut self, a: &VethEnd<'_>, b: &VethEnd<'_>, mtu: u32) -> Result<()> {
        self.add_veth_of_mtus(a, b, [mtu; 2])
    }

    /// The same, with an MTU for each end. An end that is sent a larger packet drops it and counts it as dropped; a GSO
    /// frame it takes whatever its size (`is_skb_forwardable` of Linux net/core/dev.c).
    pub fn add_veth_of_mtus(&mut self, a: &VethEnd<'_>, b: &VethEnd<'_>, mtus: [u32; 2]) -> Result<()> {
        self.add_veth_receiving_by(a, b, mtus, [None; 2])
    }

    /// The same, where each end receives by so many queues, if a number is given.
    pub fn add_veth_receiving_by(
        &mut self,
        a: &VethEnd<'_>,
        b: &VethEnd<'_>,
        mtus: [u32; 2],
        rx_queues: [Option<u32>; 2],
    ) -> Result<()> {
        let end = |end, place: usize| {
            let mut link = veth_end(end, mtus[place]);
            link.attributes.extend(rx_queues[place].map(LinkAttribute::NumRxQueues));
            link
        };
        let mut link = end(a, 0);
        let peer = InfoData::Veth(InfoVeth::Peer(end(b, 1)));
        link.attributes.push(LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(peer)]));
        self.create(link, || format!("make the veth pair {}/{}", a.name, b.name))
    }

    /// The same with one MTU; `a` sends by so many queues, if a number is given.
    pub fn add_veth_with_queues(
        &mut self,
        a: &VethEnd<'_>,
        b: &VethEnd<'_>,
        mtu: u32,
        tx_queues: Option<u32>,
    ) -> Result<()> {
        let mut link = veth_end(a, mtu);
        link.attributes.extend(tx_queues.map(LinkAttribute::NumTxQueues));
        link.attributes.push(veth_peer(b, mtu));
        self.create(link, || format!("make the veth pair {}/{}", a.name, b.name))
    }

    /// Makes a learning bridge with spanning tree and multicast snooping off.
    pub fn add_bridge(&mut self, name: &str) -> Result<()> {
        let options = vec![InfoBridge::StpState(BridgeStpState::Disabled), InfoBridge::MulticastSnooping(false)];
        let mut link = LinkMessage::default();
        link.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(options))]),
        ];
        self.create(link, || format!("make the bridge {name}"))
    }

    /// Removes a device.
    pub fn delete(&mut self, index: u32) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        self.done(RouteNetlinkMessage::DelLink(link), 0, || format!("delete device {index}"))
    }

    /// Sets a device up or down.
    pub fn set_up(&mut self, index: u32, up: bool) -> Result<()> {
        let direction = if up { "up" } else { "down" };
        self.set_flag(index, LinkFlags::Up, up, || format!("set device {index} {direction}"))
    }

    /// Lets a device take all multicast frames, or those of its own groups alone.
    /// It stays so when this process ends, and what others want of it is not touched.
    pub fn set_all_multicast(&mut self, index: u32, on: bool) -> Result<()> {
        self.set_flag(index, LinkFlags::Allmulti, on, || format!("set allmulticast of device {index} to {on}"))
    }

    /// Lets a device take every frame, or those for it alone. It stays so when
    /// this process ends, and what others want of it is not touched.
    pub fn set_promiscuous(&mut self, index: u32, on: bool) -> Result<()> {
        self.set_flag(index, LinkFlags::Promisc, on, || format!("set promisc of device {index} to {on}"))
    }

    /// Renames a device; older kernels (before 6.2) refuse while it is up.
    pub fn set_name(&mut self, index: u32, name: &str) -> Result<()> {
        self.set(index, LinkAttribute::IfName(name.to_owned()), || format!("rename device {index} to {name}"))
    }

    /// Sets the address.
    pub fn set_mac(&mut self, index: u32, mac: [u8; 6]) -> Result<()> {
        self.set(index, LinkAttribute::Address(mac.to_vec()), || {
            let [a, b, c, d, e, f] = mac;
            format!("set the address of device {index} to {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
        })
    }

    /// Sets the MTU, bytes.
    pub fn set_mtu(&mut self, index: u32, mtu: u32) -> Result<()> {
        self.set(index, LinkAttribute::Mtu(mtu), || format!("set the MTU of device {index} to {mtu}"))
    }

    /// Sets the largest GSO frame: bytes, packets.
    pub fn set_gso_max(&mut self, index: u32, size: u32, segs: u32) -> Result<()> {
        let attributes = vec![LinkAttribute::GsoMaxSize(size), LinkAttribute::GsoMaxSegs(segs)];
        self.set_all(index, attributes, || {
            format!("set the largest GSO frame of device {index} to {size} bytes, {segs} packets")
        })
    }

    /// Puts a device under a master (bridge), or takes it out.
    pub fn set_master(&mut self, index: u32, master: Option<u32>) -> Result<()> {
        self.set(index, LinkAttribute::Controller(master.unwrap_or(0)), || match master {
            Some(master) => format!("put device {index} under device {master}"),
            None => format!("take device {index} out of its master"),
        })
    }

    /// Moves a device to another namespace, under another name.
    pub fn move_to(&mut self, index: u32, netns: BorrowedFd<'_>, name: &str) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes = vec![LinkAttribute::NetNsFd(netns.as_raw_fd()), LinkAttribute::IfName(name.to_owned())];
        self.done(RouteNetlinkMessage::SetLink(link), 0, || format!("move device {index} as {name}"))
    }

    /// Keeps IPv6 from giving the device an address by itself (`addr_gen_mode none`).
    pub fn set_no_ipv6_address(&mut self, index: u32) -> Result<()> {
        self.set_addr_gen_mode(index, AddrGenMode::None)
    }

    /// Sets how the device makes an IPv6 address by itself, from the next time it comes up.
    ///
    /// # Errors
    /// `EAFNOSUPPORT` for a device without IPv6 (an MTU below 1280 takes it away).
    pub fn set_addr_gen_mode(&mut self, index: u32, mode: AddrGenMode) -> Result<()> {
        let inet6 = AfSpecUnspec::Inet6(vec![AfSpecInet6::AddrGenMode(mode.into())]);
        self.set(index, LinkAttribute::AfSpecUnspec(vec![inet6]), || {
            format!("set the addrgenmode of device {index} to {mode}")
        })
    }

    /// Sets the note for people, at most [`MAX_ALIAS`] bytes; empty: removes it.
    pub fn set_alias(&mut self, index: u32, alias: &str) -> Result<()> {
        self.set(index, LinkAttribute::IfAlias(alias.to_owned()), || {
            format!("set the alias of device {index} to `{alias}`")
        })
    }

    /// The device of this name; `None` if there is none.
    pub fn link(&mut self, name: &str) -> Result<Option<Link>> {
        let mut request = LinkMessage::default();
        request.attributes = vec![LinkAttribute::IfName(name.to_owned())];
        self.find(request, || format!("read device {name}"))
    }

    /// The device of this index; `None` if there is none.
    pub fn link_at(&mut self, index: u32) -> Result<Option<Link>> {
        let mut request = LinkMessage::default();
        request.header.index = index;
        self.find(request, || format!("read device {index}"))
    }

    /// The device of this index as soon as it is what the caller waits for, or else as it is after `patience`; `None` if there is
    /// none.
    pub fn link_once(
        &mut self,
        index: u32,
        patience: Duration,
        is_ready: impl Fn(&Link) -> bool,
    ) -> Result<Option<Link>> {
        /// From one look to the next.
        const LOOK: Duration = Duration::from_millis(1);
        let start = Instant::now();
        loop {
            match self.link_at(index)? {
                Some(link) if !is_ready(&link) && start.elapsed() < patience => std::thread::sleep(LOOK),
                link => return Ok(link),
            }
        }
    }

    /// Every device of the namespace.
    pub fn links(&mut self) -> Result<Vec<Link>> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers: Vec<Described> = self.connection.ask(request, NLM_F_DUMP, || "list the devices".to_owned())?;
        Ok(answers.into_iter().filter_map(|answer| answer.0).collect())
    }

    /// Adds an address; IPv6 without duplicate address detection if `nodad`.
    pub fn add_address(&mut self, index: u32, address: IpAddr, prefix: u8, nodad: bool) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        if nodad && address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        let request = RouteNetlinkMessage::NewAddress(message);
        self.done(request, NLM_F_CREATE | NLM_F_EXCL, || format!("add {address}/{prefix} to device {index}"))
    }

    /// The addresses of a device, with prefix lengths.
    pub fn addresses(&mut self, index: u32) -> Result<Vec<(IpAddr, u8)>> {
        let all = self.all_addresses()?.into_iter().filter(|&(of, ..)| of == index);
        Ok(all.map(|(_, address, prefix)| (address, prefix)).collect())
    }

    /// The addresses of every device: its index, the address, the prefix length.
    pub fn all_addresses(&mut self) -> Result<Vec<(u32, IpAddr, u8)>> {
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let answers = self.request(request, NLM_F_DUMP, || "list the addresses".to_owned())?;
        let address = |message: RouteNetlinkMessage| match message {
            RouteNetlinkMessage::NewAddress(message) => {
                own_address(&message).map(|(address, prefix)| (message.header.index, address, prefix))
            }
            _ => None,
        };
        Ok(answers.into_iter().filter_map(address).collect())
    }

    /// Sends a request and returns what the kernel answers beside its acknowledgement.
    pub(crate) fn request(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
        operation: impl Fn() -> String,
    ) -> Result<Vec<RouteNetlinkMessage>> {
        self.connection.request(message, flags, operation)
    }

    /// Sends a request that has no answer but its acknowledgement.
    pub(crate) fn done(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
        operation: impl Fn() -> String,
    ) -> Result<()> {
        self.request(message, flags, operation).map(drop)
    }

    fn find(&mut self, request: LinkMessage, operation: impl Fn() -> String) -> Result<Option<Link>> {
        match self.connection.ask::<_, Described>(RouteNetlinkMessage::GetLink(request), 0, operation) {
            Ok(answers) => Ok(answers.into_iter().find_map(|answer| answer.0)),
            Err(error) if error.errno() == Some(libc::ENODEV) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&mut self, link: LinkMessage, operation: impl Fn() -> String) -> Result<()> {
        self.done(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL, operation)
    }

    fn set_flag(&mut self, index: u32, flag: LinkFlags, on: bool, operation: impl Fn() -> String) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = if on { flag } else { LinkFlags::empty() };
        link.header.change_mask = flag;
        self.done(RouteNetlinkMessage::SetLink(link), 0, operation)
    }

    fn set(&mut self, index: u32, attribute: LinkAttribute, operation: impl Fn() -> String) -> Result<()> {
        self.set_all(index, vec![attribute], operation)
    }

    fn set_all(&mut self, index: u32, attributes: Vec<LinkAttribute>, operation: impl Fn() -> String) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes = attributes;
        self.done(RouteNetlinkMessage::SetLink(link), 0, operation)
    }
}

/// The device's own address: `IFA_LOCAL`, which IPv6 leaves out unless there is a peer's in `IFA_ADDRESS`.
fn own_address(message: &AddressMessage) -> Option<(IpAddr, u8)> {
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    let address = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(address) => Some(*address),
        _ => None,
    });
    Some((local.or(address)?, message.header.prefix_len))
}

/// The other end of a veth pair, as an attribute of the first.
fn veth_peer(end: &VethEnd<'_>, mtu: u32) -> LinkAttribute {
    LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(veth_end(end, mtu)))),
    ])
}

fn veth_end(end: &VethEnd<'_>, mtu: u32) -> LinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = end.index.unwrap_or(0);
    link.attributes = vec![LinkAttribute::IfName(end.name.to_owned()), LinkAttribute::Mtu(mtu)];
    link.attributes.extend(end.mac.map(|mac| LinkAttribute::Address(mac.to_vec())));
    link.attributes.extend(end.netns.map(|netns| LinkAttribute::NetNsFd(netns.as_raw_fd())));
    link.attributes.extend(end.gso_max_segs.map(LinkAttribute::GsoMaxSegs));
    link
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Reads a datagram as those who listen do; true if it says something to one of them.
#[doc(hidden)]
pub fn reads(datagram: &[u8]) -> bool {
    connection::messages(datagram).fold(false, |understood, message| {
        let change = monitor::decode(message).filter(|change| *change != Change::Lost);
        understood | learned::decode(message).is_some() | change.is_some()
    })
}
