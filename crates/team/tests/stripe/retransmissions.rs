//! By which path retransmissions go, and acknowledgements for a loss recovery.

use std::collections::BTreeSet;
use std::time::Duration;

use nicteam_team::{Action, Choose, Plan, PlanState, Stripe, Time};
use nicteam_wire::{Frame, Mac};

use crate::stripe::lan::{Lan, id};

const MEMBERS: usize = 4;
const PORT: u16 = 40_000;
const MS: u64 = 1_000_000;
/// All before this number was acknowledged.
const ACKNOWLEDGED: u32 = 5000;

/// A host towards another with the same members, and what its dataplane remembers.
struct Sender {
    plan: Plan,
    state: PlanState,
    own: Mac,
    peer: Mac,
    now: u64,
}

impl Sender {
    fn new(change: impl Fn(&mut Stripe)) -> Sender {
        let mut lan = Lan::new();
        let (a, b) = (lan.add(&[0; MEMBERS], &[1000; MEMBERS]), lan.add(&[0; MEMBERS], &[1000; MEMBERS]));
        lan.run(Duration::from_millis(200));
        let mut plan = lan.host(a).plan.clone();
        let Choose::Stripe(stripe) = &mut plan.choose else { panic!() };
        assert!(stripe.peers[0].paths.iter().all(|path| path.sender == path.receiver));
        change(stripe);
        let (own, peer) = (lan.host(a).mac, lan.host(b).mac);
        Sender { plan, state: PlanState::new(0), own, peer, now: 1000 * MS }
    }

    /// A millisecond after what was before: the wires are free again.
    fn choose(&mut self, bytes: &[u8]) -> Action {
        self.now += MS;
        self.state.now = Time::from_nanos(self.now);
        self.plan.choose(&Frame::parse(bytes).unwrap(), &mut self.state)
    }

    /// By which member it goes.
    fn send(&mut self, bytes: &[u8]) -> usize {
        let action = self.choose(bytes);
        let Action::Stripe { member, .. } = action else { panic!("{action:?}") };
        member.index()
    }

    fn data(&mut self, port: u16, sequence: u32) -> usize {
        let bytes = segment((self.peer, self.own), port, sequence, &[], 1000);
        self.send(&bytes)
    }

    fn acknowledge(&mut self) -> usize {
        let bytes = segment((self.peer, self.own), PORT, 7, &[], 0);
        self.send(&bytes)
    }

    /// An acknowledgement that reports a gap.
    fn report(&mut self) -> Action {
        let mut option = vec![1, 1, 5, 10];
        option.extend((ACKNOWLEDGED + 1000).to_be_bytes());
        option.extend((ACKNOWLEDGED + 2000).to_be_bytes());
        let bytes = segment((self.peer, self.own), PORT, 7, &option, 0);
        self.choose(&bytes)
    }

    /// A frame of the peer's comes by this path.
    fn hear(&mut self, place: usize) {
        let Choose::Stripe(stripe) = &self.plan.choose else { panic!() };
        let macs = (stripe.senders[place].mac, stripe.peers[0].receivers[place].mac);
        let bytes = segment(macs, PORT, 1, &[], 0);
        self.plan.receive_once(id(place), &Frame::parse(&bytes).unwrap(), &mut self.state);
    }
}

/// With these addresses, destination first.
fn segment((dst, src): (Mac, Mac), port: u16, sequence: u32, options: &[u8], payload: usize) -> Vec<u8> {
    let mut frame = [dst.0, src.0].concat();
    frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x13, 0x89]);
    frame.extend(sequence.to_be_bytes());
    frame.extend(ACKNOWLEDGED.to_be_bytes());
    frame.extend([(20 + options.len() as u8) << 2, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.extend(options);
    frame.resize(frame.len() + payload, 7);
    frame
}

/// Paths that eight frames of a kind take.
fn used(mut send: impl FnMut(u32) -> usize) -> BTreeSet<usize> {
    (0..8).map(&mut send).collect()
}

fn all() -> BTreeSet<usize> {
    (0..MEMBERS).collect()
}

#[test]
fn what_is_sent_again_goes_by_the_path_that_brought_something_last() {
    let mut sender = Sender::new(|_| ());
    let first = u32::MAX - 3999; // the numbers wrap in between
    let number = |at: u32| first.wrapping_add(1000 * at);
    assert_eq!(used(|at| sender.data(PORT, number(at))), all(), "it is new");
    assert_eq!(used(|at| sender.data(PORT, number(at))), all(), "nothing was heard yet");
    for place in [2, 0, 3, 1] {
        sender.hear(place);
        assert_eq!(used(|at| sender.data(PORT, number(at))), BTreeSet::from([place]));
        assert_eq!(sender.data(PORT, number(7).wrapping_add(500)), place, "a part of it");
    }
    // Of that the end was new; and who knows nothing of its beginning sends what is new.
    assert_eq!(sender.data(PORT, number(8).wrapping_add(400)), 1);
    assert_eq!(used(|at| sender.data(PORT, number(8).wrapping_add(1400 + 1000 * at))), all());
    assert_eq!(used(|at| sender.data(PORT + 1, number(at))), all(), "another connection");
}

#[test]
fn a_connection_that_was_silent_for_a_minute_is_another_one() {
    let mut sender = Sender::new(|_| ());
    sender.hear(1);
    sender.data(PORT, 50_000);
    sender.now += 59_000 * MS;
    assert_eq!(sender.data(PORT, 50_000), 1);
    sender.now += 60_000 * MS;
    assert_eq!(used(|at| sender.data(PORT, 1000 + 1000 * at)), all());
}

#[test]
fn a_retransmission_does_not_wait_for_a_path_with_a_much_longer_backlog() {
    let mut sender = Sender::new(|_| ());
    sender.data(PORT, 1000);
    sender.hear(1);
    let frame = segment((sender.peer, sender.own), PORT, 1000, &[], 1000);
    let mut waiting = 0;
    while let Action::Stripe { member, .. } = sender.plan.choose(&Frame::parse(&frame).unwrap(), &mut sender.state)
        && member == id(1)
    {
        waiting += 1;
    }
    // Four milliseconds of a gigabit.
    let most = 4_000_000 / ((1054 + 24) * 8) + 2;
    assert!((most - 3..=most).contains(&waiting), "{waiting} of {most} frames");
}

#[test]
fn acknowledgements_go_by_the_path_that_brought_something_last_while_the_peer_is_in_loss_recovery() {
    let mut sender = Sender::new(|stripe| stripe.sack_delay = Duration::from_nanos(1));
    sender.hear(2);
    assert_eq!(used(|_| sender.acknowledge()), all(), "no gap was reported to it");
    assert!(matches!(sender.report(), Action::Stripe { without: Some(_), .. }), "a new gap is not told");
    assert_eq!(used(|_| sender.acknowledge()), all());
    let told = sender.report();
    assert!(matches!(told, Action::Stripe { member, without: None, .. } if member == id(2)), "{told:?}");
    assert_eq!(used(|_| sender.acknowledge()), BTreeSet::from([2]));
    sender.hear(3);
    assert_eq!(used(|_| sender.acknowledge()), BTreeSet::from([3]));
    let new: BTreeSet<usize> = (0..3).map(|at| sender.data(PORT, 1000 + 1000 * at)).collect();
    assert_eq!(new.len(), 3, "data has its own paths: {new:?}");
    // Twenty milliseconds after it was told, and more.
    assert_eq!(used(|_| sender.acknowledge()), all());
}

#[test]
fn a_flow_that_keeps_its_path_stays_on_that_by_which_it_sent_again() {
    let mut sender = Sender::new(|stripe| stripe.peers[0].keeps_flows = true);
    let kept = sender.data(PORT, 1000);
    assert_eq!(used(|at| sender.data(PORT, 2000 + 1000 * at)), BTreeSet::from([kept]));
    let other = (kept + 1) % MEMBERS;
    sender.hear(other);
    assert_eq!(sender.data(PORT, 10_000), kept);
    assert_eq!(sender.data(PORT, 10_000), other);
    assert_eq!(used(|at| sender.data(PORT, 11_000 + 1000 * at)), BTreeSet::from([other]));
}
