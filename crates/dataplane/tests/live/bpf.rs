//! The eBPF dataplane between hosts.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::frames::Random;
use crate::common::hosts::{CABLES, TeamHost, bpf, pair, pair_plan, talk};
use crate::common::{everybody, id, ids, may_run_bpf};
use nicteam_dataplane::{BpfDataplane, Choice, Counters, Dataplane, Kind, Port, Programs, TeamDevice};
use nicteam_netlink::Netlink;
use nicteam_sys::netns;
use nicteam_sys::packet::PacketSocket;
use nicteam_team::{Action, Choose, HashPolicy, PlanState, Receive};
use nicteam_testnet::{Host, eventually};
use nicteam_wire::{Frame, Mac};

/// Questions of one exchange.
const COUNT: u32 = 40;

fn in_turn() -> Choose {
    Choose::RoundRobin { members: ids(CABLES), packets_per_member: 1, igmp: id(0) }
}

fn counters(dataplane: &dyn Dataplane) -> Vec<Counters> {
    dataplane.counters().unwrap().into_iter().map(|(_, counters)| counters).collect()
}

fn sum(counters: &[Counters], of: impl Fn(&Counters) -> u64) -> u64 {
    counters.iter().map(of).sum()
}

#[test]
fn both_families_pass_once_by_every_member() {
    if !may_run_bpf("both_families_pass_once_by_every_member") {
        return;
    }
    let (a, b) = pair();
    let (left, right) = (a.start(bpf, &pair_plan(in_turn())), b.start(bpf, &pair_plan(in_turn())));
    let (from, to) = (a.udp(), b.udp());
    talk(&from, &to, b.v6(), COUNT);
    talk(&from, &to, b.v4(), COUNT);
    let (received, before, sent_before) = (b.ipv4_received(), counters(&*right), counters(&*left));
    talk(&from, &to, b.v4(), COUNT);
    assert_eq!(b.ipv4_received() - received, u64::from(COUNT), "a frame came to the stack a second time");
    for (place, (now, before)) in counters(&*right).iter().zip(&before).enumerate() {
        assert!(now.rx_frames > before.rx_frames, "member {place} carried nothing");
    }
    let sent = sum(&counters(&*left), |c| c.tx_frames) - sum(&sent_before, |c| c.tx_frames);
    assert!(sent >= u64::from(COUNT), "{sent}");
    to.set_nonblocking(true).unwrap();
    assert!(to.recv_from(&mut [0; 64]).is_err(), "a question came twice");
}

#[test]
fn a_dead_owner_stops_nothing_and_a_new_one_goes_on() {
    if !may_run_bpf("a_dead_owner_stops_nothing_and_a_new_one_goes_on") {
        return;
    }
    let (a, b) = pair();
    let (first, _right) = (a.start(bpf, &pair_plan(in_turn())), b.start(bpf, &pair_plan(in_turn())));
    let (from, to) = (a.udp(), b.udp());
    talk(&from, &to, b.v6(), 4);
    talk(&from, &to, b.v4(), 4);
    // What the stack sent by itself before the first plan.
    let unsent = first.unsent().unwrap();
    let done = AtomicBool::new(false);
    let left = std::thread::scope(|scope| {
        let talking = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                talk(&from, &to, b.v4(), COUNT);
                talk(&from, &to, b.v6(), COUNT);
            }
        });
        let stop = Stop(&done);
        let last = (2..22).fold(first, |owner, generation| succeed(&a, owner, generation));
        drop(stop);
        if let Err(panic) = talking.join() {
            std::panic::resume_unwind(panic);
        }
        last
    });
    let sent = sum(&counters(&*left), |c| c.tx_frames);
    talk(&from, &to, b.v4(), COUNT);
    assert!(sum(&counters(&*left), |c| c.tx_frames) >= sent + u64::from(COUNT));
    assert_eq!(left.unsent().unwrap(), unsent);
}

/// Ends the talk, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The next owner of a host's team, after the death of this one.
fn succeed(host: &TeamHost, owner: Box<BpfDataplane>, generation: u64) -> Box<BpfDataplane> {
    let before = counters(&*owner);
    drop(owner);
    let take_over = || {
        let mut next = bpf(&host.team);
        for (now, before) in counters(&*next).iter().zip(&before) {
            assert!(now.tx_frames >= before.tx_frames && now.rx_frames >= before.rx_frames, "{now:?} {before:?}");
        }
        assert_eq!(counters(&*next).len(), CABLES);
        host.ports.iter().for_each(|port| next.attach(port).unwrap());
        next.apply(&nicteam_team::Plan { generation, ..pair_plan(in_turn()) }).unwrap();
        next
    };
    host.run(take_over)
}

#[test]
fn one_standby_and_all() {
    if !may_run_bpf("one_standby_and_all") {
        return;
    }
    let (a, b) = pair();
    let mut plan = pair_plan(Choose::One(id(2)));
    for place in [0, 1, 3] {
        plan.members[place].receive = Receive::Drop;
    }
    let right = b.start(bpf, &plan);
    // The kernel's own frames may come before there is a plan, and are dropped.
    let before = counters(&*right);
    let left = a.start(bpf, &pair_plan(Choose::All(everybody(CABLES))));
    let (from, to) = (a.udp(), b.udp());
    talk(&from, &to, b.v6(), COUNT);
    talk(&from, &to, b.v4(), COUNT);
    to.set_nonblocking(true).unwrap();
    assert!(to.recv_from(&mut [0; 64]).is_err(), "a question came twice");
    for (place, member) in counters(&*right).into_iter().enumerate() {
        assert_eq!(member.tx_frames > 0, place == 2, "member {place}: {member:?}");
        assert_eq!(member.rx_frames > 0, place == 2, "member {place}: {member:?}");
        assert_eq!(member.rx_drops > before[place].rx_drops, place != 2, "member {place}: {member:?}");
    }
    let sent = counters(&*left);
    assert!(sent.iter().all(|member| member.tx_frames == sent[0].tx_frames && member.tx_drops == 0), "{sent:?}");
}

#[test]
fn control_frames_pass_the_plan_and_stay_the_members() {
    if !may_run_bpf("control_frames_pass_the_plan_and_stay_the_members") {
        return;
    }
    let (a, b) = pair();
    let (mut left, right) = (a.start(bpf, &pair_plan(Choose::Nobody)), b.start(bpf, &pair_plan(Choose::Nobody)));
    let mut frame = [0; 60];
    frame[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 2]);
    frame[12..14].copy_from_slice(&[0x88, 0x09]);
    let socket = |index| PacketSocket::open(index).unwrap();
    let (member, team) = b.run(|| (socket(b.ports[3].index), socket(b.team.index)));
    left.transmit(id(3), &frame).unwrap();
    eventually("the member gets it", || seen(&member, &frame));
    assert!(!seen(&team, &frame), "the team got it");
    let received = counters(&*right)[3];
    frame[5] = 0x10;
    left.transmit(id(3), &frame).unwrap();
    eventually("the team gets a frame of another group", || seen(&team, &frame));
    assert_eq!(counters(&*right)[3].rx_frames, received.rx_frames + 1);
    assert!(left.transmit(nicteam_team::MemberId::new(9).unwrap(), &frame).is_err());
}

/// True if the frame is among those that have come.
fn seen(socket: &PacketSocket, frame: &[u8]) -> bool {
    let mut batch = nicteam_sys::packet::Batch::new();
    socket.receive(&mut batch).unwrap();
    batch.frames().any(|received| received.bytes.starts_with(frame))
}

#[test]
fn removing_gives_the_members_back() {
    if !may_run_bpf("removing_gives_the_members_back") {
        return;
    }
    let (a, b) = pair();
    let hosts: [&TeamHost; 2] = [&a, &b];
    let members = hosts.map(|host| {
        let mut dataplane = host.start(bpf, &pair_plan(in_turn()));
        host.run(|| dataplane.detach(id(1)).unwrap());
        assert_eq!(dataplane.counters().unwrap().len(), CABLES - 1);
        host.run(|| dataplane.remove().unwrap());
        host.ports[0].index
    });
    for ((host, index), last) in hosts.into_iter().zip(members).zip(1..) {
        let address = std::net::IpAddr::from([10, 10, 0, last]);
        host.run(|| Netlink::open().unwrap().add_address(index, address, 24, true).unwrap());
    }
    let to = std::net::SocketAddr::from((std::net::Ipv4Addr::new(10, 10, 0, 2).to_ipv6_mapped(), 7000));
    talk(&a.udp(), &b.udp(), to, COUNT);
}

#[test]
fn a_bridge_port_hashes_behind_the_tag_beside_the_frame() {
    if !may_run_bpf("a_bridge_port_hashes_behind_the_tag_beside_the_frame") {
        return;
    }
    let (mut a, b) = pair();
    let choose = Choose::Hash { policy: HashPolicy::Layer34, table: ids(CABLES) };
    let (left, _right) = (a.start(bpf, &pair_plan(choose.clone())), b.start(bpf, &pair_plan(in_turn())));
    let (_far, outside) = a.bridge();
    // What the host's stack says of IPv6 would be counted, too.
    a.run(|| netns::sysctl("ipv6/conf/all/disable_ipv6", "1")).unwrap();
    let plan = pair_plan(choose);
    let mut random = Random(7);
    let sent_in_all = || sum(&counters(&*left), |c| c.tx_frames);
    for _ in 0..200 {
        let frame = tagged_udp(&mut random);
        let view = Frame::parse_untagged(&frame).unwrap();
        let before = counters(&*left);
        assert!(outside.send_frame(&frame));
        let sent = sum(&before, |c| c.tx_frames);
        eventually("the bridge forwards the frame", || sent_in_all() > sent);
        let Action::Send(expected) = plan.choose(&view, &mut PlanState::new(0)) else { panic!("no member") };
        let member = expected.iter().next().unwrap().index();
        let now = counters(&*left);
        assert_eq!(now[member].tx_frames, before[member].tx_frames + 1, "not member {member}: {frame:02x?}");
        assert_eq!(now[member].tx_bytes, before[member].tx_bytes + frame.len() as u64 - 4);
    }
}

/// A broadcast UDP frame with a VLAN tag among its bytes.
fn tagged_udp(random: &mut Random) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 5, 5, 5, 5, random.next() as u8, 0x81, 0, 0, 7, 0x08, 0]);
    frame.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0]);
    frame.extend(random.bytes(8 + 4));
    frame.extend([0, 20, 0, 0]);
    frame.extend(random.bytes(12));
    frame
}

#[test]
fn devices_are_made_adopted_and_refused() {
    if !may_run_bpf("devices_are_made_adopted_and_refused") {
        return;
    }
    Host::new()
        .netns
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            let mac = Mac([2, 0, 0, 0, 9, 9]);
            let (made, adopted) = TeamDevice::create_or_adopt(&mut netlink, "team", mac, 9000).unwrap();
            assert!(!adopted);
            let link = |netlink: &mut Netlink, name: &str| netlink.link(name).unwrap().unwrap();
            assert_eq!((link(&mut netlink, "team").mac, link(&mut netlink, "team").mtu), (mac.0, 9000));
            assert_eq!(link(&mut netlink, "team-dp").mtu, 9000);
            netlink.set_up(made.index, true).unwrap();
            assert!(!link(&mut netlink, "team").carrier);
            made.set_carrier(&mut netlink, true).unwrap();
            eventually("carrier", || link(&mut netlink, "team").carrier);
            assert_eq!(
                TeamDevice::create_or_adopt(&mut netlink, "team", Mac::BROADCAST, 1).unwrap(),
                (made.clone(), true)
            );
            assert!(link(&mut netlink, "team").carrier);
            assert!(netlink.addresses(made.peer_index).unwrap().is_empty());
            let taken = TeamDevice::create_or_adopt(&mut netlink, "team-dp", mac, 1500).unwrap_err().to_string();
            assert!(taken.contains("`team-dp` exists"), "{taken}");
            made.delete(&mut netlink).unwrap();
            assert!(netlink.link("team-dp").unwrap().is_none());
        })
        .unwrap();
}

#[test]
fn open_takes_what_is_wanted() {
    if !may_run_bpf("open_takes_what_is_wanted") {
        return;
    }
    let (a, _) = pair();
    for choice in [Choice::Auto, Choice::Force(Kind::Bpf)] {
        let kind = a.run(|| nicteam_dataplane::open(&a.team, choice, Programs::WithoutStripe).unwrap().kind());
        assert_eq!(kind, Kind::Bpf);
    }
    let gone = Port { id: id(0), name: "gone".to_owned(), index: 4711 };
    let refused = a.run(|| bpf(&a.team).attach(&gone)).unwrap_err().to_string();
    assert!(refused.contains("4711"), "{refused}");
}
