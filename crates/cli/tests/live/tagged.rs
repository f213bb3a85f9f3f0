//! Traffic in tagged frames, in a run of the lab.

use nicteam_record::Record;
use nicteam_team::hash::slb;
use nicteam_testnet::may_make_networks;

use crate::common::experiment::run;

const VLANS: [u16; 4] = [10, 20, 30, 40];

const EXPERIMENT: &str = r#"
title = "One address in four VLANs"

[teams.bundle]
mode = "ovs-balance-slb"

[hosts]
a = { team = "bundle" }
b = { team = "bundle" }

[switches]
sw = {}

[defaults]
rate = "20mbit"

[[links]]
between = [["a", "b"], "sw"]
count = 2

[workloads.w]
kind = "tagged"
from = "a"
to = "b"
connections = 4
vlan = [10, 20, 30, 40]
pcp = 5
rate = "10mbit"
size = 600

[[runs]]
name = "tagged"
workloads = "w"
"#;

#[test]
fn one_address_sends_by_the_buckets_of_its_vlans() {
    if !may_make_networks() {
        return;
    }
    let (_, told, record) = run("tagged", EXPERIMENT);
    let record: Record = record.unwrap_or_else(|| panic!("{told}"));
    let run = &record.runs[0];
    let host = run.topology.hosts.iter().find(|host| host.name == "a").unwrap();
    let mac = host.mac.parse().unwrap();
    let (mut eth0, mut all) = (0.0, 0.0);
    for (connection, vlan) in run.connections.iter().zip(VLANS) {
        assert_eq!((connection.vlan, connection.transport.as_str()), (Some(vlan), "udp"));
        let datagrams = connection.datagrams.unwrap();
        // Whole, once, and with their own tag: another VLAN's would be other numbers.
        assert!(datagrams.received > 100 && datagrams.duplicated == 0, "{datagrams:?}");
        assert!(datagrams.lost * 10 < datagrams.received, "{datagrams:?}");
        let bucket = slb::bucket(mac, vlan, 0);
        let has = run.buckets.iter().find(|known| known.host == "a" && known.bucket == bucket).unwrap();
        all += connection.delivered_bps;
        eth0 += if has.member == "eth0" { connection.delivered_bps } else { 0.0 };
    }
    assert_eq!(run.connections.len(), VLANS.len());
    let sent = |member: &str| run.members.iter().find(|of| of.host == "a" && of.member == member).unwrap().tx_bps;
    let (expected, counted) = (eth0 / all, sent("eth0") / (sent("eth0") + sent("eth1")));
    assert!(
        (0.2..0.8).contains(&expected) && (expected - counted).abs() < 0.1,
        "{expected} {counted}: {:?}",
        run.members
    );
}
