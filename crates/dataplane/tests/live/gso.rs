//! What a GSO frame takes on the wire: each of its segments has headers of its own. Who forgets them believes that a
//! member is free while frames still wait there, and a connection's segments overtake each other.

use std::thread;
use std::time::{Duration, Instant};

use nicteam_dataplane::{Dataplane, TeamDevice};
use nicteam_sys::packet::{Batch, Outgoing, Received};
use nicteam_team::constants::LEAD_NS;
use nicteam_testnet::{eventually, may_make_networks};
use nicteam_wire::constants::WIRE_OVERHEAD;

use crate::common::bench::Bench;
use crate::common::frames::{Gso, TCP4, TCP6, gso_frame};
use crate::common::hosts::{bpf, packet};
use crate::common::may_run_bpf;
use crate::common::striping::{MEMBERS, OWN, PEER, ipv4, striping, with_macs};

/// A member's, Mbit/s: what a test needs to send all frames is little beside what they take on the wire.
const RATE: u32 = 4;
/// Of 201 segments, the last one not full. Their headers are nearly a half of what they take.
const PAYLOAD: usize = 20_050;
const MSS: u16 = 100;
/// No member is believed to be busy for longer.
const LEAD: Duration = Duration::from_nanos(LEAD_NS);

#[test]
fn ebpf_counts_the_headers_of_each_segment() {
    if may_run_bpf("ebpf_counts_the_headers_of_each_segment") {
        count_headers(bpf);
    }
}

#[test]
fn packet_sockets_count_the_headers_of_each_segment() {
    if may_make_networks() {
        count_headers(packet);
    }
}

/// The other members get what keeps them as busy as the GSO frame keeps its own, and no frame more.
fn count_headers<D: Dataplane + ?Sized>(open: fn(&TeamDevice) -> Box<D>) {
    let bench = Bench::new(MEMBERS);
    let dataplane = bench.team.start(open, &striping([RATE; MEMBERS]));
    for gso in [TCP4, TCP6] {
        let segments = PAYLOAD.div_ceil(usize::from(MSS));
        let (_, offload) = gso_frame(&gso, PAYLOAD, MSS);
        let bytes = PAYLOAD + segments * (usize::from(offload.hdr_len) + WIRE_OVERHEAD);
        let small = ipv4(PEER, OWN, 0).len() + WIRE_OVERHEAD;
        let room = (MEMBERS - 1) * bytes / small;
        let slack = 2 * MEMBERS;

        let beside = beside_gso_frame(&bench, &gso, room - slack);
        assert_eq!(beside, 0, "of {} frames, {bytes} bytes on the wire", room - slack);
        let beside = beside_gso_frame(&bench, &gso, room + slack);
        assert!(beside > 0, "of {} frames, {bytes} bytes on the wire", room + slack);
    }
    bench.team.stop(dataplane);
}

/// How many of so many frames leave by the member that a GSO frame has just left by.
fn beside_gso_frame(bench: &Bench, gso: &Gso, frames: usize) -> usize {
    let (frame, offload) = gso_frame(gso, PAYLOAD, MSS);
    let frame = with_macs(&frame, PEER, OWN);
    let mut batch = Batch::new();
    loop {
        thread::sleep(LEAD);
        let began = Instant::now();
        batch.clear();
        assert!(batch.push(Received { bytes: &frame, tag: None, offload }));
        assert_eq!(bench.stack.send(&batch, &[Outgoing::default()]).frames, 1);
        (0..frames).for_each(|number| assert!(bench.stack.send_frame(&ipv4(PEER, OWN, number as u16))));
        let took = began.elapsed();
        let mut by_member = [0; MEMBERS];
        let mut large = None;
        eventually("every frame arrives", || {
            for (place, socket) in bench.far_sockets.iter().enumerate() {
                socket.receive(&mut batch).unwrap();
                large = large.or(batch.frames().any(|received| received.bytes.len() > PAYLOAD).then_some(place));
                by_member[place] += batch.frames().count();
            }
            by_member.iter().sum::<usize>() > frames
        });
        // Else the members became free again meanwhile, which says nothing.
        if took < LEAD / 5 {
            return by_member[large.expect("the GSO frame is among them")] - 1;
        }
    }
}
