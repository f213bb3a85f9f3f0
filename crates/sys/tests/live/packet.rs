//! Packet sockets and nf_tables, live, in namespaces made here.

use std::time::{Duration, SystemTime};

use nicteam_netlink::nft;
use nicteam_netlink::{Netlink, VethEnd};
use nicteam_sys::packet::{BATCH, Batch, Outgoing, PacketSocket};
use nicteam_testnet::{Host, eventually, may_make_networks, settle};

const FRAME: [u8; 60] = {
    let mut frame = [0x5a; 60];
    (frame[0], frame[6], frame[12], frame[13]) = (2, 2, 0x88, 0xb5);
    frame
};

/// Runs `test` in a host with the cable `a` (index 10) to `b` (11), both up.
fn with_pair(test: impl FnOnce() + Send) {
    if !may_make_networks() {
        return;
    }
    let namespace = Host::quiet().netns;
    let end = |name, index| VethEnd { name, index: Some(index), mac: None, netns: None, gso_max_segs: None };
    namespace
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            netlink.add_veth(&end("a", 10), &end("b", 11), 1500).unwrap();
            [10, 11].into_iter().for_each(|index| netlink.set_up(index, true).unwrap());
            settle(&PacketSocket::open(10).unwrap(), &PacketSocket::open(11).unwrap());
            test();
        })
        .unwrap();
}

/// Receives until `count` frames of ours have come; others are passed over.
fn receive(socket: &PacketSocket, count: usize) -> Vec<Vec<u8>> {
    let (mut batch, mut frames) = (Batch::new(), Vec::new());
    while frames.len() < count {
        socket.receive(&mut batch).unwrap();
        frames.extend(batch.frames().filter(|frame| frame.bytes[12..14] == FRAME[12..14]).map(|f| f.bytes.to_vec()));
    }
    frames
}

#[test]
fn frames_arrive_in_order_also_behind_a_drop_at_ingress() {
    with_pair(|| {
        let (a, b) = (PacketSocket::open(10).unwrap(), PacketSocket::open(11).unwrap());
        nft::drop_ingress("b").unwrap();
        let sent: Vec<Vec<u8>> = (0..3 * BATCH as u8).map(|i| [&FRAME[..], &[i]].concat()).collect();
        sent.iter().for_each(|frame| assert!(a.send_frame(frame)));
        assert_eq!(receive(&b, sent.len()), sent);
        assert_eq!(b.take_lost().unwrap(), 0);
    });
}

#[test]
fn what_a_socket_sent_it_does_not_receive() {
    with_pair(|| {
        let (a, b) = (PacketSocket::open(10).unwrap(), PacketSocket::open(11).unwrap());
        assert!(a.send_frame(&FRAME));
        receive(&b, 1);
        assert!(b.send_frame(&[&FRAME[..], b"back"].concat()));
        assert_eq!(receive(&a, 1), [[&FRAME[..], b"back"].concat()]);
    });
}

#[test]
fn a_socket_that_notes_arrivals_tells_when_each_frame_came() {
    with_pair(|| {
        let (a, b) = (PacketSocket::open(10).unwrap(), PacketSocket::open(11).unwrap());
        b.note_arrivals().unwrap();
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        // The kernel begins to note a moment after it is asked to; then a frame has the time of the reading.
        eventually("a frame that was noted when it came", || {
            let before = now();
            assert!(a.send_frame(&FRAME));
            let after = now();
            std::thread::sleep(Duration::from_millis(1));
            let mut batch = Batch::new();
            b.receive(&mut batch).unwrap();
            let arrived: Vec<_> = (0..batch.frames().count()).map(|place| batch.arrived(place).unwrap()).collect();
            arrived.iter().all(|arrived| (before..=after).contains(arrived)) && !arrived.is_empty()
        });
        let mut batch = Batch::new();
        assert!(b.send_frame(&FRAME));
        eventually("the frame", || {
            a.receive(&mut batch).unwrap();
            batch.get(0).is_some()
        });
        assert_eq!(batch.arrived(0), None, "a socket that does not note them");
    });
}

#[test]
fn a_device_that_is_down_drops_and_comes_back() {
    with_pair(|| {
        let (a, b) = (PacketSocket::open(10).unwrap(), PacketSocket::open(11).unwrap());
        let mut netlink = Netlink::open().unwrap();
        netlink.set_up(10, false).unwrap();
        let mut batch = Batch::new();
        a.receive(&mut batch).unwrap();
        assert_eq!(batch.get(0), None);
        assert!(!a.send_frame(&FRAME));
        netlink.set_up(10, true).unwrap();
        settle(&a, &b);
    });
}

#[test]
fn a_frame_longer_than_the_mtu_is_dropped_and_those_behind_it_are_sent() {
    with_pair(|| {
        let (a, b) = (PacketSocket::open(10).unwrap(), PacketSocket::open(11).unwrap());
        let (mut long, mut batch) = (FRAME.to_vec(), Batch::new());
        long.resize(2000, 0);
        for bytes in [&FRAME[..], &long, &FRAME] {
            let (tag, offload) = (None, Default::default());
            assert!(batch.push(nicteam_sys::packet::Received { bytes, tag, offload }));
        }
        let queue: Vec<Outgoing> = (0..4).map(|place| Outgoing { place, ..Outgoing::default() }).collect();
        let sent = a.send(&batch, &queue);
        assert_eq!((sent.frames, sent.bytes, sent.drops), (2, 2 * FRAME.len() as u64, 1));
        receive(&b, 2);
    });
}

#[test]
fn dropping_at_ingress_can_be_repeated_and_undone() {
    with_pair(|| {
        nft::probe().unwrap();
        nft::undo("b").unwrap();
        nft::drop_ingress("b").unwrap();
        nft::drop_ingress("b").unwrap();
        nft::undo("b").unwrap();
        nft::undo("b").unwrap();
    });
}

#[test]
fn what_cannot_be_a_device_is_an_error_that_names_it() {
    with_pair(|| {
        assert_eq!(PacketSocket::open(99).unwrap_err().errno(), Some(libc::ENODEV));
        let error = nft::drop_ingress("longer-than-any-device").unwrap_err();
        assert!(error.to_string().contains("longer-than-any-device"), "{error}");
    });
}
