//! A VLAN tag crosses two teams on both dataplanes, whether it is among the bytes of the frame or beside them.

use crate::common::hosts::{CABLES, TeamHost, bpf, packet, pair, pair_plan};
use crate::common::{ids, may_run_bpf};
use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::{Batch, PacketSocket, Tag};
use nicteam_team::Choose;
use nicteam_testnet::{eventually, may_make_networks};

/// Frames each way and tag; more than there are members.
const FRAMES: u8 = 12;
const TAGS: [Tag; 3] =
    [Tag { protocol: 0x8100, tci: 0x6005 }, Tag { protocol: 0x88a8, tci: 7 }, Tag { protocol: 0x8100, tci: 0 }];

#[test]
fn a_tag_crosses_ebpf_teams() {
    if may_run_bpf("a_tag_crosses_ebpf_teams") {
        cross(bpf);
    }
}

#[test]
fn a_tag_crosses_packet_teams() {
    if may_make_networks() {
        cross(packet);
    }
}

fn cross<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let (mut a, b) = pair();
    let in_turn = || Choose::RoundRobin { members: ids(CABLES), packets_per_member: 1, igmp: ids(1)[0] };
    let teams = [&a, &b].map(|host| host.start(open, &pair_plan(in_turn())));
    let (stack_a, stack_b) = (a.stack(), b.stack());
    for tag in TAGS {
        // From the stack the tag is among the bytes.
        assert_crosses(&stack_a, &stack_b, tag);
        assert_crosses(&stack_b, &stack_a, tag);
    }
    // From a bridge's other port it is beside the frame.
    let (_outside, outside) = a.bridge();
    for tag in TAGS {
        assert_crosses(&outside, &stack_b, tag);
        assert_crosses(&stack_b, &outside, tag);
    }
    let [team_a, team_b] = teams;
    stop(&a, team_a);
    stop(&b, team_b);
}

fn stop<D: Dataplane + ?Sized>(host: &TeamHost, dataplane: Box<D>) {
    host.stop(dataplane);
}

/// Every frame arrives once with this tag beside it and nothing else changed.
#[track_caller]
fn assert_crosses(from: &PacketSocket, to: &PacketSocket, tag: Tag) {
    let mut expected: Vec<Vec<u8>> = (0..FRAMES).map(untagged).collect();
    for frame in &expected {
        let (macs, rest) = frame.split_at(12);
        assert!(from.send_frame(&[macs, &tag.protocol.to_be_bytes(), &tag.tci.to_be_bytes(), rest].concat()));
    }
    let mut batch = Batch::new();
    eventually("every frame", || {
        to.receive(&mut batch).unwrap();
        for received in batch.frames().filter(|received| received.bytes[12..14] == PROTOCOL) {
            assert_eq!(received.tag, Some(tag));
            let place = expected.iter().position(|frame| frame == received.bytes);
            expected.remove(place.expect("a frame that was sent, for the first time"));
        }
        expected.is_empty()
    });
}

/// Local experimental (IEEE 802): nobody else speaks it.
const PROTOCOL: [u8; 2] = [0x88, 0xb5];

fn untagged(number: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 7, 7]);
    frame.extend(PROTOCOL);
    frame.extend([number; 50]);
    frame
}
