//! A VLAN tag beside a frame survives, also beside a GSO frame.

use nicteam_sys::packet::{Batch, Offload, Outgoing, Received, Tag};
use nicteam_team::Choose;
use nicteam_testnet::{eventually, may_make_networks};

use crate::common::bench::Bench;
use crate::common::{hosts, id, plan};

const PAYLOAD: usize = 20_000;
const MSS: u16 = 1400;
/// Ethernet, IPv4 and TCP.
const HEADERS: usize = 54;
/// `VIRTIO_NET_HDR_GSO_TCPV4`.
const TCP4: u8 = 1;

#[test]
fn a_tagged_gso_frame_passes_both_ways() {
    if !may_make_networks() {
        return;
    }
    let bench = Bench::new(1);
    let dataplane = bench.team.start(hosts::packet, &plan(1, Choose::One(id(0)), 1));
    let (stack, far) = (&bench.stack, &bench.far_sockets[0]);
    let frame = gso_frame();
    let offload = Offload {
        flags: Offload::NEEDS_CHECKSUM,
        gso_type: TCP4,
        hdr_len: HEADERS as u16,
        gso_size: MSS,
        csum_start: 34,
        csum_offset: 16,
    };
    let tags = [None, Some(Tag { protocol: 0x8100, tci: 0xa123 }), Some(Tag { protocol: 0x88a8, tci: 5 })];
    for tag in tags {
        for (from, to) in [(stack, far), (far, stack)] {
            let mut batch = Batch::new();
            assert!(batch.push(Received { bytes: &frame, tag, offload }));
            assert_eq!(from.send(&batch, &[Outgoing::default()]).frames, 1, "{tag:?}");
            eventually("the GSO frame arrives", || {
                to.receive(&mut batch).unwrap();
                batch.get(0).is_some()
            });
            let received = batch.get(0).unwrap();
            assert_eq!((received.tag, received.bytes == frame), (tag, true));
            assert_eq!((received.offload.gso_type, received.offload.gso_size), (TCP4, MSS));
            assert_eq!((received.offload.csum_start, received.offload.csum_offset), (34, 16));
        }
    }
    bench.team.stop(dataplane);
}

/// A TCP segment larger than any packet, its checksum left to others.
fn gso_frame() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0];
    let total = (HEADERS - 14 + PAYLOAD) as u16;
    frame.extend([0x45, 0]);
    frame.extend(total.to_be_bytes());
    frame.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
    frame.extend([0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.extend((0..PAYLOAD).map(|i| (i % 251) as u8));
    frame
}
