//! Snapshots of hosts that there are not.

use std::time::Duration;

use nicteam_bundles::{Bundle, Counters, Kind, Lacp, Member, Port, PortEnd, Problem};
use nicteam_observe::Host;
use nicteam_watch::{Happening, Snapshot, Tally};
use serde_json::json;

/// So many members; the last one is down.
pub fn bundle(name: &str, kind: Kind, mode: &str, members: usize) -> Bundle {
    let member = |place: usize| Member {
        name: format!("{name}m{place}"),
        up: place + 1 < members,
        admin_up: true,
        carrier: place + 1 < members,
        active: place + 1 < members,
        speed_mbps: Some(1000),
        mtu: Some(1500),
        mac: Some(format!("02:00:00:00:00:{place:02x}")),
        link_failures: Some(place as u64),
        ..Member::default()
    };
    Bundle {
        name: name.to_owned(),
        kind,
        device: Some(name.to_owned()),
        mode: mode.to_owned(),
        hash_policy: Some("layer3+4".to_owned()),
        carrier: true,
        admin_up: true,
        members: (0..members).map(member).collect(),
        ..Bundle::default()
    }
}

/// A host with a team, a bond that speaks LACP, and a bond of Open vSwitch; `second` looks after the first.
pub fn snapshot(second: u64) -> Snapshot {
    let mut team = bundle("team0", Kind::Nicteam, "stripe", 3);
    team.hash_policy = None;
    team.problems =
        vec![Problem { text: "member team0m2 has no carrier".to_owned(), hint: "look at its cable".to_owned() }];
    let mut bond = bundle("bond0", Kind::Kernel, "802.3ad", 2);
    let end =
        |system: &str| Some(PortEnd { system: system.to_owned(), key: 9, port: 1, state: 0x3d, ..PortEnd::default() });
    for member in &mut bond.members {
        (member.up, member.carrier, member.active) = (true, true, true);
        let port = Port {
            aggregator: Some(1),
            attached: true,
            actor: end("02:00:00:00:00:01"),
            partner: end("02:00:00:00:00:99"),
            actor_churn: "none".to_owned(),
            partner_churn: "churned".to_owned(),
            why_not: None,
        };
        member.lacp = Some(port);
    }
    bond.lacp = Some(Lacp {
        ports: Some(2),
        actor_key: Some(9),
        partner_key: Some(7),
        partner: Some("02:00:00:00:00:99".to_owned()),
        negotiated: Some(true),
        ..Lacp::default()
    });
    let ovs = bundle("ovsbond", Kind::OpenVSwitch, "balance-slb", 2);
    let mut snapshot = of(vec![bond, ovs, team], second);
    snapshot.teams.insert("team0".to_owned(), serde_json::from_value(status()).unwrap());
    snapshot.tallies.insert("team0".to_owned(), Tally { failovers: 2, member_downs: 3, carrier_losses: 1 });
    let event = |text: &str| Happening { unix_ms: 1_800_000_000_000, team: "team0".to_owned(), text: text.to_owned() };
    snapshot.happenings = vec![event("member team0m2: up -> down"), event("active member: team0m2 -> team0m0")];
    snapshot
}

/// These bundles. Each member sends its place plus one times 100 Mbit/s, and receives half of that.
pub fn of(bundles: Vec<Bundle>, second: u64) -> Snapshot {
    let mut snapshot = Snapshot { unix: Duration::from_secs(1_800_000_000 + second), ..Snapshot::default() };
    snapshot.sample.at = Duration::from_secs(second);
    snapshot.took = Duration::from_millis(3);
    for member in bundles.iter().flat_map(|bundle| &bundle.members) {
        let place: u64 = member.name.rsplit('m').next().unwrap().parse().unwrap();
        let bytes = second * (place + 1) * 12_500_000;
        let counters = Counters {
            tx_bytes: bytes,
            tx_packets: bytes / 1000,
            rx_bytes: bytes / 2,
            rx_packets: bytes / 2000,
            rx_drops: second * place,
            ..Counters::default()
        };
        snapshot.sample.devices.insert(member.name.clone(), (place as u32 + 2, counters));
    }
    snapshot.host = Host { bundles, unseen: Vec::new() };
    snapshot
}

fn status() -> serde_json::Value {
    let member = |place: usize| {
        json!({
            "place": place, "name": format!("team0m{place}"), "index": place + 2, "state": "up", "active": true,
            "admin_up": true, "carrier": true, "speed_mbps": 1000, "duplex": "full", "permanent_mac": "", "mac": "",
            "link_failures": 0, "tx_frames": 10, "tx_bytes": 1000, "tx_drops": 1, "rx_frames": 9, "rx_bytes": 900,
            "rx_drops": 2,
        })
    };
    let path = |member: &str, works, time: Option<u64>| json!({"member": member, "to": "02:00:00:00:07:01", "works": works, "round_trip_us": time});
    json!({
        "schema": 1, "nicteam": "", "team": "team0", "index": 1, "mac": "", "mtu": 1500, "admin_up": true,
        "carrier": true, "mode": "stripe", "options": {}, "active": "team0m0", "dataplane": "bpf", "generation": 17,
        "uptime_ms": 61_500, "pid": 1, "unsent_frames": 4, "problems": [], "members": [member(0), member(1), member(2)],
        "peers": [{"team": "02:00:00:00:07:00", "paths": [path("team0m0", true, Some(250)), path("team0m1", false, None)]}],
        "hellos": {"authenticated": false, "untagged": 5, "wrong_key": 6, "replayed": 7, "unexpected_key": 8,
            "impossible": 9, "overlooked": 10},
        "control_frames": [{"kind": "hellos", "handled": 100, "dropped": 1}],
        "repairs": [{"device": "team0m0", "what": "tc filter", "times": 3, "last_ms": 5, "conflict": false}],
    })
}
