//! ofproto-dpif.at: active-backup bonding, with and without a primary.

use super::net::{Net, Options, STRANGER, frame, ms, source};
use nicteam_wire::Mac;

const AB: Options<'_> = &[("mode", "ovs-active-backup")];

/// Two hosts behind the bond send; the member that carries them is cut, and another one does.
fn fails_over(net: &mut Net) {
    net.cable(1, false);
    assert_eq!((net.active(), net.enabled()), (Some(0), vec![0]));
    for number in [9, 11] {
        assert_eq!(net.send(&frame(source(number), STRANGER)), Some(0));
    }
    net.cable(1, true);
    net.taught();
    net.cable(0, false);
    assert_eq!((net.active(), net.enabled()), (Some(1), vec![1]));
    assert_eq!(net.send(&frame(source(9), STRANGER)), Some(1));
    // One frame for each host, by the member that is the active one now.
    assert_eq!(net.taught(), [(1, source(9)), (1, source(11))]);
}

#[test]
fn with_primary() {
    let mut net = Net::new(&[AB, &[("bond-primary", "p0")]].concat(), 2);
    fails_over(&mut net);
    net.cable(0, true);
    assert_eq!((net.active(), net.enabled()), (Some(0), vec![0, 1]), "the primary is back");
    assert_eq!(net.taught(), [(0, source(9)), (0, source(11))]);
}

#[test]
fn without_primary() {
    let mut net = Net::new(AB, 2);
    fails_over(&mut net);
    net.cable(0, true);
    assert_eq!((net.active(), net.enabled()), (Some(1), vec![0, 1]), "who carries goes on");
    assert_eq!(net.taught(), []);
}

/// The primary is cut and back, taken out and put in again, another one, and none.
#[test]
fn primary_validation() {
    let mut net = Net::new(&[AB, &[("bond-primary", "p0")]].concat(), 3);
    assert_eq!(net.active(), Some(0));
    net.cable(0, false);
    assert_eq!(net.enabled(), [1, 2]);
    net.cable(0, true);
    assert_eq!(net.active(), Some(0));
    net.leave(0);
    assert!([Some(1), Some(2)].contains(&net.active()));
    net.join("p0");
    assert_eq!(
        (net.active(), net.enabled()),
        (Some(0), vec![0, 1, 2]),
        "a primary that joins becomes the active member"
    );
    net.set(&[("bond-primary", "p1")]);
    assert_eq!(net.active(), Some(1));
    net.set(&[("bond-primary", "")]);
    assert_eq!(net.active(), Some(1), "without a primary the active member stays");
}

/// What comes in by a member that is not the active one is dropped: a switch that knows no better sends it to all.
#[test]
fn only_the_active_member_is_heard() {
    let mut net = Net::new(&[AB, &[("all-members-active", "true")]].concat(), 2);
    for to in [Mac::BROADCAST, source(9)] {
        assert!(net.takes(0, &frame(STRANGER, to)));
        assert!(!net.takes(1, &frame(STRANGER, to)));
    }
}

#[test]
fn restart_keeps_the_active_member() {
    // A new process is told who was the active member before the first one joins.
    for (last, active) in [("p2", 2), ("p1", 1), ("gone", 0)] {
        let mut net = Net::new(AB, 0);
        net.change(|team, _| team.remember_active(last));
        (0..3).for_each(|member| net.join(&format!("p{member}")));
        assert_eq!(net.active(), Some(active), "{last}");
    }
}

/// `bond/set-active-member`, `bond/disable-member`, `bond/enable-member`.
#[test]
fn members_are_changed_by_command() {
    let mut net = Net::new(AB, 3);
    net.send(&frame(source(9), STRANGER));
    net.taught();
    let id = |member| nicteam_team::MemberId::new(member).unwrap();
    net.change(|team, now| team.activate(id(2), now)).unwrap();
    assert_eq!((net.active(), net.taught()), (Some(2), vec![(2, source(9))]));
    assert_eq!(net.send(&frame(source(9), STRANGER)), Some(2));
    net.cable(1, false);
    net.change(|team, now| team.activate(id(1), now)).unwrap_err();
    assert_eq!(net.active(), Some(2));
}

/// `bond_updelay` and `bond_downdelay`: who is back, or gone, is believed after them; but if nobody is enabled, the first
/// one that is back serves at once.
#[test]
fn delays_are_kept_and_skipped_where_nobody_is_left() {
    let mut net = Net::new(&[AB, &[("bond_updelay", "2000"), ("bond_downdelay", "1000")]].concat(), 2);
    net.run(ms(5000));
    assert_eq!((net.active(), net.enabled()), (Some(0), vec![0, 1]));
    net.cable(0, false);
    net.run(ms(800));
    assert_eq!(net.active(), Some(0), "900 ms without carrier");
    net.run(ms(200));
    assert_eq!((net.active(), net.enabled()), (Some(1), vec![1]));
    net.cable(0, true);
    net.run(ms(1800));
    assert_eq!(net.enabled(), [1], "1900 ms with carrier");
    net.run(ms(200));
    assert_eq!(net.enabled(), [0, 1]);
    net.cable(0, false);
    net.cable(1, false);
    net.run(ms(2000));
    assert_eq!((net.active(), net.enabled()), (None, vec![]));
    net.cable(1, true);
    assert_eq!((net.active(), net.enabled()), (Some(1), vec![1]), "nobody else is enabled");
}
