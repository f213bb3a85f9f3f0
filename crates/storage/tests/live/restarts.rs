//! A target that is killed and started again.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_multipath::{NoPath, Notice};
use nicteam_storage::{Buffer, Disk, Kind, Operation, Policy, Volume};

use crate::common::net::Net;
use crate::common::work::Work;
use crate::common::{inside, library, with_disk};

#[test]
fn writes_resume_when_the_target_is_back_or_fail_as_configured() {
    let Some(library) = library() else { return };
    for may_wait in [true, false] {
        let mut net = Net::new(2);
        let mut target = net.serve(16 << 20);
        let mut spec = net.spec();
        spec.multipath.no_path = if may_wait { NoPath::Queue(Duration::from_secs(30)) } else { NoPath::Fail };
        with_disk(&library, &mut net, &spec, |disk, _| {
            let mut work = Work::new(disk, 32 << 10, 16);
            let start = Instant::now();
            let (mut killed, mut restarted) = (false, false);
            work.write(disk, |done| {
                if done >= 300 && !killed {
                    target.crash();
                    killed = true;
                }
                if killed && !restarted && start.elapsed() > Duration::from_millis(400) {
                    target.restart();
                    restarted = true;
                }
                // Where writes fail at once there are many of them.
                restarted && start.elapsed() > Duration::from_millis(1200)
            });
            if may_wait {
                assert_eq!(work.failed, 0, "{:?}", work.last_error);
            } else {
                let error = work.last_error.clone().unwrap();
                assert!(work.failed > 0 && error.contains("no path to the LUN is up"), "{error}");
            }
            let before = work.written + work.failed;
            work.write(disk, |done| done >= before + 500);
            work.verify(disk);
            work.verify_file(&target.file());
            let notices: Vec<Notice> = std::iter::from_fn(|| disk.next_notice()).map(|(_, notice)| notice).collect();
            assert!(notices.contains(&Notice::Reachable(false)), "{notices:?}");
        });
    }
}

/// Nobody looks at the sessions while the target ends. So all of them are over when the end of the first one is heard of, and
/// the reads that it had go to the others.
#[test]
fn requests_that_go_to_a_session_that_is_over_are_not_lost() {
    const BLOCK: usize = 64 << 10;
    let Some(library) = library() else { return };
    let mut net = Net::new(3);
    let mut target = net.serve(16 << 20);
    let mut spec = net.spec();
    spec.multipath.policy = Policy::QueueLength;
    with_disk(&library, &mut net, &spec, |disk, _| {
        target.signal("-STOP");
        for id in 0..48 {
            let buffer = Buffer::new(BLOCK);
            disk.submit(Operation { id, kind: Kind::Read, offset: id * BLOCK as u64, buffer }).unwrap();
        }
        disk.wait(Some(Duration::from_millis(10)), &mut []).unwrap();
        target.crash();
        std::thread::sleep(Duration::from_millis(50));
        disk.wait(Some(Duration::from_millis(10)), &mut []).unwrap();
        target.restart();
        let (start, mut left) = (Instant::now(), 48);
        while left > 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "{left} requests are lost: {:#?}", disk.status());
            disk.wait(Some(Duration::from_millis(10)), &mut []).unwrap();
            while let Some(done) = disk.next_done() {
                done.result.unwrap();
                assert_eq!(done.buffer.len(), BLOCK);
                left -= 1;
            }
        }
        let deaths: Vec<u32> = disk.status().multipath.paths.iter().map(|path| path.deaths).collect();
        assert!(deaths.iter().all(|deaths| *deaths > 0), "{deaths:?}");
    });
}

#[test]
fn a_target_that_hangs_is_given_up_and_taken_back_though_its_kernel_answers() {
    let Some(library) = library() else { return };
    let mut net = Net::new(2);
    let target = net.serve(16 << 20);
    let spec = net.spec();
    with_disk(&library, &mut net, &spec, |disk, _| {
        let mut work = Work::new(disk, 32 << 10, 16);
        work.write(disk, |done| done >= 300);
        let (mut is_stopped, mut seen_down) = (false, false);
        let mut start = Instant::now();
        work.write(disk, |done| {
            if !is_stopped && !seen_down {
                target.signal("-STOP");
                (is_stopped, start) = (true, Instant::now());
            }
            if is_stopped && start.elapsed() > Duration::from_millis(700) {
                target.signal("-CONT");
                (is_stopped, seen_down) = (false, true);
            }
            seen_down && done >= 2000
        });
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        let deaths: Vec<u32> = disk.status().multipath.paths.iter().map(|path| path.deaths).collect();
        assert!(deaths.iter().all(|deaths| *deaths > 0), "{deaths:?}");
        work.verify(disk);
        work.verify_file(&target.file());
    });
}

#[test]
fn a_target_that_comes_back_with_another_size_is_not_written_to() {
    let Some(library) = library() else { return };
    let net = Net::new(2);
    let mut target = net.serve(16 << 20);
    let mut spec = net.spec();
    spec.multipath.no_path = NoPath::Queue(Duration::from_millis(500));
    let netns = net.initiator.netns.as_fd().try_clone_to_owned().unwrap();
    inside(netns.as_fd(), || {
        let mut disk = Disk::open(&library, &spec).unwrap();
        let mut work = Work::new(&disk, 32 << 10, 16);
        work.write(&mut disk, |done| done >= 100);
        target.crash();
        let other = vec![0x5a; 8 << 20];
        std::fs::write(target.file(), &other).unwrap();
        target.restart();
        let is_told = |work: &Work| work.last_error.as_ref().is_some_and(|error| error.contains("it is another disk"));
        write_until(&mut work, &mut disk, is_told);
        let error = work.last_error.clone().unwrap();
        assert!(error.contains("16384 blocks of 512 bytes, and had 32768 of 512"), "{error}");
        assert!(std::fs::read(target.file()).unwrap() == other, "it was written to");
        // The first disk comes back.
        target.crash();
        std::fs::write(target.file(), vec![0; 16 << 20]).unwrap();
        target.restart();
        let written = work.written;
        write_until(&mut work, &mut disk, |work| work.written > written);
        disk.close().unwrap();
    });
}

/// Writes a few at a time until it is so. Bounded generously.
#[track_caller]
fn write_until(work: &mut Work, disk: &mut Disk, is_so: impl Fn(&Work) -> bool) {
    let start = Instant::now();
    while !is_so(work) {
        assert!(start.elapsed() < Duration::from_secs(20), "{:?} {:#?}", work.last_error, disk.status());
        let done = work.written + work.failed;
        work.write(disk, |now| now >= done + 16);
    }
}
