//! What the port at the other end of a device says, on real devices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nicteam_daemon::{PersistedTeam, Service, TeamSpec};
use nicteam_dataplane::Choice;
use nicteam_host::doctor::gather::{Options, gather};
use nicteam_host::doctor::{Weight, findings};
use nicteam_sys::packet::SendSocket;
use nicteam_team::Config;
use nicteam_testnet::{Host, may_make_networks};
use nicteam_wire::{Lacpdu, Lldp, LldpAggregation, Mac, PortInfo};

const SWITCH: Mac = Mac([2, 0, 0, 0, 0, 0x77]);

#[test]
fn lldp_and_lacp_of_the_switch_are_heard_by_members_of_a_team() {
    if !may_make_networks() {
        return;
    }
    let (mut host, mut switch) = (Host::quiet(), Host::quiet());
    nicteam_testnet::cables(&mut host, &mut switch, 2);
    let team = host.netns.run(start).unwrap();
    let aggregation = Some(LldpAggregation { capable: true, aggregated: true, port: 3 });
    let said = Lldp {
        chassis: "sw1".into(),
        port: "7".into(),
        ttl_s: 120,
        aggregation,
        max_frame_bytes: Some(1522),
        ..Lldp::default()
    };
    let lacp = Lacpdu::new(PortInfo { system: SWITCH, key: 9, ..PortInfo::default() }, PortInfo::default());
    let ports: Vec<u32> = ["eth0", "eth1"].map(|port| switch.index(port)).to_vec();
    let sockets: Vec<SendSocket> =
        switch.netns.run(|| ports.iter().map(|port| SendSocket::open(*port).unwrap()).collect()).unwrap();
    let done = AtomicBool::new(false);
    let facts = std::thread::scope(|scope| {
        let end = nicteam_testnet::SetAtEnd(&done);
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                for socket in &sockets {
                    socket.send(&said.frame(SWITCH));
                    socket.send(&lacp.frame(SWITCH));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let begun = Instant::now();
        let facts = host.netns.run(|| gather(&Options { listen: Duration::from_secs(30) })).unwrap().unwrap();
        drop(end);
        assert!(begun.elapsed() < Duration::from_secs(30), "it ends once everything was heard");
        facts
    });
    let heard: Vec<_> = facts.devices.iter().map(|device| (device.link.name.as_str(), &device.heard)).collect();
    assert_eq!(heard.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["eth0", "eth1"]);
    for (name, heard) in heard {
        assert_eq!((heard.lldp.as_ref(), heard.lacp.map(|pdu| pdu.actor.key)), (Some(&said), Some(9)), "{name}");
    }
    let found = findings(&facts);
    let about: Vec<(&str, &str)> = found
        .iter()
        .filter(|finding| finding.weight == Weight::Disappoints && finding.rule == "switch-group")
        .map(|finding| (finding.about.as_str(), finding.text.as_str()))
        .collect();
    // Each member: it speaks LACP, and is in an aggregation.
    assert_eq!(about.len(), 4, "{found:#?}");
    host.netns.run(|| team.end()).unwrap().unwrap();
}

/// A team of eth0 and eth1 that can be asked.
fn start() -> Service {
    let mut config = Config::default();
    for (name, value) in [("mode", "balance-alb"), ("miimon", "100")] {
        config.set(name, value).unwrap();
    }
    let members = vec!["eth0".to_owned(), "eth1".to_owned()];
    let spec =
        TeamSpec { name: "team0".to_owned(), config, members, mac: None, mtu: None, dataplane: Choice::default() };
    Service::start(&PersistedTeam::of(&spec, None), Box::new(|_| {})).unwrap()
}
