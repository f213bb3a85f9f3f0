//! A team goes down whose active member is not the one that had the addresses: from which ports its MAC address comes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_testnet::{SetAtEnd, eventually};

use super::{FAR, FAR_V6, NEAR, NEAR_V6, Network, TEAM};
use crate::common::teams::{Probes, may_test_bpf};

/// What a switch learns from, in its order: the port, and when.
type Learned = Vec<(Duration, usize)>;

/// Hears the ports of the near host while `change` goes on; where frames from this address came in, in their order,
/// as a switch learns it: each port once until the address moves.
fn moves_of(mac: [u8; 6], ports: &[PacketSocket], change: impl FnOnce()) -> Vec<usize> {
    let done = AtomicBool::new(false);
    let hear = || {
        let (mut learned, mut batch) = (Learned::new(), Batch::new());
        let mut last = false;
        while !last {
            // What has come until the end is read, too.
            last = done.load(Ordering::SeqCst);
            for (port, socket) in ports.iter().enumerate() {
                loop {
                    socket.receive(&mut batch).unwrap();
                    let frames = batch.frames().enumerate().filter(|(_, frame)| frame.bytes[6..12] == mac);
                    learned.extend(frames.map(|(place, _)| (batch.arrived(place).unwrap(), port)));
                    if batch.frames().count() == 0 {
                        break;
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        learned.sort_unstable();
        let mut ports: Vec<usize> = learned.into_iter().map(|(_, port)| port).collect();
        ports.dedup();
        ports
    };
    std::thread::scope(|scope| {
        let heard = scope.spawn(hear);
        {
            let _end = SetAtEnd(&done);
            change();
        }
        heard.join().unwrap()
    })
}

#[test]
fn the_teams_mac_address_moves_once_to_the_member_that_had_the_addresses() {
    if !may_test_bpf() {
        return;
    }
    let mut network = Network::new();
    // Both members have addresses, and speak as soon as they have IPv6.
    network.ip("address add 10.4.0.1/24 dev eth1");
    network.ip("address add 2001:db8:4::1/64 dev eth1 nodad");
    let mac = network.near.host.link("eth0").mac;
    let file = network.file("teams.toml", TEAM);
    network.done(&["up", &file]);
    network.near.run(&["set", "team0", "active_slave=eth1"]);
    eventually("another active member", || network.near.status("team0")["active"] == "eth1");
    let ports = ["a0", "a1"].map(|port| network.switch.host.packet_socket(port));
    for socket in &ports {
        socket.note_arrivals().unwrap();
    }
    let v4 = Probes::new(&network.far, FAR, &network.near.host, NEAR);
    let ends = [FAR_V6, NEAR_V6].map(|address| address.parse::<std::net::Ipv6Addr>().unwrap());
    let (mut lost, mut sent) = (Vec::new(), 0);
    let out = Probes::new(&network.near.host, ends[1], &network.far, ends[0]);
    let moves = moves_of(mac, &ports, || {
        out.lost_during(|| (lost, sent) = v4.lost_during(|| drop(network.done(&["down", "team0"]))));
    });
    eprintln!("ports {moves:?}; {} of {sent} lost on the way in", lost.len());
    assert!(moves == [1, 0] || moves == [0], "the address moves: {moves:?}");
    assert!(lost.len() <= 3, "{lost:?} of {sent}");
}
