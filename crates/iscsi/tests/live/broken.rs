//! What becomes of commands when a session ends before they do.

use nicteam_iscsi::{Buffer, Event, Outcome};

use super::common::{Pair, World, content};

/// Every command ends once, with its buffer and without an answer, then the session; the last word is returned.
#[track_caller]
fn all_come_back(pair: &mut Pair, commands: u64, bytes: usize) -> String {
    let mut back = Vec::new();
    loop {
        match pair.next() {
            Event::Done { tag, buffer, outcome } => {
                assert!(matches!(outcome, Outcome::NoAnswer | Outcome::Good), "{outcome:?}");
                assert_eq!(buffer.expect("its buffer").len(), bytes);
                back.push(tag);
            }
            Event::Broken { reason } => {
                back.sort_unstable();
                assert_eq!(back, (0..commands).collect::<Vec<u64>>());
                assert_eq!((pair.session.outstanding(), pair.session.fd().is_none()), (0, true));
                assert!(pair.session.next_event().is_none());
                return reason;
            }
            Event::LoggedIn => panic!("logged in again"),
        }
    }
}

#[test]
fn a_killed_target_gives_every_command_back() {
    let Some(mut world) = World::or_skip(&[]) else { return };
    for write in [true, false] {
        let mut pair = world.session(world.login(0));
        // Stopped, it answers nothing: all of them are under way, and some half sent.
        world.target.signal("-STOP");
        for tag in 0..64 {
            match write {
                true => pair.session.write(tag, tag * 256, content(tag, 128 << 10)),
                false => pair.session.read(tag, tag * 256, Buffer::new(128 << 10)),
            }
        }
        assert!(pair.next_within(std::time::Duration::from_millis(50)).is_none());
        assert_eq!(pair.session.outstanding(), 64);
        world.target.crash();
        all_come_back(&mut pair, 64, 128 << 10);
        pair.session.write(1, 0, Buffer::new(512));
        assert!(matches!(pair.done(1), (Some(_), Outcome::Refused(_))), "it takes no more commands");
        world.target.restart();
    }
}

#[test]
fn a_command_given_before_the_end_is_heard_of_ends_before_it() {
    let Some(mut world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    world.target.crash();
    pair.end_unheard();
    pair.session.write(0, 0, content(0, 512));
    pair.session.read(1, 0, Buffer::new(100));
    for (tag, bytes) in [(0, 512), (1, 100)] {
        let (buffer, outcome) = pair.done(tag);
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
        assert_eq!(buffer.expect("its buffer").len(), bytes);
    }
    all_come_back(&mut pair, 0, 0);
}

#[test]
fn an_idle_session_sees_that_its_target_is_gone() {
    let Some(mut world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    world.target.crash();
    all_come_back(&mut pair, 0, 0);
    // Nobody listens: the next login ends, too.
    let mut pair = Pair::begin(&world.library, world.login(0));
    let reason = all_come_back(&mut pair, 0, 0);
    assert!(reason.contains("refused"), "{reason}");
}

#[test]
fn an_abandoned_session_gives_every_command_back_and_resets_the_connection() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    world.target.signal("-STOP");
    for tag in 0..64 {
        pair.session.write(tag, tag * 256, content(tag, 128 << 10));
    }
    assert!(pair.next_within(std::time::Duration::from_millis(50)).is_none());
    pair.session.abandon();
    assert_eq!(all_come_back(&mut pair, 64, 128 << 10), "abandoned");
    world.target.signal("-CONT");
    nicteam_testnet::eventually("the target sees the end", || !world.target.show("conn").contains("Session"));
    let file = std::fs::read(world.target.file()).unwrap();
    let last = &file[63 * (128 << 10)..64 * (128 << 10)];
    assert!(last.iter().all(|&byte| byte == 0), "what was not sent yet is not written later");
}

#[test]
fn a_dropped_session_leaves_nothing_at_the_target() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    assert!(world.target.show("conn").contains("Session"), "{}", world.target.show("conn"));
    pair.session.read(1, 0, Buffer::new(1 << 20));
    drop(pair);
    nicteam_testnet::eventually("the target sees the end", || !world.target.show("conn").contains("Session"));
}

#[test]
fn a_login_to_a_silent_target_can_be_abandoned() {
    let Some(world) = World::or_skip(&[]) else { return };
    world.target.signal("-STOP");
    let mut pair = Pair::begin(&world.library, world.login(0));
    assert!(pair.next_within(std::time::Duration::from_millis(50)).is_none());
    pair.session.write(0, 0, Buffer::new(512));
    assert!(matches!(pair.done(0), (Some(_), Outcome::Refused(_))), "not logged in yet");
    pair.session.abandon();
    all_come_back(&mut pair, 0, 0);
    world.target.signal("-CONT");
}
