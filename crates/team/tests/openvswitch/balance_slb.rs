//! ofproto-dpif.at: balance-slb bonding; what comes back to a bond that no partner knows as one.

use super::net::{Net, Options, STRANGER, frame, gratuitous, ms, source};
use nicteam_wire::Mac;

const SLB: Options<'_> = &[("mode", "ovs-balance-slb")];

#[test]
fn sources_are_spread_and_keep_their_member() {
    let mut net = Net::new(SLB, 3);
    let members: Vec<usize> = (0..=100).map(|number| net.send(&frame(source(number), STRANGER)).unwrap()).collect();
    for member in 0..3 {
        // Theirs asks for more than three.
        assert!(members.iter().filter(|by| **by == member).count() > 3, "{members:?}");
    }
    // To whom they send does not matter, nor does time.
    net.run(ms(30_000));
    for (number, member) in (0..=100).zip(members) {
        assert_eq!(net.send(&frame(source(number), Mac::BROADCAST)), Some(member));
    }
}

#[test]
fn sources_of_a_cut_member_leave_by_the_others_and_switches_learn() {
    let mut net = Net::new(SLB, 3);
    let before: Vec<usize> = (0..30).map(|number| net.send(&frame(source(number), STRANGER)).unwrap()).collect();
    net.taught();
    net.cable(1, false);
    let taught = net.taught();
    assert_eq!(taught.len(), 30, "each source once: {taught:?}");
    for (number, before) in (0..30).zip(before) {
        let now = net.send(&frame(source(number), STRANGER)).unwrap();
        assert_ne!(now, 1);
        assert!(before == 1 || now == before, "one that was not cut keeps its sources");
        assert!(taught.contains(&(now, source(number))), "{number} leaves by {now}: {taught:?}");
    }
}

/// bond - duplicates: what is sent to all is received once.
#[test]
fn groups_are_heard_by_the_active_member_alone() {
    let mut net = Net::new(SLB, 3);
    for to in [Mac::BROADCAST, Mac([1, 0, 0x5e, 0, 0, 1])] {
        let heard: Vec<usize> = (0..3).filter(|member| net.takes(*member, &frame(STRANGER, to))).collect();
        assert_eq!(heard, [net.active().unwrap()]);
    }
    // What is sent to one address comes by one member, whichever the switch has learned.
    assert!((0..3).all(|member| net.takes(member, &frame(STRANGER, source(1)))));
}

/// bond - allow duplicated packets on backup member.
#[test]
fn all_members_active() {
    let mut net = Net::new(&[SLB, &[("all-members-active", "true")]].concat(), 3);
    assert!((0..3).all(|member| net.takes(member, &frame(STRANGER, Mac::BROADCAST))));
    net.set(&[("all-members-active", "false")]);
    let heard: Vec<usize> = (0..3).filter(|member| net.takes(*member, &frame(STRANGER, Mac::BROADCAST))).collect();
    assert_eq!(heard, [net.active().unwrap()]);
}

#[test]
fn reflections_are_dropped() {
    let mut net = Net::new(SLB, 2);
    let sent = frame(source(1), Mac::BROADCAST);
    net.send(&sent);
    assert!((0..2).all(|member| !net.takes(member, &sent)), "what was sent by one member comes back by another");
    // A host that nobody sent from here is none of ours.
    assert!(net.takes(0, &frame(source(2), source(3))));
    net.run(ms(299_000));
    assert!(!net.takes(0, &sent));
    net.run(ms(1_000));
    assert!(net.takes(0, &sent), "300 s without a word of it");
}

#[test]
fn a_host_that_moves_is_believed_by_gratuitous_arp() {
    let mut net = Net::new(SLB, 2);
    let moved = gratuitous(source(1));
    net.send(&frame(source(1), STRANGER));
    assert!(net.takes(0, &moved), "it is elsewhere now");
    assert!(net.takes(0, &frame(source(1), STRANGER)), "and so is what it sends");
    // The first word that it is here again comes back as if it had moved: for 5 s that is not believed.
    net.send(&moved);
    assert!(!net.takes(0, &moved));
    net.run(ms(4_999));
    assert!(!net.takes(0, &moved));
    net.run(ms(1));
    assert!(net.takes(0, &moved));
}

/// `bond/migrate`: one bucket leaves by another member from then on, all others stay.
#[test]
fn a_bucket_migrates_by_command() {
    let mut net = Net::new(SLB, 3);
    let before: Vec<usize> = (0..100).map(|number| net.send(&frame(source(number), STRANGER)).unwrap()).collect();
    let bucket = |number| nicteam_team::hash::slb::bucket(source(number), 0, 0);
    let to = (before[7] + 1) % 3;
    net.change(|team, now| team.migrate(bucket(7), nicteam_team::MemberId::new(to).unwrap(), now)).unwrap();
    for (number, before) in (0..100).zip(before) {
        let expected = if bucket(number) == bucket(7) { to } else { before };
        assert_eq!(net.send(&frame(source(number), STRANGER)), Some(expected));
    }
    net.cable(to, false);
    let refused = net.change(|team, now| team.migrate(0, nicteam_team::MemberId::new(to).unwrap(), now));
    refused.unwrap_err();
}
