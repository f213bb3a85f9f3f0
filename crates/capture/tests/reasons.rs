use nicteam_capture::{Bundle, Direction, Link, Peer};
use nicteam_options::Config;
use nicteam_plan::{buckets, hash};
use nicteam_wire::{Frame, Mac};

const PEER: Mac = Mac([2, 0, 0, 0, 0, 9]);
const ITS_MEMBER: Mac = Mac([2, 0, 0, 0, 0, 10]);

/// A TCP frame from this port to `PEER` or another address.
fn tcp(port: u16, dst: Mac) -> Vec<u8> {
    let mut frame = [&dst.0[..], &[2, 0, 0, 0, 0, 1], &[0x08, 0]].concat();
    frame.extend([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x13, 0x89]);
    frame.extend([0; 16]);
    frame
}

fn bundle(options: &[(&str, &str)]) -> Bundle {
    let mut config = Config::default();
    options.iter().for_each(|(name, value)| config.set(name, value).unwrap());
    let member = |(index, sends): (u32, bool)| Link { name: format!("eth{index}"), index, sends, ..Link::default() };
    Bundle {
        name: "team0".to_owned(),
        config,
        active: Some("eth1".to_owned()),
        members: [(0, true), (1, true), (2, false)].into_iter().map(member).collect(),
        peers: vec![Peer { team: PEER, paths: vec![("eth1".to_owned(), ITS_MEMBER)] }],
        ..Bundle::default()
    }
}

fn out(bundle: &Bundle, on: Option<usize>, bytes: &[u8]) -> String {
    bundle.comment(on.map(|place| &bundle.members[place]), Direction::Out, &Frame::parse(bytes).unwrap())
}

#[test]
fn a_hash_is_the_choosers_own_and_its_member_named() {
    let bundle = bundle(&[("mode", "balance-xor"), ("xmit_hash_policy", "layer3+4")]);
    for port in 40_000..40_020 {
        let bytes = tcp(port, PEER);
        let frame = Frame::parse(&bytes).unwrap();
        let number = hash::hash(bundle.config.xmit_hash_policy, &frame);
        let place = number as usize % 2;
        let why = format!("balance-xor, layer3+4, hash {number:#010x} modulo 2 members is {place}");
        assert_eq!(out(&bundle, None, &bytes), format!("to eth{place}: {why}"));
        assert_eq!(out(&bundle, Some(place), &bytes), format!("by eth{place}: {why}"));
        let other = out(&bundle, Some(1 - place), &bytes);
        assert!(other.contains(&format!("the rule names eth{place} now")), "{other}");
    }
}

#[test]
fn each_mode_has_its_reason() {
    let frame = tcp(40_000, PEER);
    let said = |options: &[(&str, &str)], on| out(&bundle(options), on, &frame);
    assert_eq!(said(&[("mode", "active-backup")], Some(1)), "by eth1: active-backup, eth1 is the active member");
    assert_eq!(said(&[("mode", "balance-rr")], Some(0)), "by eth0: balance-rr, in turn, a frame each");
    assert_eq!(said(&[("mode", "broadcast")], Some(0)), "by eth0: broadcast, a copy by every member");
    let tlb = said(&[("mode", "balance-tlb")], Some(0));
    assert!(tlb.starts_with("by eth0: balance-tlb, layer2, hash 0x") && tlb.contains("which load gave"), "{tlb}");
    let static_tlb = said(&[("mode", "balance-tlb"), ("tlb_dynamic_lb", "0")], None);
    assert!(static_tlb.contains("modulo 2 members"), "{static_tlb}");
    let stripe = said(&[("mode", "stripe")], None);
    assert_eq!(stripe, "stripe, the path by which it arrives first, of 1 that work to the team 02:00:00:00:00:09");
    let path = out(&bundle(&[("mode", "stripe")]), Some(1), &tcp(1, ITS_MEMBER));
    assert!(path.starts_with("by eth1: stripe, the path by which it arrives first: to 02:00:00:00:00:0a"), "{path}");
}

#[test]
fn a_bucket_of_open_vswitch_names_its_member() {
    let mut bundle = bundle(&[("mode", "ovs-balance-slb")]);
    let bytes = tcp(1, PEER);
    let bucket = hash::slb::bucket(Mac([2, 0, 0, 0, 0, 1]), 0, 0);
    assert_eq!(buckets::BUCKETS, 256);
    bundle.buckets = vec![(bucket, "eth0".to_owned())];
    let expected = format!("to eth0: ovs-balance-slb, source address and VLAN, bucket {bucket} of 256");
    assert_eq!(out(&bundle, None, &bytes), expected);
}

#[test]
fn what_is_no_choice_is_named_as_such() {
    let bundle = bundle(&[("mode", "802.3ad")]);
    let lacpdu = [&[0x01, 0x80, 0xc2, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0x09, 1][..], &[0; 50]].concat();
    let said = out(&bundle, Some(2), &lacpdu);
    assert_eq!(said, "by eth2: 802.3ad, LACPDU or marker, sent by the bundle itself on this member");
    let bytes = tcp(1, PEER);
    let received = |place: usize| {
        let frame = Frame::parse(&bytes).unwrap();
        bundle.comment(Some(&bundle.members[place]), Direction::InUnicast, &frame)
    };
    assert_eq!(received(0), "received by eth0; the other end chose this link");
    assert!(received(2).contains("does not send now"), "{}", received(2));
}
