//! A VLAN tag beside a frame survives, also beside a GSO frame.

use nicteam_sys::packet::{Batch, Outgoing, Received, Tag};
use nicteam_team::Choose;
use nicteam_testnet::{eventually, may_make_networks};

use crate::common::bench::Bench;
use crate::common::frames::{TCP4, gso_frame};
use crate::common::{hosts, id, plan};

const PAYLOAD: usize = 20_000;
const MSS: u16 = 1400;

#[test]
fn a_tagged_gso_frame_passes_both_ways() {
    if !may_make_networks() {
        return;
    }
    let bench = Bench::new(1);
    let dataplane = bench.team.start(hosts::packet, &plan(1, Choose::One(id(0)), 1));
    let (stack, far) = (&bench.stack, &bench.far_sockets[0]);
    let (frame, offload) = gso_frame(&TCP4, PAYLOAD, MSS);
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
            assert_eq!((received.offload.gso_type, received.offload.gso_size), (TCP4.gso_type, MSS));
            assert_eq!((received.offload.csum_start, received.offload.csum_offset), (34, 16));
        }
    }
    bench.team.stop(dataplane);
}
