//! Disks over one path and over four, by every policy.

use nicteam_storage::{Disk, Policy, Volume};

use crate::common::net::Net;
use crate::common::work::Work;
use crate::common::{library, with_disk};

#[test]
fn what_is_written_is_read_back_by_one_path() {
    let Some(library) = library() else { return };
    let mut net = Net::new(1);
    let target = net.serve(32 << 20);
    let spec = net.spec();
    with_disk(&library, &mut net, &spec, |disk, _| {
        assert_eq!((disk.block_bytes(), disk.bytes()), (512, 32 << 20));
        let mut work = Work::new(disk, 32 << 10, 32);
        work.write(disk, |done| done >= 2000);
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        work.verify(disk);
        work.verify_file(&target.file());
        let negotiated = disk.status().paths[0].negotiated.unwrap();
        assert_eq!(negotiated.max_recv_data, 8192, "tgt's default");
    });
}

#[test]
fn every_policy_writes_by_four_paths_what_is_read_back() {
    let Some(library) = library() else { return };
    let mut net = Net::new(4);
    let _target = net.serve(32 << 20);
    let mut work = None;
    for policy in ["fixed", "round-robin", "queue-length", "service-time", "best"] {
        let mut spec = net.spec();
        spec.multipath.policy = match policy.parse().unwrap() {
            Policy::RoundRobin { .. } => Policy::RoundRobin { ios: Some(1) },
            other => other,
        };
        with_disk(&library, &mut net, &spec, |disk, _| {
            let work = work.get_or_insert_with(|| Work::new(disk, 16 << 10, 32));
            let before = work.written;
            work.write(disk, |done| done >= before + 1000);
            assert_eq!(work.failed, 0, "{policy}: {:?}", work.last_error);
            work.verify(disk);
            let ios: Vec<u64> = disk.status().multipath.paths.iter().map(|path| path.ios).collect();
            let (most, least) = (ios.iter().max().unwrap(), ios.iter().min().unwrap());
            match policy {
                "fixed" => assert!(*least == 0 && *most > 1000, "{ios:?}"),
                "round-robin" => assert!(most - least <= 32, "{ios:?}"),
                _ => {}
            }
        });
    }
}

#[test]
fn a_disk_that_cannot_be_reached_is_refused_in_words() {
    let Some(library) = library() else { return };
    let net = Net::new(2);
    let _target = net.serve(1 << 20);
    let mut spec = net.spec();
    spec.open_timeout = std::time::Duration::from_millis(300);
    let open = |spec: &nicteam_storage::DiskSpec| {
        let opened = net.initiator.netns.run(|| Disk::open(&library, spec).map(drop));
        opened.unwrap().unwrap_err().to_string()
    };
    let mut wrong = spec.clone();
    wrong.target = "iqn.2026-01.org.example:other".to_owned();
    let told = open(&wrong);
    assert!(told.contains("cannot log in to iqn.2026-01.org.example:other by any of 2 paths"), "{told}");
    let mut wrong = spec.clone();
    wrong.paths.iter_mut().for_each(|path| path.portal.set_port(1));
    let told = open(&wrong);
    assert!(told.contains("10.77.0.2:1") && told.contains("hint"), "{told}");
    spec.paths.clear();
    assert_eq!(open(&spec), "a disk needs a path at least");
}
