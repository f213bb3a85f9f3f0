//! Routes (`RTM_NEWROUTE`; include/uapi/linux/rtnetlink.h).

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_APPEND, NLM_F_CREATE};

use super::{Object, attributes, family, kind, octets, write_attributes};
use crate::Netlink;
use nicteam_sys::Result;

/// A route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route(Object);

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_MULTIPATH: u16 = 9;
const RTA_CACHEINFO: u16 = 12;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_PREF: u16 = 20;
const RTA_EXPIRES: u16 = 23;
const RTA_NH_ID: u16 = 30;

/// Places in `rtmsg`.
const DST_LEN: usize = 1;
const TABLE: usize = 4;
const PROTOCOL: usize = 5;
const SCOPE: usize = 6;
const TYPE: usize = 7;
const FLAGS: usize = 8;

const RT_TABLE_MAIN: u8 = 254;
const RT_TABLE_LOCAL: u32 = 255;
const RTPROT_KERNEL: u8 = 2;
const RTPROT_BOOT: u8 = 3;
const RTPROT_RA: u8 = 9;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
/// It was copied for a neighbour (`RTM_F_CLONED`).
const CLONED: u32 = 0x200;
/// The gateway is on the link, whatever other routes say (`RTNH_F_ONLINK`): all else of the flags is the kernel's to find out.
const ONLINK: u32 = 4;
/// What a route of IPv6 has that nobody gave a metric (`IP6_RT_PRIO_USER`).
const USUAL_METRIC_V6: u32 = 1024;
/// Place of the type of service in `rtmsg`.
const TOS: usize = 3;
/// Place of the end in `rta_cacheinfo`.
const EXPIRES: usize = 8;
/// Clock ticks of netlink a second (`USER_HZ`).
const TICKS: u32 = 100;

impl Route {
    /// One as `ip route add` makes it. `table` 0: the main one.
    pub fn new(to: (IpAddr, u8), via: Option<IpAddr>, index: u32, metric: Option<u32>, table: Option<u32>) -> Route {
        let mut object = Object::new(kind::ROUTE);
        object.set_byte(0, family(to.0));
        object.set_byte(DST_LEN, to.1);
        object.set_byte(TABLE, RT_TABLE_MAIN);
        object.set_byte(PROTOCOL, RTPROT_BOOT);
        let on_link = via.is_none() && to.0.is_ipv4();
        object.set_byte(SCOPE, if on_link { RT_SCOPE_LINK } else { RT_SCOPE_UNIVERSE });
        object.set_byte(TYPE, RTN_UNICAST);
        if let Some(table) = table.filter(|table| *table != 0) {
            object.set_byte(TABLE, u8::try_from(table).unwrap_or(0));
            object.set_u32(RTA_TABLE, table);
        }
        if to.1 > 0 {
            object.set(RTA_DST, octets(to.0));
        }
        match via {
            Some(via) if via.is_ipv4() == to.0.is_ipv4() => object.set(RTA_GATEWAY, octets(via)),
            // IPv4 by way of an IPv6 neighbour.
            Some(via) => object.set(RTA_VIA, [&u16::from(family(via)).to_ne_bytes()[..], &octets(via)].concat()),
            None => {}
        }
        object.set_u32(RTA_OIF, index);
        if let Some(metric) = metric {
            object.set_u32(RTA_PRIORITY, metric);
        }
        Route(object)
    }

    /// As a text for files.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    /// Reads such a text.
    pub fn from_hex(text: &str) -> Option<Route> {
        Object::from_hex(text).filter(|object| object.kind == kind::ROUTE).map(Route)
    }

    /// The devices that it leads over, one a next hop.
    pub fn devices(&self) -> Vec<u32> {
        let one = self.0.u32_of(RTA_OIF).into_iter();
        one.chain(self.hops().iter().map(|hop| hop.index())).collect()
    }

    /// The nexthop object that it leads over (`ip nexthop`), if it names one.
    pub fn nexthop(&self) -> Option<u32> {
        self.0.u32_of(RTA_NH_ID)
    }

    /// Where it leads; `None` for a family that is neither IPv4 nor IPv6.
    pub fn to(&self) -> Option<(IpAddr, u8)> {
        let any = match i32::from(self.0.byte(0)) {
            libc::AF_INET => IpAddr::from([0; 4]),
            libc::AF_INET6 => IpAddr::from([0_u8; 16]),
            _ => return None,
        };
        Some((self.0.address_of(RTA_DST).unwrap_or(any), self.0.byte(DST_LEN)))
    }

    /// Its next hop, if it has one alone.
    pub fn via(&self) -> Option<IpAddr> {
        self.0.address_of(RTA_GATEWAY).or_else(|| super::address(self.0.attribute(RTA_VIA)?.get(2..)?))
    }

    /// The source address that it proposes.
    pub fn source(&self) -> Option<IpAddr> {
        self.0.address_of(RTA_PREFSRC)
    }

    /// Its metric; 0 without one.
    pub fn metric(&self) -> u32 {
        self.0.u32_of(RTA_PRIORITY).unwrap_or_default()
    }

    /// Its table; 254 is the main one.
    pub fn table(&self) -> u32 {
        self.0.u32_of(RTA_TABLE).unwrap_or_else(|| u32::from(self.0.byte(TABLE)))
    }

    /// One of the kernel's own, which comes and goes with an address or a device: of table `local`, for groups, or copied for a neighbour.
    pub fn is_automatic(&self) -> bool {
        let by_kernel = self.0.byte(PROTOCOL) == RTPROT_KERNEL;
        let not_unicast = self.0.byte(TYPE) != RTN_UNICAST;
        self.0.header_u32(FLAGS) & CLONED != 0 || by_kernel && (self.table() == RT_TABLE_LOCAL || not_unicast)
    }

    /// It came with an address (`proto kernel`).
    pub fn is_connected(&self) -> bool {
        self.0.byte(PROTOCOL) == RTPROT_KERNEL
    }

    /// A router advertised it.
    pub fn is_advertised(&self) -> bool {
        self.0.byte(PROTOCOL) == RTPROT_RA
    }

    /// True if it names a next hop, so that there has to be a route to that first.
    pub fn has_gateway(&self) -> bool {
        self.via().is_some() || self.0.attribute(RTA_MULTIPATH).is_some()
    }

    /// True for another way to the same destination with the same metric in the same table: the kernel uses one of both.
    pub fn is_other_way_of(&self, other: &Route) -> bool {
        let key = |route: &Route| {
            let metric = match route.metric() {
                0 if i32::from(route.0.byte(0)) == libc::AF_INET6 => USUAL_METRIC_V6,
                metric => metric,
            };
            (route.to(), route.table(), metric, route.0.byte(TOS))
        };
        let way = |route: &Route| (route.via(), route.hops().len());
        key(self) == key(other) && way(self) != way(other)
    }

    /// The same one with other devices.
    pub fn on(&self, device: &dyn Fn(u32) -> u32) -> Route {
        let mut object = self.0.clone();
        if let Some(index) = object.u32_of(RTA_OIF) {
            object.set_u32(RTA_OIF, device(index));
        }
        let hops = self.hops();
        if !hops.is_empty() {
            let moved = hops.iter().flat_map(|hop| hop.on(device(hop.index())));
            object.set(RTA_MULTIPATH, moved.collect());
        }
        Route(object)
    }

    /// What can be compared: without what the kernel finds out by itself, and without an end.
    pub fn settings(&self) -> Route {
        let mut object = self.settable();
        object.remove(&[RTA_EXPIRES]);
        if self.0.attribute(RTA_PREF) == Some(&[0]) {
            object.remove(&[RTA_PREF]);
        }
        object.sort();
        Route(object)
    }

    /// The same one with the next higher metric: it is used where the other is not there.
    pub fn behind(&self) -> Route {
        let mut object = self.0.clone();
        let metric = if self.metric() == 0 { USUAL_METRIC_V6 } else { self.metric() };
        object.set_u32(RTA_PRIORITY, metric.saturating_add(1));
        Route(object)
    }

    /// The same one so many seconds later; `None`: it has ended.
    pub fn later(&self, by_s: u32) -> Option<Route> {
        let Some(info) = self.0.attribute(RTA_CACHEINFO) else { return Some(self.clone()) };
        let Some(expires_s) = expires_s(info) else { return Some(self.clone()) };
        let left_s = expires_s.checked_sub(by_s).filter(|left| *left > 0)?;
        let mut info = info.to_vec();
        info[EXPIRES..EXPIRES + 4].copy_from_slice(&left_s.saturating_mul(TICKS).to_ne_bytes());
        let mut object = self.0.clone();
        object.set(RTA_CACHEINFO, info);
        Some(Route(object))
    }

    /// The same one with the end of another.
    pub fn with_end_of(&self, other: &Route) -> Route {
        let mut object = self.0.clone();
        match other.0.attribute(RTA_CACHEINFO) {
            Some(info) => object.set(RTA_CACHEINFO, info.to_vec()),
            None => object.remove(&[RTA_CACHEINFO]),
        }
        Route(object)
    }

    /// Like `ip route`, without the device: `default via 10.0.0.254 metric 100`.
    pub fn words(&self) -> String {
        let to = match self.to() {
            Some((_, 0)) => "default".to_owned(),
            Some((address, prefix)) => format!("{address}/{prefix}"),
            None => "?".to_owned(),
        };
        let via = self.via().map_or_else(String::new, |via| format!(" via {via}"));
        let hops = if self.hops().is_empty() { "" } else { " (several next hops)" };
        let metric = if self.metric() > 0 { format!(" metric {}", self.metric()) } else { String::new() };
        let table = self.table();
        let table = if table == u32::from(RT_TABLE_MAIN) { String::new() } else { format!(" table {table}") };
        format!("{to}{via}{hops}{metric}{table}")
    }

    fn settable(&self) -> Object {
        let mut object = self.0.clone();
        object.set_header_u32(FLAGS, self.0.header_u32(FLAGS) & ONLINK);
        let expires = object.attribute(RTA_CACHEINFO).and_then(expires_s);
        object.remove(&[RTA_CACHEINFO]);
        if let Some(seconds) = expires {
            object.set_u32(RTA_EXPIRES, seconds);
        }
        let hops = self.hops();
        if !hops.is_empty() {
            object.set(RTA_MULTIPATH, hops.iter().flat_map(|hop| hop.settable()).collect());
        }
        object
    }

    fn hops(&self) -> Vec<Hop> {
        let mut rest = self.0.attribute(RTA_MULTIPATH).unwrap_or_default();
        let mut hops = Vec::new();
        while let Some((hop, after)) = Hop::parse(rest) {
            hops.push(hop);
            rest = after;
        }
        hops
    }
}

/// Seconds until an IPv6 route ends (`rta_cacheinfo.rta_expires`), if it does.
fn expires_s(cacheinfo: &[u8]) -> Option<u32> {
    let ticks = i32::from_ne_bytes(cacheinfo.get(EXPIRES..)?.first_chunk().copied()?);
    u32::try_from(ticks).ok().filter(|ticks| *ticks > 0).map(|ticks| ticks.div_ceil(TICKS))
}

/// A next hop of several (`rtnexthop`): length, flags, weight, device, attributes.
#[derive(Clone, Debug)]
struct Hop {
    header: [u8; Hop::HEADER],
    attributes: Vec<(u16, Vec<u8>)>,
}

impl Hop {
    const HEADER: usize = 8;
    const FLAGS: usize = 2;

    fn parse(bytes: &[u8]) -> Option<(Hop, &[u8])> {
        let header = *bytes.first_chunk::<{ Hop::HEADER }>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let attributes = attributes(bytes.get(Hop::HEADER..length)?)?;
        Some((Hop { header, attributes }, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
    }

    fn index(&self) -> u32 {
        let [.., a, b, c, d] = self.header;
        u32::from_ne_bytes([a, b, c, d])
    }

    fn on(&self, index: u32) -> Vec<u8> {
        let mut moved = self.clone();
        moved.header[4..].copy_from_slice(&index.to_ne_bytes());
        moved.bytes()
    }

    fn settable(&self) -> Vec<u8> {
        let mut hop = self.clone();
        hop.header[Hop::FLAGS] &= ONLINK as u8;
        hop.bytes()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.header.to_vec();
        write_attributes(&mut bytes, &self.attributes);
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        bytes[..2].copy_from_slice(&length.to_ne_bytes());
        bytes
    }
}

impl Netlink {
    /// The routes of all tables, IPv4 and IPv6, as the kernel tells them.
    pub fn routes(&mut self) -> Result<Vec<Route>> {
        let objects = self.dump(&Object::new(kind::ROUTE), "routes")?;
        Ok(objects.into_iter().map(Route).filter(|route| route.to().is_some()).collect())
    }

    /// Adds a route behind those to the same destination.
    ///
    /// # Errors
    /// `EEXIST`: it is there.
    pub fn add_route(&mut self, route: &Route) -> Result<()> {
        self.make(&route.settable(), NLM_F_CREATE | NLM_F_APPEND, || format!("add the route {}", route.words()))
    }

    /// Removes a route.
    ///
    /// # Errors
    /// `ESRCH`: there is none.
    pub fn remove_route(&mut self, route: &Route) -> Result<()> {
        self.unmake(&route.settable(), || format!("remove the route {}", route.words()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(index: u32) -> Hop {
        let mut header = [0; Hop::HEADER];
        (header[2], header[3]) = (0x15, 2);
        header[4..].copy_from_slice(&index.to_ne_bytes());
        Hop { header, attributes: vec![(RTA_GATEWAY, vec![10, 0, 0, 9])] }
    }

    #[test]
    fn each_next_hop_gets_its_device() {
        let mut route = Route::new((IpAddr::from([10, 9, 0, 0]), 16), None, 0, None, Some(5));
        route.0.remove(&[RTA_OIF]);
        route.0.set(RTA_MULTIPATH, [hop(3).bytes(), hop(4).bytes()].concat());
        assert_eq!(route.devices(), [3, 4]);
        let moved = route.on(&|index| if index == 3 { 70 } else { index });
        assert_eq!(moved.devices(), [70, 4]);
        assert_eq!(moved.hops()[0].header[2..4], [0x15, 2], "flags and weight");
        assert_eq!(Route(moved.settable()).hops()[1].header[2..4], [0x04, 2], "on the link, and not dead");
        assert_eq!(moved.words(), "10.9.0.0/16 (several next hops) table 5");
    }

    #[test]
    fn another_way_has_the_same_metric_and_table() {
        let route = |via: &str, metric, table| {
            let via: IpAddr = via.parse().unwrap();
            let any = if via.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0_u8; 16]) };
            Route::new((any, 0), Some(via), 3, metric, table)
        };
        let wanted = route("10.0.0.9", None, None);
        assert!(wanted.is_other_way_of(&route("10.0.0.1", None, Some(254))));
        for same_or_beside in
            [route("10.0.0.9", None, None), route("10.0.0.1", Some(7), None), route("10.0.0.1", None, Some(5))]
        {
            assert!(!wanted.is_other_way_of(&same_or_beside), "{same_or_beside:?}");
        }
        assert!(route("fe80::9", None, None).is_other_way_of(&route("fe80::1", Some(1024), None)));
    }

    #[test]
    fn the_end_of_a_route_is_set_in_seconds() {
        let mut route = Route::new(("::".parse().unwrap(), 0), "fe80::1".parse().ok(), 3, Some(1024), None);
        let mut cacheinfo = vec![0; 32];
        cacheinfo[8..12].copy_from_slice(&179_950_i32.to_ne_bytes());
        route.0.set(RTA_CACHEINFO, cacheinfo);
        assert_eq!(route.settable().u32_of(RTA_EXPIRES), Some(1800));
        assert_eq!(route.settings().0.u32_of(RTA_EXPIRES), None);
        let left_s = |route: &Route| route.settable().u32_of(RTA_EXPIRES);
        assert_eq!(route.later(800).as_ref().and_then(left_s), Some(1000));
        assert_eq!(route.later(800).unwrap().with_end_of(&route), route);
        assert_eq!(route.later(1800), None);
        assert_eq!((route.behind().metric(), route.behind().behind().metric()), (1025, 1026));
        assert_eq!(route.words(), "default via fe80::1 metric 1024");
    }
}
