//! A write that its path holds back, while a newer one of the same place goes by another path.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_iscsi::{Buffer, Event, Isid, Library, Login, Outcome, Session};
use nicteam_multipath::Policy;
use nicteam_storage::Volume;
use nicteam_testnet::{IscsiTarget, is_soak};
use nix::poll::{PollFd, PollTimeout, poll};

use crate::common::net::Net;
use crate::common::work::Work;
use crate::common::{inside, library, with_disk};

/// How long the old path holds frames back.
fn delay() -> Duration {
    if is_soak() { Duration::from_secs(5) } else { Duration::from_millis(1200) }
}

/// Waits until a session has the event that is wanted.
fn until(session: &mut Session, mut is_wanted: impl FnMut(&Event) -> bool) {
    let start = Instant::now();
    loop {
        while let Some(event) = session.next_event() {
            if is_wanted(&event) {
                return;
            }
            assert!(!matches!(event, Event::Broken { .. }), "{event:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(20));
        let mut fds = [PollFd::new(session.fd().unwrap(), session.wants())];
        poll(&mut fds, PollTimeout::from(100_u8)).unwrap();
        let found = fds[0].revents().unwrap();
        session.service(found);
    }
}

fn log_in(library: &Library, net: &Net, path: usize) -> Session {
    let portal = net.spec().paths[path].portal;
    let mut session = Session::begin(
        library,
        Login::new(
            portal,
            IscsiTarget::NAME,
            IscsiTarget::LUN,
            "iqn.2026-01.org.example:me",
            Isid::new(1, path as u16),
        ),
    )
    .unwrap();
    until(&mut session, |event| *event == Event::LoggedIn);
    // A new session is told first that it is new.
    session.test_unit_ready(1);
    until(&mut session, |event| matches!(event, Event::Done { .. }));
    session
}

fn write(session: &mut Session, content: u8) {
    session.write(2, 0, Buffer::from(vec![content; 4096]));
}

/// What the disk tests below are about is no matter of theory: a session that is only left does this.
#[test]
fn a_session_that_is_left_and_not_fenced_overwrites_the_newer_content() {
    let Some(library) = library() else { return };
    let mut net = Net::new(1);
    let target = net.serve(1 << 20);
    let relay = net.add_relayed_path(delay());
    inside(net.initiator.netns.as_fd(), || {
        let mut old = log_in(&library, &net, 1);
        let mut new = log_in(&library, &net, 0);
        relay.set_slow(true);
        write(&mut old, 1);
        old.service(old.wants());
        std::thread::sleep(Duration::from_millis(50));
        write(&mut new, 2);
        until(&mut new, |event| matches!(event, Event::Done { outcome: Outcome::Good, .. }));
        assert_eq!(std::fs::read(target.file()).unwrap()[..4096], [2; 4096]);
        nicteam_testnet::eventually("the stale write", || std::fs::read(target.file()).unwrap()[..4096] == [1; 4096]);
    });
}

#[test]
fn no_write_of_a_path_that_holds_it_back_overwrites_a_newer_one() {
    let Some(library) = library() else { return };
    let mut net = Net::new(1);
    let target = net.serve(256 << 10);
    let relay = net.add_relayed_path(delay());
    let mut spec = net.spec();
    spec.multipath.policy = Policy::RoundRobin { ios: Some(1) };
    with_disk(&library, &mut net, &spec, |disk, _| {
        // Few places, so that each is written many times while frames are held back; and short writes, which go with their
        // commands: longer ones the target asks for first, and it is told that nobody is there.
        let mut work = Work::new(disk, 4 << 10, 16);
        work.write(disk, |done| done >= 500);
        relay.set_slow(true);
        let start = Instant::now();
        work.write(disk, |_| start.elapsed() > Duration::from_millis(700));
        let held = relay.held();
        relay.set_slow(false);
        work.write(disk, |_| start.elapsed() > Duration::from_millis(1000));
        let writes_after = work.written;
        // What is held back arrives now.
        while relay.held() > 0 {
            disk.wait(Some(Duration::from_millis(10)), &mut []).unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
        assert!(held > 0 && relay.late_bytes() > 16 << 10, "{held} frames, {} bytes", relay.late_bytes());
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        assert!(writes_after > 1000, "{writes_after}");
        work.verify_file(&target.file());
        work.verify(disk);
    });
}
