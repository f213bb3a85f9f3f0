//! Routes.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};

use super::{Netlink, family};
use crate::Result;

impl Netlink {
    /// Reaches a neighbour by a device, with this congestion control for all connections to and from it whose programs
    /// name none (`ip route replace ADDRESS dev X congctl NAME`).
    ///
    /// # Errors
    /// `EINVAL` for a congestion control that the kernel has not.
    pub fn route_with_congestion(&mut self, to: IpAddr, index: u32, congestion: &str) -> Result<()> {
        let mut route = RouteMessage::default();
        route.header.address_family = family(to);
        route.header.destination_prefix_length = if to.is_ipv4() { 32 } else { 128 };
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.header.protocol = RouteProtocol::Static;
        route.header.scope = if to.is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
        route.header.kind = RouteType::Unicast;
        let address = match to {
            IpAddr::V4(to) => RouteAddress::Inet(to),
            IpAddr::V6(to) => RouteAddress::Inet6(to),
        };
        route.attributes = vec![
            RouteAttribute::Destination(address),
            RouteAttribute::Oif(index),
            RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(congestion.to_owned())]),
        ];
        let request = RouteNetlinkMessage::NewRoute(route);
        self.done(request, NLM_F_CREATE | NLM_F_REPLACE, || format!("route {to} with congestion control {congestion}"))
    }
}
