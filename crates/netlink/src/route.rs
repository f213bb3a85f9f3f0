//! Routes.

use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};

use super::{Netlink, family};
use nicteam_sys::{Error, Result};
use nix::errno::Errno;

impl Netlink {
    /// By which device, and by which gateway if by any, packets to an address leave (`ip route get TO`).
    ///
    /// # Errors
    /// `ENETUNREACH` where no route leads there.
    pub fn route_of(&mut self, to: IpAddr) -> Result<(u32, Option<IpAddr>)> {
        let mut asked = RouteMessage::default();
        asked.header.address_family = family(to);
        asked.header.destination_prefix_length = host_prefix(to);
        asked.attributes = vec![RouteAttribute::Destination(address(to))];
        let operation = || format!("find the route to {to}");
        let answers = self.request(RouteNetlinkMessage::GetRoute(asked), 0, operation)?;
        let found = answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(found) => Some(found.attributes),
            _ => None,
        });
        let attributes = found.unwrap_or_default();
        let index =
            attributes.iter().find_map(|it| if let RouteAttribute::Oif(index) = it { Some(*index) } else { None });
        let via = attributes.iter().find_map(|attribute| match attribute {
            RouteAttribute::Gateway(RouteAddress::Inet(via)) => Some(IpAddr::V4(*via)),
            RouteAttribute::Gateway(RouteAddress::Inet6(via)) => Some(IpAddr::V6(*via)),
            _ => None,
        });
        Ok((index.ok_or_else(|| Error::new(operation(), Errno::ENETUNREACH))?, via))
    }

    /// Reaches another host as it is reached now, with this congestion control for all connections to and from it whose programs
    /// name none (`ip route replace ADDRESS [via GATEWAY] dev X congctl NAME`).
    ///
    /// # Errors
    /// `EINVAL` for a congestion control that the kernel has not, `ENETUNREACH` where no route leads there.
    pub fn route_with_congestion(&mut self, to: IpAddr, congestion: &str) -> Result<()> {
        let (index, via) = self.route_of(to)?;
        let mut route = to_host(to, via.is_some());
        route.attributes.extend(via.map(|via| RouteAttribute::Gateway(address(via))));
        route.attributes.push(RouteAttribute::Oif(index));
        route.attributes.push(RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(congestion.to_owned())]));
        let request = RouteNetlinkMessage::NewRoute(route);
        self.done(request, NLM_F_CREATE | NLM_F_REPLACE, || format!("route {to} with congestion control {congestion}"))
    }
}

/// A route to a host, still without the way.
fn to_host(to: IpAddr, has_gateway: bool) -> RouteMessage {
    let mut route = RouteMessage::default();
    route.header.address_family = family(to);
    route.header.destination_prefix_length = host_prefix(to);
    route.header.table = RouteHeader::RT_TABLE_MAIN;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = if to.is_ipv4() && !has_gateway { RouteScope::Link } else { RouteScope::Universe };
    route.header.kind = RouteType::Unicast;
    route.attributes = vec![RouteAttribute::Destination(address(to))];
    route
}

/// Length of the prefix that is one host alone.
fn host_prefix(to: IpAddr) -> u8 {
    if to.is_ipv4() { 32 } else { 128 }
}

fn address(of: IpAddr) -> RouteAddress {
    match of {
        IpAddr::V4(of) => RouteAddress::Inet(of),
        IpAddr::V6(of) => RouteAddress::Inet6(of),
    }
}
