//! What a target does with a session whose place another takes, and with commands that it is told to abort.

use std::time::Duration;

use nicteam_iscsi::{Buffer, Event, Login, Outcome};

use super::common::{Pair, World, content};

#[test]
fn a_login_by_the_same_isid_takes_the_place_of_the_old_session() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut old = world.session(world.login(5));
    let mut other = world.session(world.login(6));
    let mut new = Pair::begin(&world.library, world.login(5));
    new.logged_in();
    // tgt has closed the old connection.
    old.session.write(1, 0, content(1, 4096));
    assert!(matches!(old.done(1), (Some(_), Outcome::NoAnswer)));
    assert!(matches!(old.next(), Event::Broken { .. }));
    new.ready();
    other.session.read(2, 0, Buffer::new(4096));
    assert!(other.done(2) == (Some(Buffer::new(4096)), Outcome::Good), "the old session wrote");
}

/// If this fails tgt has learned better: `Login::security_stage` may go.
#[test]
fn without_the_security_stage_tgt_keeps_the_old_session() {
    let Some(world) = World::or_skip(&[]) else { return };
    let login = Login { security_stage: false, ..world.login(5) };
    let mut old = world.session(login.clone());
    let mut new = Pair::begin(&world.library, login);
    new.logged_in();
    old.session.write(1, 0, content(1, 4096));
    assert_eq!(old.outcome(1), Outcome::Good, "it writes on");
}

#[track_caller]
fn assert_unanswered(pair: &mut Pair) {
    let answer = pair.next_within(Duration::from_millis(50));
    let ended = |event: &Event| matches!(event, Event::Done { outcome: Outcome::NoAnswer, .. } | Event::Broken { .. });
    assert!(answer.as_ref().is_none_or(ended), "{answer:?}");
}

#[test]
fn what_the_old_session_had_not_delivered_is_never_written() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut old = world.session(world.login(5));
    // More than the sockets hold: most of it waits in a session that is not serviced, the rest on the way.
    for tag in 0..4 {
        old.session.write(tag, tag * 16_384, content(tag, 8 << 20));
    }
    assert!(old.next_within(Duration::from_millis(1)).is_none_or(|event| matches!(event, Event::Done { .. })));
    let mut new = Pair::begin(&world.library, world.login(5));
    new.logged_in();
    new.session.lun_reset(10);
    assert_eq!(new.outcome(10), Outcome::Good);
    new.ready();
    let fenced = content(9, 8 << 20);
    for tag in 0..4 {
        new.session.write(tag, tag * 16_384, fenced.clone());
        assert_eq!(new.outcome(tag), Outcome::Good);
    }
    // The old session goes on to send.
    assert_unanswered(&mut old);
    for tag in 0..4 {
        new.session.read(tag, tag * 16_384, Buffer::new(8 << 20));
        assert!(new.done(tag) == (Some(fenced.clone()), Outcome::Good), "the old session wrote after the fence");
    }
}

#[test]
fn a_lun_reset_is_answered_after_what_it_waits_for_and_is_told_to_the_others() {
    let Some(world) = World::or_skip(&[]) else { return };
    let (mut busy, mut resetting) = (world.session(world.login(5)), world.session(world.login(6)));
    for tag in 0..64 {
        busy.session.write(tag, tag * 64, content(tag, 32 << 10));
    }
    // At least the first commands have arrived.
    assert!(matches!(busy.next(), Event::Done { .. }));
    resetting.session.lun_reset(1);
    assert_eq!(resetting.outcome(1), Outcome::Good);
    let mut attention = 0;
    for _ in 1..64 {
        match busy.next() {
            Event::Done { outcome: Outcome::Good | Outcome::Aborted(_), .. } => {}
            Event::Done { outcome: Outcome::UnitAttention { asc: 0x29, .. }, .. } => attention += 1,
            other => panic!("{other:?}"),
        }
    }
    busy.session.test_unit_ready(100);
    attention += usize::from(matches!(busy.outcome(100), Outcome::UnitAttention { asc: 0x29, .. }));
    assert_eq!(attention, 1, "it is told once");
}

#[test]
fn a_restarted_target_says_so_first() {
    let Some(mut world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(5));
    world.target.crash();
    assert!(matches!(pair.next(), Event::Broken { .. }));
    world.target.restart();
    let mut pair = Pair::begin(&world.library, world.login(5));
    pair.logged_in();
    pair.session.write(1, 0, content(1, 512 << 10));
    let (buffer, outcome) = pair.done(1);
    assert!(matches!(outcome, Outcome::UnitAttention { asc: 0x29, .. }), "{outcome:?}");
    pair.session.write(2, 0, buffer.unwrap());
    assert_eq!(pair.outcome(2), Outcome::Good, "and then takes the command");
}

#[test]
fn a_nop_is_answered_between_commands() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(5));
    for tag in 0..32 {
        pair.session.read(tag, 0, Buffer::new(64 << 10));
    }
    pair.session.nop_out(1000);
    let tags: Vec<u64> = (0..33)
        .map(|_| match pair.next() {
            Event::Done { tag, outcome: Outcome::Good, .. } => tag,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(tags.contains(&1000));
}
