//! What a session reads and writes, and what it agrees on.

use std::os::unix::fs::FileExt;

use nicteam_iscsi::{Buffer, Event, Isid, Login, Outcome};

use super::common::{World, content};

#[test]
fn what_is_written_is_in_the_file_and_is_read() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    let written = content(1, 1 << 20);
    pair.session.write(10, 2048, written.clone());
    let (buffer, outcome) = pair.done(10);
    assert_eq!((buffer.as_ref(), outcome), (Some(&written), Outcome::Good));
    pair.session.flush(11);
    assert_eq!(pair.outcome(11), Outcome::Good);

    let mut found = vec![0; 1 << 20];
    std::fs::File::open(world.target.file()).unwrap().read_exact_at(&mut found, 2048 * 512).unwrap();
    assert!(found == *written, "the target's file has other bytes");
    pair.session.read(12, 2048, Buffer::new(1 << 20));
    let (buffer, outcome) = pair.done(12);
    assert_eq!(outcome, Outcome::Good);
    assert!(buffer == Some(written), "other bytes are read");

    pair.session.logout(13);
    assert_eq!(pair.outcome(13), Outcome::Good);
    assert!(pair.session.fd().is_none() && pair.session.next_event().is_none(), "it is over, without a word");
}

#[test]
fn the_defaults_of_tgt_are_seen() {
    let Some(world) = World::or_skip(&[]) else { return };
    let pair = world.session(world.login(0));
    let agreed = pair.session.negotiated().unwrap();
    assert_eq!(agreed.max_recv_data, 8192);
    assert_eq!((agreed.first_burst, agreed.max_burst), (65_536, 262_144));
    assert!(agreed.immediate_data && agreed.initial_r2t);
    assert!(!agreed.header_digest && !agreed.data_digest);
}

#[test]
fn what_the_target_is_set_to_and_what_the_initiator_asks_for_are_seen() {
    let settings = [("MaxRecvDataSegmentLength", "262144"), ("FirstBurstLength", "131072"), ("InitialR2T", "No")];
    let Some(world) = World::or_skip(&settings) else { return };
    let pair = world.session(world.login(0));
    let agreed = pair.session.negotiated().unwrap();
    assert_eq!((agreed.max_recv_data, agreed.first_burst), (262_144, 131_072));
    assert!(agreed.immediate_data && !agreed.initial_r2t);

    // tgt knows no digests.
    let asked = Login { immediate_data: false, initial_r2t: true, header_digest: true, ..world.login(1) };
    let mut pair = world.session(asked);
    let agreed = pair.session.negotiated().unwrap();
    assert!(!agreed.immediate_data && agreed.initial_r2t && !agreed.header_digest, "{agreed:?}");
    let written = content(3, 300 * 1024);
    pair.session.write(5, 0, written.clone());
    assert_eq!(pair.outcome(5), Outcome::Good);
    pair.session.read(6, 0, Buffer::new(300 * 1024));
    assert!(pair.done(6) == (Some(written), Outcome::Good));
}

#[test]
fn sixty_four_commands_are_outstanding_at_once() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    for tag in 0..64 {
        pair.session.write(tag, tag * 64, content(tag, 32 << 10));
    }
    assert_eq!(pair.session.outstanding(), 64);
    let mut done: Vec<u64> = (0..64).map(|_| ended(pair.next(), Outcome::Good).0).collect();
    done.sort_unstable();
    assert_eq!(done, (0..64).collect::<Vec<u64>>());
    for tag in 0..64 {
        pair.session.read(tag, tag * 64, Buffer::new(32 << 10));
    }
    for _ in 0..64 {
        let (tag, buffer) = ended(pair.next(), Outcome::Good);
        assert!(buffer == Some(content(tag, 32 << 10)), "the buffer of {tag} has other bytes");
    }
    assert_eq!(pair.session.outstanding(), 0);
}

#[test]
fn what_a_command_cannot_be_comes_back_with_its_buffer() {
    let Some(world) = World::or_skip(&[]) else { return };
    let mut pair = world.session(world.login(0));
    pair.session.read(1, 0, Buffer::new(100));
    assert!(matches!(pair.done(1), (Some(buffer), Outcome::Refused(_)) if buffer.len() == 100));
    pair.session.write(2, 0, Buffer::default());
    assert!(matches!(pair.done(2), (Some(_), Outcome::Refused(_))));
    // Behind the end: the target says so (ILLEGAL REQUEST, LOGICAL BLOCK ADDRESS OUT OF RANGE).
    for write in [false, true] {
        let beyond = World::BYTES / 512;
        match write {
            false => pair.session.read(3, beyond, Buffer::new(512)),
            true => pair.session.write(3, beyond, Buffer::new(512 << 10)),
        }
        let (buffer, outcome) = pair.done(3);
        assert!(buffer.is_some());
        assert_eq!(outcome, Outcome::CheckCondition { key: 5, asc: 0x21, ascq: 0 });
    }
    pair.session.test_unit_ready(4);
    assert_eq!(pair.outcome(4), Outcome::Good, "the session lives on");
}

#[test]
fn a_login_that_the_target_refuses_says_why() {
    let Some(world) = World::or_skip(&[]) else { return };
    let unknown = Login { target: "iqn.2026-01.test:nothing".to_owned(), ..world.login(0) };
    let mut pair = super::common::Pair::begin(&world.library, unknown);
    match pair.next() {
        Event::Broken { reason } => assert!(reason.to_lowercase().contains("target"), "{reason}"),
        other => panic!("{other:?}"),
    }
    pair.session.test_unit_ready(1);
    assert!(matches!(pair.outcome(1), Outcome::Refused(_)));
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    let Some(world) = World::or_skip(&[]) else { return };
    let bound = |device: &str| Login { bind_device: Some(device.to_owned()), ..world.login(0) };
    let error = nicteam_iscsi::Session::begin(&world.library, bound("eth7")).unwrap_err().to_string();
    assert!(error.contains("eth7"), "{error}");
    let error = nicteam_iscsi::Session::begin(&world.library, bound("much-too-long-a-name")).unwrap_err().to_string();
    assert!(error.contains("the interface"), "{error}");
    let mut pair = world.session(bound("lo"));
    pair.session.nop_out(9);
    assert_eq!(pair.outcome(9), Outcome::Good, "NOP-In");
}

#[test]
fn names_that_c_cannot_hold_are_refused() {
    let Some(world) = World::or_skip(&[]) else { return };
    for target in ["", "iqn\0", &"x".repeat(300)] {
        let login = Login { target: target.to_owned(), isid: Isid::new(1, 1), ..world.login(0) };
        assert!(nicteam_iscsi::Session::begin(&world.library, login).is_err(), "{target:?}");
    }
}

/// The command that ended like this, with its buffer.
#[track_caller]
fn ended(event: Event, how: Outcome) -> (u64, Option<Buffer>) {
    match event {
        Event::Done { tag, buffer, outcome } if outcome == how => (tag, buffer),
        other => panic!("{other:?}"),
    }
}
