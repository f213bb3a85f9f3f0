//! How many links a hash uses when addresses are drawn at random.
//!
//! Which links flows share is a matter of the hosts' addresses: with others the same network delivers another share of
//! what it could. This says how often. A seed alone decides what is drawn.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use nicteam_machine::split_mix;
use nicteam_wire::{Frame, Mac, Vlan, head_of_flow, tagged};

use super::{hash, place};
use nicteam_options::HashPolicy;

/// A host whose addresses are drawn: any individual MAC address, and any IP address of its subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// An address of the subnet.
    pub address: IpAddr,
    /// Its prefix length. Where it leaves no choice, the address is kept.
    pub prefix: u8,
}

/// What one host sends to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Place of the sending host.
    pub from: usize,
    /// Place of the receiving one.
    pub to: usize,
    /// Places of those whose MAC addresses its frames have: these two, or gateways between them.
    pub macs: [usize; 2],
    /// Source and destination port, which are not drawn.
    pub ports: [u16; 2],
    /// Transport protocol: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// VLAN of its frames' tag; none: without a tag.
    pub vlan: Option<u16>,
}

/// The links that flows go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// What is hashed.
    pub policy: HashPolicy,
    /// Values of the hash; 0: as many as links.
    pub buckets: u32,
    /// How many links there are.
    pub count: usize,
}

/// In how many cases how many links are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Cases in which one link is used, two, ...; as many entries as links.
    pub cases: Vec<u32>,
}

impl Drawn {
    /// All cases.
    pub fn seeds(&self) -> u32 {
        // A record may be a stranger's.
        self.cases.iter().fold(0, |sum, cases| sum.saturating_add(*cases))
    }

    /// Links used on average; 0 without a case.
    pub fn mean(&self) -> f64 {
        let used: f64 = (1_u32..).zip(&self.cases).map(|(links, cases)| f64::from(links) * f64::from(*cases)).sum();
        if self.seeds() == 0 { 0.0 } else { used / f64::from(self.seeds()) }
    }

    /// Part of the cases in which so many links are used, 0 to 1.
    pub fn share(&self, links: usize) -> f64 {
        let cases = links.checked_sub(1).and_then(|place| self.cases.get(place)).copied().unwrap_or(0);
        if self.seeds() == 0 { 0.0 } else { f64::from(cases) / f64::from(self.seeds()) }
    }
}

/// Links that the flows use with addresses drawn from each of the seeds 1 to `seeds`. Flows between hosts that there are
/// not, or whose addresses are of unlike families, use none; a case in which no flow uses any is left out.
pub fn links_used(links: Links, hosts: &[Host], flows: &[Flow], seeds: u32) -> Drawn {
    let mut cases = vec![0; links.count];
    for seed in 1..=seeds {
        let used = used(links, &addresses(hosts, seed), flows);
        if let Some(case) = used.checked_sub(1).and_then(|place| cases.get_mut(place)) {
            *case += 1;
        }
    }
    Drawn { cases }
}

/// The addresses of hosts, drawn from a seed; no two hosts have one in common.
pub fn addresses(hosts: &[Host], seed: u32) -> Vec<(Mac, IpAddr)> {
    let mut random = Random(seed.into());
    let mut addressed: Vec<(Mac, IpAddr)> = Vec::with_capacity(hosts.len());
    for host in hosts {
        let drawn = random.addresses(*host, &addressed);
        addressed.push(drawn);
    }
    addressed
}

/// So many source ports, drawn from a seed: any that Linux gives to a connection by itself (32768 to 60999).
pub fn ports(count: usize, seed: u32) -> Vec<u16> {
    /// Its default `ip_local_port_range`.
    const FIRST: u16 = 32_768;
    const PORTS: u64 = 61_000 - 32_768;
    // Another stream than the addresses'.
    let mut random = Random(u64::from(seed) | 1 << 32);
    (0..count).map(|_| FIRST + ((u128::from(random.next()) * u128::from(PORTS)) >> 64) as u16).collect()
}

/// Links that the flows use between hosts with these addresses.
pub fn used(links: Links, hosts: &[(Mac, IpAddr)], flows: &[Flow]) -> usize {
    let link = |flow: &Flow| {
        let ((_, src), (_, dst)) = (*hosts.get(flow.from)?, *hosts.get(flow.to)?);
        let [from, to] = [hosts.get(flow.macs[0])?.0, hosts.get(flow.macs[1])?.0];
        let ends = [SocketAddr::new(src, flow.ports[0]), SocketAddr::new(dst, flow.ports[1])];
        let head = head_of_flow([from, to], flow.protocol, ends[0], ends[1])?;
        let bytes = tagged(head, flow.vlan.and_then(Vlan::customer).as_slice());
        place(hash(links.policy, &Frame::parse_untagged(&bytes).ok()?), links.buckets, links.count)
    };
    let mut places: Vec<usize> = flows.iter().filter_map(link).collect();
    places.sort_unstable();
    places.dedup();
    places.len()
}

/// Draws from [`split_mix`].
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// Addresses that nobody has yet.
    fn addresses(&mut self, host: Host, taken: &[(Mac, IpAddr)]) -> (Mac, IpAddr) {
        /// In a subnet that is nearly full two hosts may get one address after so many tries.
        const TRIES: usize = 64;
        let mut drawn = (self.mac(), self.ip(host));
        for _ in 0..TRIES {
            if taken.iter().all(|(mac, ip)| *mac != drawn.0 && *ip != drawn.1) {
                break;
            }
            drawn = (self.mac(), self.ip(host));
        }
        drawn
    }

    /// An individual, locally administered address.
    fn mac(&mut self) -> Mac {
        let [a, b, c, d, e, f, ..] = self.next().to_be_bytes();
        Mac([a & 0xfc | 2, b, c, d, e, f])
    }

    /// An address of a host's subnet that is neither the subnet's own nor its broadcast address.
    fn ip(&mut self, Host { address, prefix }: Host) -> IpAddr {
        match address {
            IpAddr::V4(own) if prefix < 31 => {
                let hosts = u64::from(u32::MAX >> prefix) - 1;
                let number = 1 + ((u128::from(self.next()) * u128::from(hosts)) >> 64) as u32;
                Ipv4Addr::from(u32::from(own) & !(u32::MAX >> prefix) | number).into()
            }
            IpAddr::V6(own) if prefix < 127 => {
                let mask = u128::MAX >> prefix;
                let number = ((u128::from(self.next()) << 64) | u128::from(self.next())) & mask;
                Ipv6Addr::from(u128::from(own) & !mask | number.max(1)).into()
            }
            kept => kept,
        }
    }
}
