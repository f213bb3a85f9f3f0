//! Paths that die in the middle of writes, and come back.

use std::time::{Duration, Instant};

use nicteam_multipath::{NoPath, PathState};
use nicteam_storage::{Disk, Volume};
use nicteam_testnet::is_soak;

use crate::common::net::{Cut, Net};
use crate::common::work::Work;
use crate::common::{library, with_disk};

/// Waits until every path is up.
#[track_caller]
fn all_up(disk: &mut Disk) {
    let start = Instant::now();
    while !disk.status().multipath.paths.iter().all(|path| path.state == PathState::Up) {
        assert!(start.elapsed() < Duration::from_secs(20), "{:#?}", disk.status());
        disk.wait(Some(Duration::from_millis(5)), &mut []).unwrap();
    }
}

#[test]
fn a_path_that_is_cut_under_writes_costs_a_short_stall_and_no_byte() {
    let Some(library) = library() else { return };
    // Two gigabytes for each cut, or as much as takes a moment.
    let writes = if is_soak() { 65_536 } else { 3000 };
    let mut net = Net::new(2);
    let target = net.serve(if is_soak() { 256 << 20 } else { 16 << 20 });
    let spec = net.spec();
    with_disk(&library, &mut net, &spec, |disk, net| {
        let mut work = Work::new(disk, 32 << 10, 16);
        for (cut, path) in [(Cut::Near, 0), (Cut::Far, 0), (Cut::Silent, 1), (Cut::Near, 1)] {
            all_up(disk);
            let before = work.written;
            work.write(disk, |done| done >= before + writes / 6);
            let usual = work.longest_write;
            (work.longest_stall, work.longest_write) = (Duration::ZERO, Duration::ZERO);
            net.set_cut(path, cut, true);
            work.write(disk, |done| done >= before + writes);
            let (stall, write) = (work.longest_stall, work.longest_write);
            let [stall_ms, write_ms, usual_ms] = [stall, write, usual].map(|time| time.as_millis());
            eprintln!(
                "{cut:?} cut of path {path}: {stall_ms} ms without an answer, the longest write took {write_ms} ms, before {usual_ms} ms"
            );
            // A hundred milliseconds, and a second, where nothing else is busy.
            let bound = if cut == Cut::Near { Duration::from_secs(1) } else { Duration::from_secs(3) };
            assert!(write < bound + usual, "{cut:?}: {write:?} {:#?}", disk.status());
            assert_ne!(disk.status().multipath.paths[path].state, PathState::Up, "{cut:?}");
            net.set_cut(path, cut, false);
            work.longest_write = Duration::ZERO;
            all_up(disk);
        }
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        work.verify(disk);
        work.verify_file(&target.file());
    });
}

#[test]
fn writes_wait_while_all_paths_are_cut_and_none_is_lost() {
    let Some(library) = library() else { return };
    let mut net = Net::new(2);
    let target = net.serve(16 << 20);
    let spec = net.spec();
    with_disk(&library, &mut net, &spec, |disk, net| {
        let mut work = Work::new(disk, 32 << 10, 16);
        work.write(disk, |done| done >= 300);
        (0..2).for_each(|path| net.set_cut(path, Cut::Near, true));
        let start = Instant::now();
        let mut is_cut = true;
        let down = if is_soak() { Duration::from_secs(5) } else { Duration::from_millis(700) };
        work.write(disk, |done| {
            if is_cut && start.elapsed() > down {
                (0..2).for_each(|path| net.set_cut(path, Cut::Near, false));
                is_cut = false;
            }
            done >= 3000
        });
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        assert!(work.longest_stall >= down - Duration::from_millis(100), "{:?}", work.longest_stall);
        work.verify(disk);
        work.verify_file(&target.file());
    });
}

#[test]
fn writes_fail_where_none_may_wait_and_the_disk_is_used_on_afterwards() {
    let Some(library) = library() else { return };
    let mut net = Net::new(2);
    let target = net.serve(16 << 20);
    let mut spec = net.spec();
    spec.multipath.no_path = NoPath::Queue(Duration::from_millis(200));
    with_disk(&library, &mut net, &spec, |disk, net| {
        let mut work = Work::new(disk, 32 << 10, 16);
        work.write(disk, |done| done >= 300);
        (0..2).for_each(|path| net.set_cut(path, Cut::Silent, true));
        let mut failed = 0;
        while failed < 16 {
            let before = work.written + work.failed;
            work.write(disk, |done| done >= before + 16);
            failed = work.failed;
        }
        let error = work.last_error.clone().unwrap();
        assert!(error.contains("failed: no path to the LUN is up"), "{error}");
        (0..2).for_each(|path| net.set_cut(path, Cut::Silent, false));
        all_up(disk);
        let (written, failed) = (work.written, work.failed);
        work.write(disk, |done| done >= written + failed + 1000);
        assert_eq!(work.failed, failed, "{:?}", work.last_error);
        work.verify(disk);
        work.verify_file(&target.file());
    });
}

/// Where a target that waits for a processor would be one that does not answer.
mod quiet {
    use super::*;

    #[test]
    fn who_looks_seldom_loses_no_path_that_answers() {
        let Some(library) = library() else { return };
        let mut net = Net::new(2);
        let _target = net.serve(16 << 20);
        let mut spec = net.spec();
        // So that the other path's login is due shortly before an answer to a NOP-Out is.
        spec.multipath.login_timeout = Duration::from_millis(30);
        spec.multipath.backoff_min = Duration::from_millis(85);
        spec.multipath.backoff_max = spec.multipath.backoff_min;
        (spec.multipath.nop_interval, spec.multipath.nop_timeout) =
            (Duration::from_millis(20), Duration::from_millis(30));
        with_disk(&library, &mut net, &spec, |disk, net| {
            all_up(disk);
            net.set_cut(1, Cut::Silent, true);
            let start = Instant::now();
            while disk.status().multipath.paths[1].state == PathState::Up {
                assert!(start.elapsed() < Duration::from_secs(20), "{:#?}", disk.status());
                disk.wait(Some(Duration::from_millis(5)), &mut []).unwrap();
            }
            for _ in 0..15 {
                // What a program does beside its disk.
                std::thread::sleep(Duration::from_millis(80));
                disk.wait(Some(Duration::ZERO), &mut []).unwrap();
                disk.wait(Some(Duration::ZERO), &mut []).unwrap();
            }
            assert_eq!(disk.status().multipath.paths[0].deaths, 0, "{:#?}", disk.status());
            net.set_cut(1, Cut::Silent, false);
        });
    }
}
