//! What members receive, and the names and numbers of a configuration
//! (crates `wire` and `team`).

use std::str::FromStr;

use nicteam_team::hash;
use nicteam_team::lacp::{Lacp, LacpConfig, PortParams};
use nicteam_team::replay::{Recording, Told, Until, replay as replay_it};
use nicteam_team::{AggrLayers, Config, Duplex, HashPolicy, MemberId, MemberLink, Mode, Plan, PlanState, Team, Time};
use nicteam_wire::{
    Arp, Frame, GapReport, Hello, Lldp, Lost, Mac, Ndisc, Pagp, Rtag, Segment, SlowPdu, Tagged, Times, Vlan, ethertype,
    rarp_packet,
};

/// Panics if something does not hold for these bytes; says whether they were taken.
pub type Property = fn(&[u8]) -> bool;

/// Every property by the name of its target and of its corpus folder.
pub const ALL: &[(&str, Property)] = &[
    ("frame", frame),
    ("arp", arp),
    ("ndisc", ndisc),
    ("lacp", lacp),
    ("hello", hello),
    ("rtag", rtag),
    ("pagp", pagp),
    ("lldp", lldp),
    ("gap", gap),
    ("config", config),
    ("names", names),
    ("replay", replay),
];

/// A frame is refused or hashes by every policy; a tag beside it takes part in
/// no hash of a policy that does not look for tags, except over MPLS; both ways
/// a plan decides about it.
pub fn frame(bytes: &[u8]) -> bool {
    let mut taken = false;
    for frame in [Frame::parse(bytes), Frame::parse_untagged(bytes)].into_iter().flatten() {
        taken = true;
        let tagged = frame.with_vlan(Vlan { protocol: ethertype::VLAN, tci: 5 });
        let mpls = is_mpls(frame.ethertype(), frame.payload());
        for policy in HashPolicy::ALL {
            let (plain, tagged) = (hash::hash(policy, &frame), hash::hash(policy, &tagged));
            assert!(mpls || reads_tags(policy) || plain == tagged, "{policy}");
        }
        let plan = Plan::nobody();
        plan.choose(&frame, &mut PlanState::new(0));
        MemberId::new(0).map(|member| plan.receive(member, &frame));
    }
    taken
}

/// True of MPLS, behind tags or not.
fn is_mpls(ethertype: u16, payload: &[u8]) -> bool {
    match (ethertype, payload) {
        (0x8847 | 0x8848, _) => true,
        (ethertype::VLAN | ethertype::QINQ, [_, _, high, low, rest @ ..]) => {
            is_mpls(u16::from_be_bytes([*high, *low]), rest)
        }
        _ => false,
    }
}

/// True for policies that look for a tag.
fn reads_tags(policy: HashPolicy) -> bool {
    matches!(policy, HashPolicy::Encap23 | HashPolicy::Encap34 | HashPolicy::VlanSrcMac | HashPolicy::Aggr(_))
}

/// An ARP packet is refused, or is the same after it was written and read again.
pub fn arp(bytes: &[u8]) -> bool {
    let Ok(arp) = Arp::decode(bytes) else { return false };
    assert_eq!(Arp::decode(&arp.encode()), Ok(arp));
    // What tells switches of an address is read as it was written, whoever's it is.
    let rarp = rarp_packet(arp.sender_mac, None);
    let request = Frame::parse(&rarp).ok().and_then(|frame| Arp::decode(frame.payload()).ok());
    assert_eq!(
        request.map(|request| (request.operation, request.target_mac)),
        Some((Arp::REVERSE_REQUEST, arp.sender_mac))
    );
    true
}

/// A redundancy tag is refused or is the same after it was put in again, its
/// reserved bytes aside, and the frame behind it is what it was.
pub fn rtag(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    let Some(Ok((tag, inner))) = Rtag::take(&frame) else { return false };
    let plain = [&bytes[..12], &bytes[12 + Rtag::LEN..]].concat();
    let again = tag.put(&plain);
    assert_eq!((&again[..14], &again[16..]), (&bytes[..14], &bytes[16..]));
    let plain = Frame::parse(&plain).ok();
    assert_eq!(plain.map(|plain| (plain.ethertype(), plain.payload())), Some((inner.ethertype(), inner.payload())));
    true
}

/// PAgP is refused, or says the same when it is written anew; its names can go to a terminal. A team that hears it
/// stays as it is.
pub fn pagp(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    let mut team = Team::new(Config::default(), Mac([2, 0, 0, 0, 0, 1]), Time::ZERO).expect("the default is sound");
    let link = MemberLink { carrier: true, speed_mbps: None, duplex: None };
    let member = team.add_member("m0", link, Time::ZERO).expect("there is room");
    while team.poll_effect().is_some() {}
    let plan = team.plan().clone();
    team.handle_frame(member, bytes, Time::ZERO);
    while team.poll_effect().is_some() {}
    assert_eq!(*team.plan(), plan);
    let heard = team.pagp(Time::ZERO);
    let Ok(pagp) = Pagp::decode(&frame) else {
        assert!(heard.is_empty());
        return false;
    };
    assert_eq!(heard.len(), 1);
    assert!([&pagp.device_name, &pagp.port_name].iter().all(|name| !name.chars().any(char::is_control)));
    let again = pagp.frame(frame.src());
    assert_eq!(Frame::parse(&again).map(|frame| Pagp::decode(&frame)), Ok(Ok(pagp)));
    true
}

/// LLDP is refused, or says the same when it is written anew; its texts can go to a terminal.
pub fn lldp(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    let Ok(lldp) = Lldp::decode(&frame) else { return false };
    let others = [&lldp.port_description, &lldp.system_name, &lldp.system_description].into_iter().flatten();
    assert!([&lldp.chassis, &lldp.port].into_iter().chain(others).all(|text| !text.chars().any(char::is_control)));
    let again = lldp.frame(frame.src());
    assert_eq!(Frame::parse(&again).map(|frame| Lldp::decode(&frame)), Ok(Ok(lldp)));
    true
}

/// A frame says nothing of a gap, or says nothing of it any more once its words are
/// put in the place that it names.
pub fn gap(bytes: &[u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    let Some(report) = GapReport::of(&frame) else { return Segment::of(&frame).is_some() };
    let mut without = bytes.to_vec();
    let at = bytes.len() - frame.payload().len() + report.at;
    without[at..at + 4].copy_from_slice(&report.without());
    assert_eq!(Frame::parse(&without).ok().and_then(|frame| GapReport::of(&frame)), None);
    true
}

/// The same for the hellos of teams that stripe; what a later version appends is
/// not kept. One with a tag covers itself, and a team with a key believes nobody
/// who does not have it.
pub fn hello(bytes: &[u8]) -> bool {
    let decoded = Hello::decode(bytes);
    if let Ok(hello) = &decoded {
        assert_eq!(Hello::decode(&hello.encode()).as_ref(), Ok(hello));
        let tagged = hello.encode_tagged(|_| [7; Hello::TAG]);
        assert_eq!(Hello::decode(&tagged).as_ref(), Ok(hello));
        let twice = hello.encode_tagged_twice(|_| [7; Hello::TAG], |_| [8; Hello::TAG]);
        assert_eq!(Hello::decode(&twice).as_ref(), Ok(hello));
        assert!(Hello::tagged(&tagged).is_some_and(|tagged| tagged.tag == [7; Hello::TAG]));
    }
    if let Some(Tagged { covered, tag, .. }) = Hello::tagged(bytes) {
        assert_eq!(bytes[covered.len()..][..Hello::TAG], tag);
    }
    let mut frame = Hello::frame_of(bytes, Mac::BROADCAST, Mac::default());
    if Hello::reflect(&mut frame) {
        Times::set_due(&mut frame, 1);
        Times::set_arrived(&mut frame, 2);
        let echo = Frame::parse(&frame);
        assert_eq!(echo.ok().and_then(|echo| Times::of_echo(&echo)), Some(Times { due: 1, arrived: 2 }));
    }
    let lost = Frame::parse(&frame).ok().and_then(|frame| Lost::of_frame(&frame));
    if let Some(lost) = lost {
        let again = lost.frame(Mac::BROADCAST, Mac::default());
        assert_eq!(Frame::parse(&again).ok().and_then(|frame| Lost::of_frame(&frame)), Some(lost));
        assert!(decoded.is_err(), "the control side knows of none");
    }
    believed_by_nobody(bytes);
    decoded.is_ok() || lost.is_some()
}

/// Lets a team with a key hear a hello from somebody who cannot have the key.
fn believed_by_nobody(hello: &[u8]) {
    let mut config = Config { mode: Mode::Stripe, ..Config::default() };
    let (mac, now) = (Mac([2, 0, 0, 0, 0, 0x22]), Time::from_millis(1));
    let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
    assert_eq!(config.set("stripe_key", "nobody-guesses-it"), Ok(()));
    let Ok(mut team) = Team::new(config, mac, Time::ZERO) else { return };
    let Ok(member) = team.add_member("eth0", link, now) else { return };
    while team.poll_effect().is_some() {}
    team.handle_member_mac(member, mac);
    while team.poll_effect().is_some() {}
    team.handle_frame(member, &Hello::frame_of(hello, Hello::GROUP, Mac([2, 0, 0, 0, 0, 0x33])), now);
    assert!(team.discovery().is_some_and(|discovery| discovery.neighbours().count() == 0));
}

/// The same for neighbour discovery.
pub fn ndisc(bytes: &[u8]) -> bool {
    let Ok(ndisc) = Ndisc::decode(bytes) else { return false };
    assert_eq!(Ndisc::decode(&ndisc.encode()), Ok(ndisc));
    true
}

/// The same for LACPDUs and markers, with and without the Ethernet header; and a
/// port that hears them comes to rest and has a deadline ahead.
pub fn lacp(bytes: &[u8]) -> bool {
    let mut taken = false;
    for pdu in [SlowPdu::decode(bytes), SlowPdu::parse(bytes)].into_iter().flatten() {
        taken = true;
        let again = match pdu {
            SlowPdu::Lacp(pdu) => pdu.encode(),
            SlowPdu::Marker(marker) => marker.encode(),
        };
        assert_eq!(SlowPdu::decode(&again), Ok(pdu));
    }
    let mac = Mac([2, 0, 0, 0, 0, 0x22]);
    let link = MemberLink { carrier: true, speed_mbps: Some(1000), duplex: Some(Duplex::Full) };
    let (Some(member), now) = (MemberId::new(0), Time::from_millis(1)) else { return taken };
    let mut lacp = Lacp::new(LacpConfig::new(mac), Time::ZERO);
    lacp.add_port(member, PortParams { mac, port_number: 2, priority: 255, link }, Time::ZERO);
    while lacp.poll_effect().is_some() {}
    // Twice: the first may make a partner of whoever speaks.
    for _ in 0..2 {
        lacp.handle_frame(member, bytes, now);
        while lacp.poll_effect().is_some() {}
    }
    assert!(lacp.poll_timeout().is_some_and(|(at, _)| at > now));
    taken
}

/// Lines of `NAME VALUE` are refused with a reason or make a configuration
/// that prints and parses back.
pub fn config(bytes: &[u8]) -> bool {
    let mut config = Config::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        if let Err(error) = config.set(name, value) {
            assert!(!error.to_string().is_empty());
            let _ = error.hint();
        }
    }
    let taken = config.check().is_ok();
    let mut copy = Config::default();
    for (name, value) in config.options_and_wish() {
        assert_eq!(copy.set(name, &value), Ok(()));
    }
    assert_eq!(copy, config);
    taken
}

/// An address, a mode, a hash policy is refused with a reason or prints and parses back.
pub fn names(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let taken = [holds::<Mac>(&text), holds::<Mode>(&text), holds::<HashPolicy>(&text), holds::<AggrLayers>(&text)];
    taken.contains(&true)
}

fn holds<T: FromStr<Err: ToString> + ToString + PartialEq>(text: &str) -> bool {
    match text.parse::<T>() {
        Ok(value) => {
            assert!(value.to_string().parse::<T>().is_ok_and(|again| again == value), "{text}");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A recording of a team is refused, or read, printed and replayed as far as it can be; so is one whose checksums are right,
/// whatever stands in its blocks.
pub fn replay(bytes: &[u8]) -> bool {
    let taken = replay_one(bytes);
    // A state with a right checksum is what this program wrote.
    let has_state = |file: &[u8]| {
        let recording = Recording::read(file);
        recording.is_ok_and(|of| of.entries().flatten().any(|entry| matches!(entry.told, Told::State(_))))
    };
    if let Ok(mended) = Recording::mended(bytes)
        && !has_state(&mended)
    {
        replay_one(&mended);
    }
    taken
}

fn replay_one(bytes: &[u8]) -> bool {
    let Ok(recording) = Recording::read(bytes) else { return false };
    recording.entries().flatten().for_each(|entry| drop(entry.words()));
    replay_it(&recording, Until::End, |_, _| {}).is_ok()
}
