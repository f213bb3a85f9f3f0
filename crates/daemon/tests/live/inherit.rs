//! balance-alb: what is still sent to a lost member's address comes to the team.

use std::net::UdpSocket;
use std::time::Duration;

use crate::common::{on_each_dataplane, spec, start};
use nicteam_testnet::{Host, Switch, eventually};

const SERVER: [u8; 4] = [10, 2, 0, 1];
const CLIENT: [u8; 4] = [10, 2, 0, 2];
const PORT: u16 = 7000;

/// A UDP datagram to the server, in a frame to this address.
fn datagram(to: [u8; 6], from: [u8; 6]) -> Vec<u8> {
    let mut ip = [0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0].to_vec();
    ip.extend([CLIENT, SERVER].concat());
    let sum: u32 = ip.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let [high, low] = PORT.to_be_bytes();
    let udp = [high, low, high, low, 0, 12, 0, 0, b'l', b'a', b't', b'e'];
    [&to[..], &from, &[8, 0], &ip, &udp].concat()
}

/// True once a datagram sent in a frame to this address arrives.
fn arrives(client: &mut Host, server: &UdpSocket, to: [u8; 6]) -> bool {
    let from = client.link("eth0").mac;
    assert!(client.packet_socket("eth0").send_frame(&datagram(to, from)));
    let mut buffer = [0; 8];
    server.recv(&mut buffer).is_ok_and(|len| &buffer[..len] == b"late")
}

#[test]
fn the_active_member_takes_what_is_sent_to_a_lost_one() {
    on_each_dataplane(|kind| {
        let (mut host, mut switch, mut client) = (Host::new(), Switch::new(), Host::new());
        switch.join_all(&mut host, "eth", "s", 2);
        switch.join(&mut client, "eth0", "c0");
        let team = start(&host, spec(&[("mode", "balance-alb"), ("miimon", "10")], kind)).unwrap();
        host.address("team0", &[("10.2.0.1", 24)]);
        client.address("eth0", &[("10.2.0.2", 24)]);
        let server = host.udp((SERVER, PORT).into());
        server.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let standby = host.link("eth1").mac;
        assert_ne!(standby, host.link("team0").mac, "{kind}");
        eventually("what is sent to the second member", || arrives(&mut client, &server, standby));
        assert!(!host.link("eth0").promiscuous, "{kind}");
        switch.set_up("s1", false);
        eventually("the loss", || team.report().unwrap().members[1].status.link_failures == 1);
        eventually("what is still sent there", || arrives(&mut client, &server, standby));
        assert!(host.link("eth0").promiscuous, "{kind}: a real NIC would filter it");
        switch.set_up("s1", true);
        eventually("the second member's return", || !host.link("eth0").promiscuous);
        eventually("what is sent to it again", || arrives(&mut client, &server, standby));
        team.remove().unwrap();
    });
}
