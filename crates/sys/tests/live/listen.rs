//! Listening to a few protocols of a device, live.

use nicteam_netlink::nft;
use nicteam_sys::listen::{Kind, Listener, Rule, Rules, Share, Tap};
use nicteam_sys::packet::PacketSocket;
use nicteam_testnet::{Host, loose_cable, may_make_networks, settle};

const BROADCAST: [u8; 6] = [0xff; 6];
const STRANGER: [u8; 6] = [2, 0, 0, 0, 0, 0x99];
const SLOW_GROUP: [u8; 6] = [1, 0x80, 0xc2, 0, 0, 2];
const HELLO_GROUP: [u8; 6] = [3, 0x6e, 0x69, 0x63, 0, 1];
const CISCO_GROUP: [u8; 6] = [1, 0, 0x0c, 0xcc, 0xcc, 0xcc];
/// The device that listens.
const OWN: [u8; 6] = [2, 0, 0, 0, 0, 0x11];
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;
const SLOW: u16 = 0x8809;
const HELLO: u16 = 0x88b5;

/// A frame of so many bytes, with these at these places.
fn frame(dst: [u8; 6], ethertype: u16, len: usize, bytes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut frame = vec![0; len];
    frame[..6].copy_from_slice(&dst);
    frame[6] = 2;
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    changed(frame, bytes)
}

/// The same with other bytes at these places.
fn changed(mut frame: Vec<u8>, bytes: &[(usize, &[u8])]) -> Vec<u8> {
    bytes.iter().for_each(|(at, bytes)| frame[*at..][..bytes.len()].copy_from_slice(bytes));
    frame
}

fn arp() -> Vec<u8> {
    frame(BROADCAST, ARP, 60, &[(14, &[0, 1, 8, 0, 6, 4, 0, 1])])
}

fn neighbour(icmp_type: u8) -> Vec<u8> {
    frame([0x33, 0x33, 0xff, 0, 0, 1], IPV6, 86, &[(20, &[58, 255]), (54, &[icmp_type])])
}

fn lacpdu() -> Vec<u8> {
    frame(SLOW_GROUP, SLOW, 124, &[(14, &[1, 1, 1, 20]), (36, &[2, 20])])
}

fn marker() -> Vec<u8> {
    frame(SLOW_GROUP, SLOW, 124, &[(14, &[2, 1, 1, 16])])
}

fn announcement() -> Vec<u8> {
    frame(HELLO_GROUP, HELLO, 46 + 3 * 12, &[(14, &[1, 1, 3, 31])])
}

fn hello(kind: u8) -> Vec<u8> {
    frame(OWN, HELLO, 78, &[(14, &[1, kind, 0, 0]), (30, &[1, 2, 3, 4])])
}

/// PAgP as a Catalyst's port sends it: length, SNAP, Cisco, 0x0104, an information PDU.
fn pagp() -> Vec<u8> {
    frame(CISCO_GROUP, 62, 76, &[(14, &[0xaa, 0xaa, 3, 0, 0, 0x0c, 1, 4, 1])])
}

/// Which of these frames, sent by the other end of a cable, are heard.
fn heard(rules: &Rules, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (mut a, mut b) = (Host::quiet(), Host::quiet());
    let [_, index] = loose_cable(&mut a, "eth0", &mut b, "eth0", None);
    b.netlink.set_mac(index, OWN).unwrap();
    a.set_up("eth0", true);
    b.set_up("eth0", true);
    let (sender, receiver) = (a.packet_socket("eth0"), b.packet_socket("eth0"));
    settle(&sender, &receiver);
    // Behind the taps, as for a member of a packet team.
    b.netns.run(|| nft::drop_ingress("eth0")).unwrap().unwrap();
    let listener = b.netns.run(|| Listener::open(index, Tap::Ahead, rules)).unwrap().unwrap();
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
fn each_kind_is_heard_when_it_is_wanted() {
    if !may_make_networks() {
        return;
    }
    let of = [
        (Kind::Hello, vec![announcement(), hello(4), hello(5)]),
        (Kind::Echo, vec![hello(3)]),
        (Kind::Lacp, vec![lacpdu()]),
        (Kind::Marker, vec![marker(), changed(marker(), &[(16, &[2])])]),
        (Kind::Arp, vec![arp(), changed(arp(), &[(20, &[0, 2])])]),
        (Kind::Neighbour, vec![neighbour(135), neighbour(136)]),
        (Kind::Pagp, vec![pagp()]),
    ];
    let mut all: Vec<Vec<u8>> = of.iter().flat_map(|(_, frames)| frames.clone()).collect();
    let legal = all.clone();
    all.extend([neighbour(134), frame(BROADCAST, 0x0800, 60, &[]), hello(2)]);
    assert!(heard(&Rules::default(), &all).is_empty());
    for (kind, frames) in of {
        assert_eq!(heard(&Rules::of([kind]), &all), frames, "{kind:?}");
    }
    assert_eq!(heard(&Rules::of(Kind::ALL), &all), legal);
}

#[test]
fn what_is_not_of_a_legal_form_is_not_heard() {
    if !may_make_networks() {
        return;
    }
    let tagged = |mut frame: Vec<u8>| {
        frame.splice(12..12, [0x81, 0, 0, 5]);
        frame
    };
    let cut = |frame: Vec<u8>, len: usize| frame[..len].to_vec();
    let other_host: &[(usize, &[u8])] = &[(0, &STRANGER)];
    let from_group: &[(usize, &[u8])] = &[(6, &[3])];
    let illegal = [
        ("CDP", changed(pagp(), &[(20, &[0x20, 0])])),
        ("a flush PDU of PAgP", changed(pagp(), &[(22, &[2])])),
        ("PAgP from a group", changed(pagp(), &[(6, &[3])])),
        ("PAgP for another group", changed(pagp(), &[(5, &[0xcd])])),
        ("PAgP that is cut", cut(pagp(), 67)),
        ("no version", changed(announcement(), &[(14, &[0])])),
        ("an unknown kind", changed(announcement(), &[(15, &[7])])),
        ("33 members", changed(frame(HELLO_GROUP, HELLO, 500, &[]), &[(14, &[1, 1, 33, 0])])),
        ("a place that no team has", changed(announcement(), &[(17, &[32])])),
        ("less than its members", cut(announcement(), 46 + 35)),
        ("an announcement to a host", changed(announcement(), &[(0, &OWN)])),
        ("an announcement to all", changed(announcement(), &[(0, &BROADCAST)])),
        ("a tag", tagged(announcement())),
        ("from a group", changed(announcement(), from_group)),
        ("a challenge to a group", changed(hello(4), &[(0, &HELLO_GROUP)])),
        ("a challenge to another host", changed(hello(4), other_host)),
        ("an answer with members", changed(hello(5), &[(16, &[1])])),
        ("an echo to a group", changed(hello(3), &[(0, &HELLO_GROUP)])),
        ("an echo to another host", changed(hello(3), other_host)),
        ("a short echo", cut(hello(3), 77)),
        ("a probe", hello(2)),
        ("a LACPDU elsewhere", changed(lacpdu(), &[(0, &OWN)])),
        ("a short LACPDU", cut(lacpdu(), 123)),
        ("another length of the actor", changed(lacpdu(), &[(17, &[19])])),
        ("another length of the partner", changed(lacpdu(), &[(37, &[0])])),
        ("another slow protocol", changed(lacpdu(), &[(14, &[3])])),
        ("a LACPDU in a VLAN", tagged(lacpdu())),
        ("a marker of no kind", changed(marker(), &[(16, &[3])])),
        ("ARP for no Ethernet", changed(arp(), &[(15, &[6])])),
        ("ARP for no IPv4", changed(arp(), &[(16, &[0x86, 0xdd])])),
        ("ARP of another length", changed(arp(), &[(18, &[8])])),
        ("ARP of an unknown operation", changed(arp(), &[(21, &[3])])),
        ("short ARP", cut(arp(), 41)),
        ("ARP from a group", changed(arp(), from_group)),
        ("neighbour discovery through a router", changed(neighbour(135), &[(21, &[254])])),
        ("neighbour discovery with a code", changed(neighbour(136), &[(55, &[1])])),
        ("short neighbour discovery", cut(neighbour(135), 77)),
    ];
    let frames: Vec<Vec<u8>> = illegal.iter().map(|(_, frame)| frame.clone()).collect();
    let heard_of = heard(&Rules::of(Kind::ALL), &frames);
    let names = illegal.iter().filter(|(_, frame)| heard_of.contains(frame)).map(|(name, _)| *name);
    assert_eq!(names.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn echoes_are_heard_that_bear_one_of_the_marks() {
    if !may_make_networks() {
        return;
    }
    let marked = |mark: u32| changed(hello(3), &[(30, &mark.to_be_bytes())]);
    let frames = [marked(7), marked(8), marked(0x0800_0000), marked(9)];
    let rules = Rules { marks: vec![7, 9], ..Rules::of([Kind::Echo, Kind::Hello]) };
    assert_eq!(heard(&rules, &frames), [marked(7), marked(9)]);
}

#[test]
fn a_share_of_the_unknown_is_heard_and_all_that_is_known() {
    if !may_make_networks() {
        return;
    }
    let from = |n: u8| changed(lacpdu(), &[(6, &[2, 0, 0, 0, 1, n])]);
    let known = vec![[2, 0, 0, 0, 1, 0], [2, 0, 0, 0, 1, 1]];
    let share = Share { known: 0, others: 3 };
    let rules = Rules { rules: vec![Rule { kind: Kind::Lacp, known, share }], ..Rules::default() };
    let frames: Vec<Vec<u8>> = (0..8).cycle().take(240).map(from).collect();
    let heard = heard(&rules, &frames);
    let others = heard.iter().filter(|frame| frame[11] > 1).count();
    assert_eq!(heard.len() - others, 60);
    // 180, one in eight by chance: the odds that it is none, or half of them, are below one in a thousand million.
    assert!((1..90).contains(&others), "{others}");
}

#[test]
fn a_tag_is_put_back_and_frames_for_others_are_left_out() {
    if !may_make_networks() {
        return;
    }
    let mut tagged = arp();
    tagged.splice(12..12, [0x81, 0, 0x60, 5]);
    let for_another = changed(arp(), &[(0, &STRANGER)]);
    assert_eq!(heard(&Rules::of([Kind::Arp]), &[for_another, tagged.clone()]), [tagged]);
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
    let other = || changed(neighbour(135), &[(20, &[17])]);
    let frames: Vec<_> =
        (0..=4).flat_map(|tags| [arp(), neighbour(135), other()].map(|frame| behind(tags, frame))).collect();
    // One tag is beside the frame, and two more are read.
    let expected = (0..=3).flat_map(|tags| [behind(tags, arp()), behind(tags, neighbour(135))]);
    assert_eq!(heard(&Rules::of(Kind::ALL), &frames), expected.collect::<Vec<_>>());
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_names_it() {
    if !may_make_networks() {
        return;
    }
    let open = || Listener::open(77, Tap::Ahead, &Rules::default());
    let error = Host::quiet().netns.run(open).unwrap().unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENODEV));
    assert!(error.to_string().contains("77"), "{error}");
}
