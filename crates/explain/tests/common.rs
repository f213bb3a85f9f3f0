//! A host as facts, changed case by case.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use nicteam_bundles::traffic::{Connection, FlowKey, Headers, Seen, TCP};
use nicteam_bundles::{Bundle, Counters, Kind, Lacp, Member, Port, PortEnd, Rate, Rates};
use nicteam_explain::{Explanation, Facts, Finding, Path, Weight, explain};
use nicteam_wire::{Mac, head_of_flow};

pub const SECONDS: f64 = 10.0;
pub const SWITCH: &str = "02:00:00:00:00:99";
pub const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// A host with one bundle.
#[derive(Clone)]
pub struct World {
    pub bundle: Bundle,
    pub earlier: Option<Bundle>,
    pub rates: Rates,
    pub connections: Vec<Connection>,
    pub headers: Option<Headers>,
    pub path: Option<Path>,
}

/// A member's place as its device's name.
pub fn name(member: usize) -> String {
    format!("eth{member}")
}

fn end(system: &str, key: u16) -> PortEnd {
    PortEnd { system: system.to_owned(), system_priority: 1, key, port_priority: 255, port: 1, state: 0b0011_1101 }
}

impl World {
    /// A bond of so many links of 1 Gbit/s that aggregates.
    pub fn aggregate(links: usize) -> World {
        let lacp = Lacp {
            system: Some("02:00:00:00:00:01".to_owned()),
            aggregator: Some(1),
            ports: u32::try_from(links).ok(),
            actor_key: Some(9),
            partner_key: Some(15),
            partner: Some(SWITCH.to_owned()),
            negotiated: Some(true),
            ..Lacp::default()
        };
        let port = Port {
            aggregator: Some(1),
            attached: true,
            actor: Some(end("02:00:00:00:00:01", 9)),
            partner: Some(end(SWITCH, 15)),
            ..Port::default()
        };
        let mut world = World::of("802.3ad", links);
        world.bundle.lacp = Some(lacp);
        world.bundle.members.iter_mut().for_each(|member| member.lacp = Some(port.clone()));
        world
    }

    /// A bond of so many links of 1 Gbit/s in a mode without LACP.
    pub fn of(mode: &str, links: usize) -> World {
        let member = |place: usize| Member {
            name: name(place),
            index: Some(place as u32 + 2),
            up: true,
            admin_up: true,
            carrier: true,
            active: true,
            speed_mbps: Some(1000),
            full_duplex: Some(true),
            mtu: Some(1500),
            link_failures: Some(0),
            ..Member::default()
        };
        let bundle = Bundle {
            name: "bond0".to_owned(),
            kind: Kind::Kernel,
            device: Some("bond0".to_owned()),
            index: Some(20),
            mode: mode.to_owned(),
            hash_policy: Some("layer3+4".to_owned()),
            mtu: Some(1500),
            admin_up: true,
            carrier: true,
            members: (0..links).map(member).collect(),
            ..Bundle::default()
        };
        World {
            bundle,
            earlier: None,
            rates: Rates { seconds: SECONDS, devices: BTreeMap::new() },
            connections: Vec::new(),
            headers: Some(Headers::default()),
            path: None,
        }
    }

    /// Another policy of this host.
    pub fn policy(mut self, policy: &str) -> World {
        self.bundle.hash_policy = Some(policy.to_owned());
        self
    }

    pub fn member(&mut self, place: usize) -> &mut Member {
        &mut self.bundle.members[place]
    }

    pub fn port(&mut self, place: usize) -> &mut Port {
        self.bundle.members[place].lacp.as_mut().unwrap()
    }

    /// A member that LACP leaves out.
    pub fn leave_out(&mut self, place: usize) -> &mut Port {
        self.member(place).active = false;
        let port = self.port(place);
        (port.attached, port.aggregator) = (false, Some(2));
        port
    }

    /// What a member carries, bit/s received and sent.
    pub fn carries(mut self, member: usize, rx_bps: f64, tx_bps: f64) -> World {
        let bytes = |bps: f64| (bps * SECONDS / 8.0) as u64;
        let counted = Counters {
            rx_bytes: bytes(rx_bps),
            rx_packets: bytes(rx_bps) / 1000,
            tx_bytes: bytes(tx_bps),
            tx_packets: bytes(tx_bps) / 1000,
            ..Counters::default()
        };
        let rate = Rate { rx_bps, tx_bps, rx_pps: rx_bps / 8e3, tx_pps: tx_bps / 8e3, counted };
        self.rates.devices.insert(name(member), rate);
        self
    }

    /// TCP flows, each with the other end's number in its network, the last byte of its MAC address, and the members that
    /// its received and its sent frames use. Each carries as much.
    pub fn flows(mut self, flows: &[(u8, u8, usize, usize)]) -> World {
        for (at, (host, mac, received, sent)) in flows.iter().enumerate() {
            let local: SocketAddr = format!("10.0.0.1:{}", 40_000 + at).parse().unwrap();
            let remote: SocketAddr = format!("10.0.{}.{}:5001", if host == mac { 0 } else { 9 }, host).parse().unwrap();
            let mac = Mac([2, 0, 0, 0, 0, *mac]);
            let key = FlowKey { protocol: TCP, local, remote };
            let seen = Seen {
                received: BTreeMap::from([(name(*received), 30)]),
                sent: BTreeMap::from([(name(*sent), 30)]),
                bytes: [30_000; 2],
                remote_mac: Some(mac),
                head: head_of_flow([OWN, mac], TCP, local, remote).unwrap(),
            };
            if let Some(headers) = &mut self.headers {
                headers.flows.insert(key, seen);
                headers.frames += 60;
            }
            self.connections.push(connection(key, 1_000_000));
        }
        self
    }

    pub fn explained(&self) -> Explanation {
        let addresses: [IpAddr; 1] = ["10.0.0.1".parse().unwrap()];
        let facts = Facts {
            bundle: &self.bundle,
            earlier: self.earlier.as_ref(),
            rates: &self.rates,
            connections: &self.connections,
            headers: self.headers.as_ref(),
            addresses: &addresses,
            path: self.path.as_ref(),
        };
        let explanation = explain(&facts);
        // Whatever is found can be told.
        assert!(explanation.text(&facts).starts_with("bond0: "));
        explanation
    }

    /// The one finding that is no notice.
    #[track_caller]
    pub fn finds(&self, cause: &str) -> Finding {
        let explanation = self.explained();
        let wrong: Vec<&Finding> = explanation.findings.iter().filter(|of| of.weight != Weight::Notice).collect();
        let [one] = wrong[..] else { panic!("{cause}: {wrong:#?}") };
        assert_eq!(one.cause, cause, "{one:#?}");
        assert!(!explanation.is_good && !one.sentence.is_empty());
        one.clone()
    }

    /// The notice of this cause, of a host where nothing is wrong.
    #[track_caller]
    pub fn notes(&self, cause: &str) -> Finding {
        let explanation = self.explained();
        assert!(explanation.is_good, "{:#?}", explanation.findings);
        let found = explanation.findings.iter().find(|of| of.cause == cause);
        found.cloned().unwrap_or_else(|| panic!("{cause}: {:#?}", explanation.findings))
    }

    #[track_caller]
    pub fn is_good(&self) {
        let explanation = self.explained();
        assert!(explanation.is_good && explanation.findings.is_empty(), "{:#?}", explanation.findings);
    }
}

pub fn connection(key: FlowKey, bytes: u64) -> Connection {
    Connection {
        key,
        sent_bytes: bytes,
        received_bytes: bytes,
        retransmits: 0,
        segments: bytes / 1448,
        rtt_us: 500,
        cwnd: 10,
        mss: 1448,
        path_mtu: 1500,
        busy_us: 9_000_000,
        rwnd_limited_us: 0,
        sndbuf_limited_us: 0,
    }
}

/// So many flows with one host, in turn on these members.
pub fn to_one_host(count: usize, received: &[usize], sent: &[usize]) -> Vec<(u8, u8, usize, usize)> {
    (0..count).map(|at| (9, 9, received[at % received.len()], sent[at % sent.len()])).collect()
}
