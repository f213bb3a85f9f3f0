//! A capture on devices that there are.

use std::path::Path;

use nicteam_capture::{Bundle, Capture, Filter, Link, Output};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_sys::signals::Signals;
use nicteam_testnet::{Host, cables, eventually, may_make_networks};
use nix::sys::signal::Signal;
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};

/// Interface and time of each frame of a file.
fn frames(file: &Path) -> Vec<(u32, u64)> {
    let bytes = std::fs::read(file).unwrap();
    let mut reader = create_reader(65536, &bytes[..]).unwrap();
    let mut frames = Vec::new();
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                if let PcapBlockOwned::NG(Block::EnhancedPacket(block)) = &block {
                    frames.push((block.if_id, u64::from(block.ts_high) << 32 | u64::from(block.ts_low)));
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => return frames,
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Until a frame arrived.
fn wait_for(socket: &PacketSocket) {
    let mut batch = Batch::new();
    eventually("the frame", || {
        socket.receive(&mut batch).unwrap();
        batch.frames().next().is_some()
    });
}

#[test]
fn frames_of_several_devices_are_in_the_order_of_time_up_to_the_limit() {
    if !may_make_networks() {
        return;
    }
    let (mut near, mut far) = (Host::quiet(), Host::quiet());
    cables(&mut near, &mut far, 2);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("order-{}.pcapng", std::process::id()));
    let mut link = |name: &str| Link { name: name.to_owned(), index: near.index(name), ..Link::default() };
    let bundle = Bundle { device: link("eth0"), members: vec![link("eth1")], ..Bundle::default() };
    let senders = ["eth0", "eth1"].map(|device| far.packet_socket(device));
    let arrivals = ["eth0", "eth1"].map(|device| near.packet_socket(device));
    let frame = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9], &[0x88, 0xb6], &[0; 50]].concat();
    let captured = near.netns.run(|| {
        let signals = Signals::catch(&[Signal::SIGUSR1]).unwrap();
        let output = Output::open(&file).unwrap();
        let mut capture = Capture::begin(bundle.clone(), Filter::default(), output, Some(15), &signals).unwrap();
        // They wait in the sockets until the capture goes on. Each is there before the next is sent: the kernel may take those of
        // one device before those of the other, whichever was sent first.
        for _ in 0..10 {
            for (sender, arrival) in senders.iter().zip(&arrivals) {
                assert!(sender.send_frame(&frame));
                wait_for(arrival);
            }
        }
        capture.run(|| Some(bundle.clone())).unwrap()
    });
    let captured = captured.unwrap();
    assert_eq!((captured.frames, captured.lost), (15, Vec::new()));
    let found = frames(&file);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(found.len(), 15);
    assert!(found.is_sorted_by_key(|(_, at)| *at), "{found:?}");
    assert!((0..2).all(|interface| found.iter().filter(|(of, _)| *of == interface).count() >= 7), "{found:?}");
}
