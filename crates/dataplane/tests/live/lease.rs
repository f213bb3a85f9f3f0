//! A plan with a lease, and what partners are told while its process is silent.

use std::time::{Duration, Instant};

use crate::common::hosts::{TeamHost, bpf, pair, pair_plan};
use crate::common::{counters, id, ids, may_run_bpf};
use nicteam_dataplane::{BpfDataplane, Dataplane};
use nicteam_sys::listen::{Kind, Listener, Rules, Tap};
use nicteam_sys::packet::{Batch, PacketSocket};
use nicteam_team::balance::{Eligible, Number, Punt};
use nicteam_team::lacp::Answer;
use nicteam_team::{Balance, Choose, HashPolicy, Plan};
use nicteam_testnet::eventually;
use nicteam_wire::{Arp, LacpState, Lacpdu, Mac, PortInfo, SlowPdu};

/// A process that has not renewed its lease for so long is spoken for.
const STALLED: Duration = Duration::from_millis(400);
/// A lease that no test outlives.
const LONG: Duration = Duration::from_secs(3600);

const HERE: Mac = Mac([2, 0, 0, 0, 1, 1]);
const THERE: Mac = Mac([2, 0, 0, 0, 1, 2]);
const CARRIES: u8 = 0x38;
/// How often a partner is told that the lease is over.
const LAST_WORDS: u64 = 3;

/// A team whose member 1 is cabled to a partner that speaks when the test does.
struct Bench {
    a: TeamHost,
    b: TeamHost,
    dataplane: Box<BpfDataplane>,
    partner: PacketSocket,
}

fn end(system: Mac, port: u16) -> PortInfo {
    PortInfo { system_priority: 0xffff, system, key: 9, port_priority: 255, port, state: LacpState(63) }
}

/// What member 1 says to its partner.
fn answer() -> Answer {
    let frame = Lacpdu::new(end(HERE, 2), end(THERE, 7)).frame(HERE);
    Answer { member: id(1), frame, partner: end(THERE, 7) }
}

fn leased(lease: Duration) -> Plan {
    Plan { lease: Some(lease), ..pair_plan(Choose::Hash { policy: HashPolicy::Layer34, table: ids(4) }) }
}

impl Bench {
    fn new(lease: Duration) -> Bench {
        let (a, b) = pair();
        let mut dataplane = a.start(bpf, &leased(lease));
        dataplane.renew(&[answer()]).unwrap();
        let partner = b.run(|| PacketSocket::open(b.ports[1].index).unwrap());
        Bench { a, b, dataplane, partner }
    }

    /// The partner says this of itself; what it is told then, as far as it comes at once.
    fn say(&self, actor: PortInfo, padding: usize) -> Vec<Lacpdu> {
        let mut frame = Lacpdu::new(actor, end(HERE, 2)).frame(THERE);
        frame.resize(frame.len() + padding, 0);
        assert!(self.partner.send_frame(&frame));
        std::thread::sleep(Duration::from_millis(5));
        self.heard()
    }

    fn heard(&self) -> Vec<Lacpdu> {
        let mut batch = Batch::new();
        self.partner.receive(&mut batch).unwrap();
        let pdus = batch.frames().filter_map(|frame| match SlowPdu::parse(frame.bytes) {
            Ok(SlowPdu::Lacp(pdu)) if frame.bytes.len() == answer().frame.len() => Some(pdu),
            _ => None,
        });
        pdus.collect()
    }

    /// The first answer that the partner gets.
    #[track_caller]
    fn answered(&self, what: &str) -> Lacpdu {
        let mut answers = Vec::new();
        eventually(what, || {
            answers = self.say(end(THERE, 7), 0);
            !answers.is_empty()
        });
        answers[0]
    }
}

#[test]
fn a_silent_process_is_spoken_for_and_one_that_lives_is_not() {
    if !may_run_bpf("a_silent_process_is_spoken_for_and_one_that_lives_is_not") {
        return;
    }
    let mut bench = Bench::new(LONG);
    let pdu = bench.answered("an answer");
    assert_eq!(pdu, Lacpdu::new(end(HERE, 2), end(THERE, 7)));
    let answered = bench.dataplane.answered().unwrap();
    assert!(answered >= 1);
    // The program waits 300 ms before it speaks again.
    std::thread::sleep(STALLED);
    assert_eq!(bench.say(end(THERE, 7), 60).len(), 1, "a longer PDU has the same answer");
    std::thread::sleep(STALLED);
    let lives = |bench: &mut Bench| {
        let start = Instant::now();
        bench.dataplane.renew(&[answer()]).unwrap();
        let said = bench.say(end(THERE, 7), 0);
        (start.elapsed() < STALLED / 2).then_some(said)
    };
    let mut said = None;
    eventually("a renewal in time", || {
        said = lives(&mut bench);
        said.is_some()
    });
    assert_eq!(said, Some(vec![]), "a process that lives was spoken for");
}

#[test]
fn only_what_is_known_is_answered() {
    if !may_run_bpf("only_what_is_known_is_answered") {
        return;
    }
    let mut bench = Bench::new(LONG);
    bench.answered("an answer");
    assert_eq!(bench.dataplane.remembered().unwrap().len(), 1);
    std::thread::sleep(STALLED);
    let others = [
        PortInfo { state: LacpState(63 - 8), ..end(THERE, 7) },
        PortInfo { key: 10, ..end(THERE, 7) },
        PortInfo { port: 8, ..end(THERE, 7) },
        end(HERE, 2),
    ];
    for other in others {
        assert_eq!(bench.say(other, 0), [], "{other:?}");
        assert_eq!(bench.dataplane.remembered().unwrap(), [], "{other:?}");
    }
    let mut marker = Lacpdu::new(end(THERE, 7), end(HERE, 2)).frame(THERE);
    marker[14] = 2;
    assert!(bench.partner.send_frame(&marker));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(bench.heard(), [], "a marker");
    bench.answered("an answer to what is known");
    assert_eq!(bench.dataplane.remembered().unwrap().len(), 1);
    bench.dataplane.renew(&[]).unwrap();
    std::thread::sleep(STALLED);
    assert_eq!(bench.say(end(THERE, 7), 0), [], "nothing is to be said any more");
    assert_eq!(bench.dataplane.remembered().unwrap(), []);
}

#[test]
fn a_listening_socket_hears_what_is_answered() {
    if !may_run_bpf("a_listening_socket_hears_what_is_answered") {
        return;
    }
    let bench = Bench::new(LONG);
    let lacp = Rules::of([Kind::Lacp]);
    let port = bench.a.ports[1].index;
    let ears = bench.a.run(|| Listener::open(port, Tap::Ahead, &lacp).unwrap());
    bench.answered("an answer");
    let (mut frame, mut heard) = (Vec::new(), 0);
    while ears.receive(&mut frame).unwrap() {
        let Ok(SlowPdu::Lacp(pdu)) = SlowPdu::parse(&frame) else { panic!("{frame:02x?}") };
        assert_eq!(pdu.actor, end(THERE, 7), "its own answer");
        heard += 1;
    }
    assert!(heard > 0);
}

#[test]
fn after_the_lease_nothing_is_sent_and_the_partner_is_told() {
    if !may_run_bpf("after_the_lease_nothing_is_sent_and_the_partner_is_told") {
        return;
    }
    let mut bench = Bench::new(Duration::from_millis(1));
    std::thread::sleep(STALLED);
    let pdu = bench.answered("the last word");
    assert_eq!(pdu.actor, PortInfo { state: LacpState(63 & !CARRIES), ..end(HERE, 2) });
    assert_eq!(pdu.partner, end(THERE, 7));
    assert_eq!(bench.dataplane.remembered().unwrap(), [], "the partner has been told something else");
    eventually("the silence", || {
        bench.say(end(THERE, 7), 0);
        bench.dataplane.answered().unwrap() == LAST_WORDS
    });
    std::thread::sleep(STALLED);
    assert_eq!(bench.say(end(THERE, 7), 0), [], "it has had the last word");
    let unsent = bench.dataplane.unsent().unwrap();
    let sends = |bench: &Bench| {
        let frame = [[2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 1, 0x08, 0].as_slice(), &[0; 46]].concat();
        let run = bench.a.run(|| bench.dataplane.dry_run_behind(&frame, 1).unwrap());
        run.action
    };
    assert_eq!(sends(&bench), 2, "TC_ACT_SHOT");
    assert!(bench.dataplane.unsent().unwrap() > unsent);
    bench.a.run(|| bench.dataplane.apply(&leased(LONG)).unwrap());
    assert_eq!(sends(&bench), 7, "TC_ACT_REDIRECT");
    // A process that lives again is spoken for as before.
    bench.dataplane.renew(&[answer()]).unwrap();
    assert_eq!(bench.answered("another answer").actor, end(HERE, 2));
    bench.a.run(|| bench.dataplane.apply(&leased(Duration::from_millis(1))).unwrap());
    bench.dataplane.renew(&[answer()]).unwrap();
    std::thread::sleep(STALLED);
    assert_eq!(bench.answered("last words once more").actor, pdu.actor);
    bench.a.run(|| bench.dataplane.apply(&Plan { lease: None, ..leased(LONG) }).unwrap());
    std::thread::sleep(STALLED);
    assert_eq!(sends(&bench), 7, "without a lease it sends for ever");
    assert_eq!(bench.say(end(THERE, 7), 0), [], "and answers nobody");
    let _ = &bench.b;
}

#[test]
fn a_successor_remembers_what_belongs_to_the_same_device() {
    if !may_run_bpf("a_successor_remembers_what_belongs_to_the_same_device") {
        return;
    }
    let bench = Bench::new(LONG);
    bench.answered("an answer");
    let Bench { a, dataplane, .. } = bench;
    drop(dataplane);
    let mut next = a.run(|| bpf(&a.team));
    let remembered = next.remembered().unwrap();
    assert_eq!(remembered.len(), 1);
    assert_eq!((remembered[0].index, &remembered[0].answer), (a.ports[1].index, &answer()));
    assert!(remembered[0].silence < Duration::from_secs(20), "{remembered:?}");
    // Another device at its place has another partner.
    let other = nicteam_dataplane::Port { id: id(1), ..a.ports[3].clone() };
    a.run(|| next.attach(&other).unwrap());
    assert_eq!(next.remembered().unwrap(), []);
    drop(next);
    assert_eq!(a.run(|| bpf(&a.team)).remembered().unwrap(), []);
}

#[test]
fn what_nobody_takes_any_more_leaves_by_the_active_member() {
    if !may_run_bpf("what_nobody_takes_any_more_leaves_by_the_active_member") {
        return;
    }
    const PUNTED: u32 = 5; // TC_ACT_QUEUED
    const SENT: u32 = 7; // TC_ACT_REDIRECT
    let mut bench = Bench::new(LONG);
    let punt = Some(Punt { from: HERE, neighbours: true });
    let (eligible, number, table) = (Eligible::Alb, Number::Destination, ids(4));
    let balance = Balance { eligible, number, table, active: id(2), counted: true, punt };
    let alb = Plan { lease: Some(Duration::from_millis(100)), ..pair_plan(Choose::Balance(balance)) };
    bench.a.run(|| bench.dataplane.apply(&alb).unwrap());
    let question = Arp::gratuitous(HERE, [10, 0, 0, 1].into()).frame(Mac::BROADCAST, HERE, None);
    let data = [&question[..12], &[8, 0], &[0x45; 60]].concat();
    let asked = |bench: &Bench| bench.a.run(|| bench.dataplane.dry_run_behind(&question, 1).unwrap().action);
    let by_active = |bench: &Bench| counters(&*bench.dataplane, 2).tx_frames;
    eventually("a question that is punted", || {
        bench.dataplane.renew(&[]).unwrap();
        asked(&bench) == PUNTED
    });
    // The stack has things of its own to say now and then.
    eventually("a question that is sent, by the active member", || {
        let before = by_active(&bench);
        asked(&bench) == SENT && by_active(&bench) == before + 1
    });
    // What the stack sent before there was a plan is counted there, too.
    let unsent = bench.dataplane.unsent().unwrap();
    let sent = bench.a.run(|| bench.dataplane.dry_run_behind(&data, 1).unwrap());
    assert_eq!((sent.action, bench.dataplane.unsent().unwrap()), (SENT, unsent), "the rest goes on");
    eventually("a question that is punted again", || {
        bench.dataplane.renew(&[]).unwrap();
        asked(&bench) == PUNTED
    });
}
