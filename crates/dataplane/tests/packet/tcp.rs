//! Two hosts with a packet team each; TCP between them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;

use nicteam_dataplane::Port;
use nicteam_sys::netlink::{Netlink, VethEnd};
use nicteam_sys::netns::NetNs;
use nicteam_team::{Choose, HashPolicy};

use crate::lab::{PATIENCE, address, counters, end, member, namespace, plan, start, team_device};

const BYTES: usize = 32 << 20;

#[test]
fn a_stream_arrives_whole_and_in_super_frames() {
    let (a, b) = match (namespace(), namespace()) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(error), _) | (_, Err(error)) => return eprintln!("SKIPPED: {error}"),
    };
    let ports = connect(&a, &b);
    let choose = Choose::Hash { policy: HashPolicy::Layer34, table: vec![member(0), member(1)] };
    let teams = [(&a, 1), (&b, 2)].map(|(host, number)| {
        let device = team_device(host);
        host.run(|| Netlink::open().unwrap().set_mac(device.index, [2, 0, 0, 0, 0, number]).unwrap()).unwrap();
        address(host, device.index, [10, 9, 0, number].into());
        start(host, &device, &ports, &plan(2, choose.clone()))
    });

    let listener = b.run(|| TcpListener::bind(("10.9.0.2", 0)).unwrap()).unwrap();
    let to = listener.local_addr().unwrap();
    let sent: Vec<u8> = (0..BYTES).map(|i| (i % 65_521) as u8).collect();
    let mut sender = a.run(|| TcpStream::connect_timeout(&to, PATIENCE).unwrap()).unwrap();
    let mut receiver = listener.accept().unwrap().0;
    sender.set_write_timeout(Some(PATIENCE)).unwrap();
    receiver.set_read_timeout(Some(PATIENCE)).unwrap();
    let received = thread::scope(|scope| {
        let bytes = &sent;
        scope.spawn(move || sender.write_all(bytes).unwrap());
        let mut received = Vec::with_capacity(BYTES);
        receiver.read_to_end(&mut received).unwrap();
        received
    });
    assert!(received == sent, "{} of {} bytes, or others", received.len(), sent.len());

    let [team_a, _] = &teams;
    let carried = [0, 1].map(|place| counters(&**team_a, place));
    let (bytes, frames) = (carried[0].tx_bytes + carried[1].tx_bytes, carried[0].tx_frames + carried[1].tx_frames);
    assert!(bytes >= BYTES as u64);
    assert!(bytes / frames > 4000, "{frames} frames for {bytes} bytes: no super-frames");
    for (host, team) in [&a, &b].into_iter().zip(teams) {
        host.run(move || team.remove()).unwrap().unwrap();
    }
}

/// Two links between the hosts; the same names at both ends.
fn connect(a: &NetNs, b: &NetNs) -> Vec<Port> {
    let ports: Vec<Port> =
        (0..2).map(|i| Port { id: member(i), name: format!("m{i}"), index: 100 + i as u32 }).collect();
    a.run(|| {
        let mut netlink = Netlink::open().unwrap();
        for port in &ports {
            let far = VethEnd { netns: Some(b.as_fd()), ..end(&port.name, port.index) };
            netlink.add_veth(&end(&port.name, port.index), &far, 1500).unwrap();
        }
    })
    .unwrap();
    for host in [a, b] {
        let up = || ports.iter().for_each(|port| Netlink::open().unwrap().set_up(port.index, true).unwrap());
        host.run(up).unwrap();
    }
    ports
}
