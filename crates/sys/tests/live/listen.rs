//! Listening to a few protocols of a device, live.

use nicteam_sys::listen::{Listener, Protocols};
use nicteam_sys::nft;
use nicteam_sys::packet::PacketSocket;
use nicteam_testnet::{Host, loose_cable, may_make_networks, settle};

const NOTHING: Protocols = Protocols { slow: false, hellos: false, arp: false, neighbours: false };
const BROADCAST: [u8; 6] = [0xff; 6];
const STRANGER: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

/// A frame to `dst` of this EtherType, its payload `fill` at the places that a filter reads.
fn frame(dst: [u8; 6], ethertype: u16, next_header: u8, icmp_type: u8) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[..6].copy_from_slice(&dst);
    frame[6] = 2;
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    (frame[20], frame[54]) = (next_header, icmp_type);
    frame
}

/// Which of these frames, sent by the other end of a cable, are heard.
fn heard(protocols: Protocols, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (mut a, mut b) = (Host::quiet(), Host::quiet());
    loose_cable(&mut a, "eth0", &mut b, "eth0", 10, None);
    a.set_up("eth0", true);
    b.set_up("eth0", true);
    let (sender, receiver) = (a.packet_socket("eth0"), b.packet_socket("eth0"));
    settle(&sender, &receiver);
    // Behind the taps, as for a member of a packet team.
    b.netns.run(|| nft::drop_ingress("eth0")).unwrap().unwrap();
    let listener = b.netns.run(|| Listener::open(11, protocols)).unwrap().unwrap();
    let own: PacketSocket = b.packet_socket("eth0");
    frames.iter().for_each(|frame| assert!(own.send_frame(frame) && sender.send_frame(frame)));
    // The device has handed on the last frame before the sender returns: veth.
    settle(&sender, &receiver);
    let (mut buffer, mut heard) = (Vec::new(), Vec::new());
    while listener.receive(&mut buffer).unwrap() {
        heard.push(buffer.clone());
    }
    heard
}

#[test]
fn each_protocol_is_heard_when_it_is_wanted() {
    if !may_make_networks() {
        return;
    }
    let slow = frame([1, 0x80, 0xc2, 0, 0, 2], 0x8809, 0, 0);
    let arp = frame(BROADCAST, 0x0806, 0, 0);
    let hello = frame([3, 0x6e, 0x69, 0x63, 0, 1], 0x88b5, 1, 0);
    let (solicitation, advertisement) = (frame(BROADCAST, 0x86dd, 58, 135), frame(BROADCAST, 0x86dd, 58, 136));
    let others =
        [frame(BROADCAST, 0x86dd, 58, 134), frame(BROADCAST, 0x86dd, 17, 135), frame(BROADCAST, 0x0800, 58, 135)];
    let mut all = vec![slow.clone(), hello.clone(), arp.clone(), solicitation.clone(), advertisement.clone()];
    all.extend(others);
    assert!(heard(NOTHING, &all).is_empty());
    assert_eq!(heard(Protocols { slow: true, ..NOTHING }, &all), std::slice::from_ref(&slow));
    assert_eq!(heard(Protocols { hellos: true, ..NOTHING }, &all), std::slice::from_ref(&hello));
    assert_eq!(heard(Protocols { arp: true, ..NOTHING }, &all), std::slice::from_ref(&arp));
    assert_eq!(heard(Protocols { neighbours: true, ..NOTHING }, &all), [solicitation.clone(), advertisement.clone()]);
    let everything = Protocols { slow: true, hellos: true, arp: true, neighbours: true };
    assert_eq!(heard(everything, &all), [slow, hello, arp, solicitation, advertisement]);
}

#[test]
fn a_tag_is_put_back_and_frames_for_others_are_left_out() {
    if !may_make_networks() {
        return;
    }
    let mut tagged = frame(BROADCAST, 0x0806, 0, 0);
    tagged.splice(12..12, [0x81, 0, 0x60, 5]);
    let wanted = Protocols { arp: true, ..NOTHING };
    assert_eq!(heard(wanted, &[frame(STRANGER, 0x0806, 0, 0), tagged.clone()]), [tagged]);
}

#[test]
fn what_is_behind_several_tags_is_heard() {
    if !may_make_networks() {
        return;
    }
    let behind = |tags: usize, mut frame: Vec<u8>| {
        (0..tags).for_each(|tag| drop(frame.splice(12..12, [[0x81, 0x88][tag % 2], [0, 0xa8][tag % 2], 0, tag as u8])));
        frame
    };
    let solicitation = || frame(BROADCAST, 0x86dd, 58, 135);
    let frames: Vec<_> = (0..=4)
        .flat_map(|tags| {
            [frame(BROADCAST, 0x0806, 0, 0), solicitation(), frame(BROADCAST, 0x86dd, 17, 135)]
                .map(|frame| behind(tags, frame))
        })
        .collect();
    let everything = Protocols { slow: true, hellos: true, arp: true, neighbours: true };
    // One tag is beside the frame, and two more are read.
    let expected =
        (0..=3).flat_map(|tags| [behind(tags, frame(BROADCAST, 0x0806, 0, 0)), behind(tags, solicitation())]);
    assert_eq!(heard(everything, &frames), expected.collect::<Vec<_>>());
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_names_it() {
    if !may_make_networks() {
        return;
    }
    let error = Host::quiet().netns.run(|| Listener::open(77, NOTHING)).unwrap().unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENODEV));
    assert!(error.to_string().contains("77"), "{error}");
}
