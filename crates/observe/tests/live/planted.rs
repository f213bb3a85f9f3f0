//! The commonest faults, planted at links whose other ends this test is: TAP devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nicteam_explain::{Explanation, Finding, Side, Weight};
use nicteam_netlink::Netlink;
use nicteam_netlink::shape::{Granularity, shape};
use nicteam_sys::ethtool::Ethtool;
use nicteam_sys::tap::Tap;
use nicteam_testnet::{Host, OpenVSwitch, eventually, may_make_networks};
use nicteam_wire::{Arp, Frame, Lldp, Mac, ethertype};

use super::explained::{assert_good, explained_for, team_here, the_fault};
use crate::common::{start, team};

const NEAR: &str = "10.0.0.1";
const REMOTE: Mac = Mac([2, 0, 0, 0, 0, 0x77]);
const DEVICES: [&str; 2] = ["eth0", "eth1"];
/// What links carry when nothing else is said, Mbit/s.
const SPEED: u32 = 100;
/// For how long it is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// What is at the other ends of two links: it answers ARP for every address but the host's own, and reads what comes.
struct Far {
    /// It reads nothing, so that frames are lost once the queue is full.
    stalled: Arc<[AtomicBool; 2]>,
    /// It has the host's own address, too.
    claims: Arc<AtomicBool>,
    /// It says by LLDP that the second port takes short frames alone.
    tells: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Far {
    /// The links of a host.
    fn of(host: &mut Host) -> Far {
        let taps = host.netns.run(|| DEVICES.map(|name| Tap::open(name).unwrap())).unwrap();
        DEVICES.into_iter().for_each(|device| host.set_up(device, true));
        let mut far = Far {
            stalled: Arc::default(),
            claims: Arc::default(),
            tells: Arc::default(),
            done: Arc::default(),
            thread: None,
        };
        DEVICES.into_iter().for_each(|device| set_speed(host, device, SPEED));
        let [claims, tells, done] = [&far.claims, &far.tells, &far.done].map(Arc::clone);
        let stalled = Arc::clone(&far.stalled);
        let short =
            Lldp { chassis: "sw1".to_owned(), port: "Eth7".to_owned(), max_frame_bytes: Some(1000), ..Lldp::default() };
        let read = move || {
            let (mut frame, mut told) = (Vec::with_capacity(2048), Instant::now());
            while !done.load(Ordering::Relaxed) {
                // Now and then: the kernel counts what nobody listens to as dropped.
                if tells.load(Ordering::Relaxed) && told.elapsed() >= LOOK / 10 {
                    told = Instant::now();
                    drop(taps[1].send(&short.frame(REMOTE)));
                }
                for (tap, stalled) in taps.iter().zip(stalled.iter()) {
                    while !stalled.load(Ordering::Relaxed) && tap.receive(&mut frame).unwrap_or(false) {
                        if let Some(answer) = answer(&frame, claims.load(Ordering::Relaxed)) {
                            // A device that is set down takes nothing.
                            drop(tap.send(&answer));
                        }
                    }
                }
                thread::sleep(Duration::from_millis(1));
            }
        };
        far.thread = Some(thread::spawn(read));
        far
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// The answer to an ARP request.
fn answer(frame: &[u8], claims: bool) -> Option<Vec<u8>> {
    let frame = Frame::parse(frame).ok().filter(|frame| frame.ethertype() == ethertype::ARP)?;
    let asked = Arp::decode(frame.payload()).ok().filter(|arp| arp.operation == Arp::REQUEST)?;
    let is_own = asked.target_ip.to_string() == NEAR;
    let reply = Arp {
        operation: Arp::REPLY,
        sender_mac: REMOTE,
        sender_ip: asked.target_ip,
        target_mac: asked.sender_mac,
        target_ip: asked.sender_ip,
    };
    (!is_own || claims).then(|| reply.frame(asked.sender_mac, REMOTE, None))
}

/// Sets the speed of a link, which programs read when it comes up.
fn set_speed(host: &Host, device: &str, speed_mbps: u32) {
    let set = || {
        Ethtool::open().unwrap().set_settings(device, speed_mbps, true).unwrap();
        let mut netlink = Netlink::open().unwrap();
        let index = netlink.link(device).unwrap().unwrap().index;
        [false, true].into_iter().for_each(|up| netlink.set_up(index, up).unwrap());
    };
    host.netns.run(set).unwrap();
}

/// Datagrams by so many flows, some each millisecond, until the value goes.
struct Datagrams(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Datagrams {
    fn by(host: &Host, flows: u16, bytes: usize) -> Datagrams {
        let socket = |flow: u16| {
            let socket = host.udp(format!("{NEAR}:{}", 40_000 + flow).parse().unwrap());
            socket.connect(("10.0.0.2", 5000)).unwrap();
            socket
        };
        let sockets: Vec<_> = (0..flows).map(socket).collect();
        let (done, payload) = (Arc::new(AtomicBool::new(false)), vec![7; bytes]);
        let is_done = Arc::clone(&done);
        let send = move || {
            while !is_done.load(Ordering::Relaxed) {
                // What finds no room is lost: that is the fault.
                (0..4 / flows + 1).for_each(|_| sockets.iter().for_each(|socket| drop(socket.send(&payload))));
                thread::sleep(Duration::from_millis(1));
            }
        };
        Datagrams(done, Some(thread::spawn(send)))
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        drop(self.1.take().map(JoinHandle::join));
    }
}

#[track_caller]
fn finding(explanation: &Explanation, cause: &str) -> Finding {
    let found = explanation.findings.iter().find(|of| of.cause == cause);
    found.cloned().unwrap_or_else(|| panic!("{cause}: {explanation:#?}"))
}

/// Faults that do not depend on who runs the bundle.
fn plant_at_links(host: &Host, far: &Far, look: &dyn Fn() -> Explanation) {
    let datagrams = Datagrams::by(host, 1, 1400);
    assert_eq!(finding(&look(), "one-flow").side, Side::Host);
    drop(datagrams);
    set_speed(host, "eth1", 10);
    eventually("the other speed", || look().findings.iter().any(|of| of.cause == "speed"));
    assert_eq!(the_fault(look(), "speed", Side::Link).member.as_deref(), Some("eth1"));
    set_speed(host, "eth1", SPEED);
    eventually("the same speed", || look().is_good);
    far.claims.store(true, Ordering::Relaxed);
    assert!(the_fault(look(), "duplicate-address", Side::OtherHost).sentence.contains(NEAR));
    far.claims.store(false, Ordering::Relaxed);
    // Both ends' queues are full after 500 frames each.
    far.stalled.iter().for_each(|stalled| stalled.store(true, Ordering::Relaxed));
    let datagrams = Datagrams::by(host, 32, 100);
    eventually("lost frames", || look().findings.iter().any(|of| of.cause == "lossy" && of.weight == Weight::Fault));
    drop(datagrams);
    far.stalled.iter().for_each(|stalled| stalled.store(false, Ordering::Relaxed));
    // On a busy machine what still waits is lost in the next look, too.
    eventually("nothing lost any more", || look().is_good);
}

#[test]
fn faults_at_the_links_of_a_team_are_named() {
    if !may_make_networks() {
        return;
    }
    let mut host = Host::quiet();
    let far = Far::of(&mut host);
    let service = start(&host, &[("mode", "balance-xor"), ("xmit_hash_policy", "layer3+4"), ("miimon", "20")]);
    host.address("team0", &[(NEAR, 24)]);
    eventually("both links", || team(&host).members.iter().all(|member| member.active));
    let index = host.index("eth1");
    let look = || explained_for(LOOK, &host, team_here);
    let many = Datagrams::by(&host, 16, 100);
    assert_good(&look());
    drop(many);
    plant_at_links(&host, &far, &look);

    // The port at the other end takes shorter frames than the team sends.
    far.tells.store(true, Ordering::Relaxed);
    let found = the_fault(look(), "mtu", Side::Switch);
    far.tells.store(false, Ordering::Relaxed);
    assert_eq!((found.member.as_deref(), found.side), (Some("eth1"), Side::Switch));

    // Another program's shaper.
    let slow = || shape(&mut Netlink::open().unwrap(), index, 200_000, Granularity::Packets);
    host.netns.run(slow).unwrap().unwrap();
    let many = Datagrams::by(&host, 16, 1000);
    let found = eventually_finds(&look, "shaper");
    assert_eq!(found.member.as_deref(), Some("eth1"));
    drop(many);
    service.end().unwrap();
}

/// What is found once it is found as a fault.
fn eventually_finds(look: &dyn Fn() -> Explanation, cause: &str) -> Finding {
    let mut found = None;
    eventually(cause, || {
        found = look().findings.into_iter().find(|of| of.cause == cause && of.weight != Weight::Notice);
        found.is_some()
    });
    found.unwrap_or_else(|| panic!("{cause}"))
}

#[test]
fn faults_at_the_links_of_a_bond_of_open_vswitch_are_named() {
    let Some(mut switch) = OpenVSwitch::start_or_skip() else { return };
    let far = Far::of(&mut switch.host);
    switch.vsctl("add-br br0 -- set bridge br0 datapath_type=netdev");
    switch.vsctl("add-bond br0 bond0 eth0 eth1 bond_mode=balance-slb");
    eventually("the bond", || switch.enabled() == 2);
    switch.host.address("br0", &[(NEAR, 24)]);
    let socket = switch.control_socket();
    let bond = || nicteam_observe::openvswitch_at(&socket).unwrap().remove(0);
    let host = &mut switch.host;
    assert_good(&explained_for(LOOK, host, bond));
    plant_at_links(host, &far, &|| explained_for(LOOK, host, bond));
    // One member takes shorter packets than the other.
    let set_mtu = |host: &mut Host, mtu: u32| {
        let index = host.index("eth1");
        host.netns.run(|| Netlink::open().unwrap().set_mtu(index, mtu).unwrap()).unwrap();
    };
    set_mtu(host, 1400);
    assert_eq!(the_fault(explained_for(LOOK, host, bond), "mtu", Side::Host).member.as_deref(), Some("eth1"));
    set_mtu(host, 1500);
    host.set_up("eth1", false);
    assert_eq!(finding(&explained_for(LOOK, host, bond), "down").member.as_deref(), Some("eth1"));
    host.set_up("eth1", true);
    switch.vsctl("set port bond0 lacp=active other_config:lacp-time=fast");
    let host = &switch.host;
    eventually("the silence", || explained_for(LOOK, host, bond).findings.iter().any(|of| of.cause == "lacp-missing"));
    the_fault(explained_for(LOOK, host, bond), "lacp-missing", Side::Switch);
}
