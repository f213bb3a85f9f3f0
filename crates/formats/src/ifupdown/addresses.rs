//! The addresses and gateways of a bond's stanzas.

use std::collections::BTreeSet;
use std::net::IpAddr;

use nicteam_drafts::Reading;
use nicteam_drafts::draft::Draft;
use nicteam_drafts::names::shown;
use nicteam_drafts::{Address, Route};

use super::bond::Bond;
use super::stanza::Stanza;

impl Bond<'_> {
    /// Addresses, routes, MTU and whatever else the stanza has.
    pub(super) fn read_addresses(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, stanza: &Stanza) {
        let title = stanza.title();
        match stanza.method.as_str() {
            "static" => self.read_static(reading, draft, stanza),
            "manual" => {}
            "dhcp" | "auto" | "bootp" => {
                let what = if stanza.method == "auto" { "an address by router advertisements" } else { "DHCP" };
                let why = format!(
                    "{what} stays in the old place: keep `{title}` without its `bond-` lines, it works on the team as on a bond"
                );
                reading.left(&stanza.head.at, Some(&self.name), why);
            }
            method => {
                let why =
                    format!("the method `{}` is ifupdown's: keep the stanza without its `bond-` lines", shown(method));
                reading.left(&stanza.head.at, Some(&self.name), why);
            }
        }
        for line in &stanza.options {
            if !self.taken.contains(&line.at) {
                self.read_other(reading, draft, stanza, line);
            }
        }
    }

    fn read_static(&mut self, reading: &mut Reading<'_>, draft: &mut Draft, stanza: &Stanza) {
        let last = |name: &str| stanza.options.iter().rfind(|line| line.name == name);
        let (netmask, metric) = (last("netmask"), last("metric"));
        let mut address = None;
        for line in stanza.options.iter().filter(|line| line.name == "address") {
            self.taken.insert(line.at.clone());
            match read_address(&line.value, netmask.map(|line| line.value.as_str())) {
                Ok(read) => {
                    if line.value.split_once('/').is_some_and(|(_, length)| length != read.prefix.to_string()) {
                        self.leave(reading, line, "`ifup` takes the length of the network from `netmask`");
                    }
                    draft.add_address(read);
                    address = Some(read);
                }
                Err((message, hint)) => reading.wrong(&line.value_at, message, hint),
            }
        }
        self.taken.extend(netmask.map(|line| line.at.clone()));
        // The kernel makes this route of an address with a peer.
        for line in stanza.options.iter().filter(|line| line.name == "pointopoint") {
            let peer = line.value.parse().ok().filter(|_| address.is_some_and(|of| of == Address::host(of.address)));
            if let Some(peer) = peer {
                self.taken.insert(line.at.clone());
                draft.add_route(Route { to: Address::host(peer), via: None, metric: None, table: None });
            }
        }
        for line in stanza.options.iter().filter(|line| line.name == "gateway" && line.value != "none") {
            let metric_text = metric.map(|line| format!(" metric {}", line.value)).unwrap_or_default();
            self.taken.insert(line.at.clone());
            self.taken.extend(metric.map(|line| line.at.clone()));
            match Route::parse(&format!("default via {}{metric_text}", line.value)) {
                Ok(words) => {
                    self.gateways.extend(words.route.via);
                    draft.add_route(words.route);
                }
                Err(error) => reading.wrong(&line.value_at, error.to_string(), error.hint()),
            }
        }
        // They say again what address and netmask say.
        for line in &stanza.options {
            let follows = address.is_some_and(|address| match line.name.as_str() {
                "network" => line.value == address.network().address.to_string(),
                "broadcast" => line.value == "+" || address.broadcast().is_some_and(|of| of.to_string() == line.value),
                _ => false,
            });
            if follows {
                self.taken.insert(line.at.clone());
            }
        }
    }

    /// A gateway that no address has in its network: to `ifup` it is on the link whatever the addresses say.
    pub(super) fn read_gateways(&self, draft: &mut Draft) {
        let is_beside = |via: IpAddr| match via {
            IpAddr::V6(via) if via.is_unicast_link_local() => true,
            via => draft.addresses.iter().any(|address| address.contains(via)),
        };
        let hop = |via: &IpAddr| Route { to: Address::host(*via), via: None, metric: None, table: None };
        let far: BTreeSet<IpAddr> = self.gateways.iter().copied().filter(|via| !is_beside(*via)).collect();
        // Ahead of the routes that lead by it.
        draft
            .routes
            .replace(|route| route.via.filter(|via| far.contains(via)).map(|via| hop(&via)).into_iter().chain([route]));
    }
}

/// An address with its prefix in one piece or two, of which `netmask` holds. Without any, an IPv4 address has that of its
/// class, as `ifup` has it.
fn read_address(text: &str, netmask: Option<&str>) -> Result<Address, (String, String)> {
    let (alone, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    let read = match (prefix, netmask, alone.parse()) {
        (_, Some(netmask), Ok(address)) => Address::with_netmask(address, netmask),
        (None, None, Ok(IpAddr::V4(v4))) => Ok(Address::of_class(v4)),
        _ => text.parse(),
    };
    read.map_err(|error| (error.to_string(), error.hint()))
}

pub(super) fn is_address(name: &str) -> bool {
    matches!(name, "address" | "netmask" | "gateway" | "network" | "broadcast")
}
