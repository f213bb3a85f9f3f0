//! Flows of a host in one direction, as the frames that a hash policy looks at.

use std::collections::BTreeMap;
use std::net::IpAddr;

use nicteam_wire::{Mac, head_of_flow};

use crate::traffic::{Connection, FlowKey, Headers, Seen, Way};

/// A flow in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its ends.
    pub key: FlowKey,
    /// The beginning of a frame of it.
    pub head: Vec<u8>,
    /// Its bytes in that direction.
    pub bytes: u64,
}

/// What a host with these addresses and this MAC address sent, or received, by flow.
///
/// Of a TCP connection of its own the kernel counts the payload. Of all other flows the bytes are those of the frames that were
/// looked at. A connection whose frames were not seen gets the MAC address of the other frames to its host, or else the one of
/// most flows, as a gateway has it.
pub fn flows(
    way: Way,
    headers: Option<&Headers>,
    connections: &[Connection],
    addresses: &[IpAddr],
    own: Mac,
) -> Vec<Flow> {
    let none = BTreeMap::new();
    let seen = headers.map_or(&none, |headers| &headers.flows);
    let is_ours = |of: &&Connection| addresses.contains(&of.key.local.ip());
    let counted = |of: &Connection| (of.key, if way == Way::Out { of.sent_bytes } else { of.received_bytes });
    let counted: BTreeMap<FlowKey, u64> = connections.iter().filter(is_ours).map(counted).collect();
    let neighbours = Neighbours::of(seen);
    let of_frames = seen.iter().map(|(key, seen)| {
        let bytes = counted.get(key).copied().unwrap_or(seen.bytes[usize::from(way == Way::Out)]);
        let head = if way == Way::Out { seen.head.clone() } else { Vec::new() };
        (*key, head, seen.remote_mac, bytes)
    });
    let unseen = counted.iter().filter(|(key, _)| !seen.contains_key(key));
    let unseen = unseen.map(|(key, bytes)| (*key, Vec::new(), neighbours.towards(key), *bytes));
    let flow = |(key, head, mac, bytes): (FlowKey, Vec<u8>, Option<Mac>, u64)| {
        let head = if head.is_empty() { made(way, &key, [own, mac.unwrap_or_default()])? } else { head };
        (bytes > 0).then_some(Flow { key, head, bytes })
    };
    of_frames.chain(unseen).filter_map(flow).collect()
}

/// The frame that such a flow would have.
fn made(way: Way, key: &FlowKey, [own, remote]: [Mac; 2]) -> Option<Vec<u8>> {
    match way {
        Way::Out => head_of_flow([own, remote], key.protocol, key.local, key.remote),
        Way::In => head_of_flow([remote, own], key.protocol, key.remote, key.local),
    }
}

/// The MAC addresses of frames to other hosts.
struct Neighbours {
    by_host: BTreeMap<IpAddr, Mac>,
    of_most: Option<Mac>,
}

impl Neighbours {
    fn of(seen: &BTreeMap<FlowKey, Seen>) -> Neighbours {
        let by_host: BTreeMap<IpAddr, Mac> =
            seen.iter().filter_map(|(key, seen)| Some((key.remote.ip(), seen.remote_mac?))).collect();
        let mut counts: BTreeMap<Mac, usize> = BTreeMap::new();
        seen.values().filter_map(|seen| seen.remote_mac).for_each(|mac| *counts.entry(mac).or_default() += 1);
        let of_most = counts.iter().max_by_key(|(_, count)| **count).map(|(mac, _)| *mac);
        Neighbours { by_host, of_most }
    }

    fn towards(&self, key: &FlowKey) -> Option<Mac> {
        self.by_host.get(&key.remote.ip()).copied().or(self.of_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{Own, TCP, UDP};
    use nicteam_wire::Frame;

    const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const GATEWAY: Mac = Mac([2, 0, 0, 0, 0, 9]);

    fn key(protocol: u8, remote: &str) -> FlowKey {
        FlowKey { protocol, local: "10.0.0.1:40000".parse().unwrap(), remote: remote.parse().unwrap() }
    }

    fn connection(key: FlowKey, sent_bytes: u64) -> Connection {
        Connection {
            key,
            sent_bytes,
            received_bytes: 7,
            retransmits: 0,
            segments: 1,
            rtt_us: 100,
            cwnd: 10,
            mss: 1448,
            path_mtu: 1500,
            busy_us: 0,
            rwnd_limited_us: 0,
            sndbuf_limited_us: 0,
        }
    }

    #[test]
    fn tcp_is_counted_and_the_rest_is_weighed() {
        let own = Own { addresses: vec!["10.0.0.1".parse().unwrap()], macs: vec![OWN] };
        let mut headers = Headers { one_of: 8, ..Headers::default() };
        let (seen, datagrams) = (key(TCP, "10.1.0.2:80"), key(UDP, "10.1.0.2:53"));
        for key in [seen, datagrams] {
            let head = head_of_flow([OWN, GATEWAY], key.protocol, key.local, key.remote).unwrap();
            headers.note("eth0", Way::Out, &head, &own);
        }
        let hidden = key(TCP, "10.9.0.3:80");
        let connections = [connection(seen, 1000), connection(hidden, 500), connection(key(TCP, "10.1.0.2:81"), 0)];
        let found = flows(Way::Out, Some(&headers), &connections, &own.addresses, OWN);
        let bytes: Vec<(FlowKey, u64)> = found.iter().map(|of| (of.key, of.bytes)).collect();
        // The datagram's packet has 40 bytes, and stands for eight.
        assert_eq!(bytes, [(seen, 1000), (datagrams, 320), (hidden, 500)]);
        for flow in &found {
            let frame = Frame::parse(&flow.head).unwrap();
            assert_eq!((frame.src(), frame.dst()), (OWN, GATEWAY), "{flow:?}");
        }
        // The other direction.
        let found = flows(Way::In, Some(&headers), &connections, &own.addresses, OWN);
        assert_eq!(found.iter().map(|of| of.bytes).collect::<Vec<_>>(), [7, 7, 7]);
        assert_eq!(Frame::parse(&found[0].head).unwrap().src(), GATEWAY);
        // Another address's connections are another bundle's.
        assert_eq!(flows(Way::Out, None, &connections, &[], OWN), []);
    }
}
