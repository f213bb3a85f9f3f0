//! What the members receive reaches the host once: through the team.

use std::net::Ipv4Addr;
use std::ops::Range;
use std::time::Duration;

use nicteam_sys::packet::Batch;
use nicteam_team::Choose;
use nicteam_testnet::{eventually, may_make_networks};

use crate::common::bench::Bench;
use crate::common::hosts::{self, team_mac};
use crate::common::{id, plan};

const DATAGRAMS: u32 = 50;
const PORT: u16 = 4000;
/// Everything that hangs is given up after this; no outcome depends on it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Many: the answer of the member's own stack may come some questions late.
const ASKERS: Range<u8> = 10..250;

#[test]
fn a_broadcast_datagram_is_received_once() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new(2);
    bench.team.host.address("team", &[("10.9.0.1", 24)]);
    bench.far.address("f0", &[("10.9.0.2", 24)]);
    let dataplane = bench.team.start(hosts::packet, &plan(1, Choose::One(id(0)), 2));
    let receiver = bench.team.host.udp((Ipv4Addr::UNSPECIFIED, PORT).into());
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let sender = bench.far.udp(([10, 9, 0, 2], 0).into());
    sender.set_broadcast(true).unwrap();
    let broadcast = |number: u32| {
        sender.send_to(&number.to_be_bytes(), ("10.9.0.255", PORT)).unwrap();
    };
    let receive = || {
        let mut bytes = [0; 4];
        receiver.recv(&mut bytes).unwrap();
        u32::from_be_bytes(bytes)
    };

    // A second copy would come by the member, at once: before the one by the team.
    (0..DATAGRAMS).for_each(broadcast);
    let numbers: Vec<u32> = (0..DATAGRAMS).map(|_| receive()).collect();
    assert_eq!(numbers, (0..DATAGRAMS).collect::<Vec<_>>());

    // Without the dataplane the member's frames are its own: the same datagram comes by it.
    bench.team.stop(dataplane);
    broadcast(DATAGRAMS);
    assert_eq!(receive(), DATAGRAMS);
}

#[test]
fn a_member_with_the_teams_address_does_not_answer_a_second_time() {
    if !may_make_networks() {
        return;
    }
    let mut bench = Bench::new(1);
    bench.team.host.address("team", &[("10.9.0.1", 24)]);
    let index = bench.team.ports[0].index;
    bench.team.host.netlink.set_mac(index, team_mac(1).0).unwrap();
    let dataplane = bench.team.start(hosts::packet, &plan(1, Choose::One(id(0)), 1));
    let far = &bench.far_sockets[0];
    let (mut batch, mut asked) = (Batch::new(), Vec::new());
    for asker in ASKERS {
        assert!(far.send_frame(&arp_request(asker)));
        eventually("the team answers", || {
            far.receive(&mut batch).unwrap();
            asked.extend(batch.frames().filter_map(|received| answered_asker(received.bytes)));
            asked.contains(&asker)
        });
    }
    assert_eq!(asked, ASKERS.collect::<Vec<u8>>());
    bench.team.stop(dataplane);
}

/// 10.9.0.`asker` asks who has 10.9.0.1.
fn arp_request(asker: u8) -> Vec<u8> {
    let mac = [2, 0, 0, 0, 9, asker];
    let mut frame = vec![0xff; 6];
    frame.extend(mac);
    frame.extend([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1]);
    frame.extend(mac);
    frame.extend([10, 9, 0, asker, 0, 0, 0, 0, 0, 0, 10, 9, 0, 1]);
    frame
}

/// Whom an ARP reply answers.
fn answered_asker(frame: &[u8]) -> Option<u8> {
    let is_reply = frame.get(12..14)? == [0x08, 0x06] && frame.get(20..22)? == [0, 2];
    if is_reply { frame.get(41).copied() } else { None }
}
