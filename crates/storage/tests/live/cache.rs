//! The write-back cache in front of a real target.

use std::os::fd::AsFd;
use std::time::Duration;

use nicteam_multipath::NoPath;
use nicteam_storage::{Buffer, Cached, Disk, Error, Kind, Operation, Volume, WriteBack};

use crate::common::net::{Cut, Net};
use crate::common::work::Work;
use crate::common::{inside, library};

/// Does one operation.
fn one(disk: &mut Cached<Disk>, kind: Kind, offset: u64, buffer: Buffer) -> nicteam_storage::Done {
    disk.submit(Operation { id: 1, kind, offset, buffer }).unwrap();
    loop {
        if let Some(done) = disk.next_done() {
            return done;
        }
        disk.wait(None, &mut []).unwrap();
    }
}

#[test]
fn writes_are_done_in_memory_and_on_the_target_after_a_flush() {
    let Some(library) = library() else { return };
    let mut net = Net::new(2);
    let target = net.serve(32 << 20);
    let spec = net.spec();
    let netns = net.initiator.netns.as_fd().try_clone_to_owned().unwrap();
    inside(netns.as_fd(), || {
        let disk = &mut Cached::new(Disk::open(&library, &spec).unwrap(), Some(WriteBack { bytes: 8 << 20 }));
        // Nothing can be sent, and yet the program goes on.
        (0..2).for_each(|path| net.set_cut(path, Cut::Silent, true));
        let mut work = Work::new(disk, 32 << 10, 16);
        work.write(disk, |done| done >= 200);
        let counts = disk.counts().unwrap();
        let written = work.written * (32 << 10);
        assert_eq!((counts.written_bytes, counts.lost_bytes, counts.waits), (written, 0, 0), "{counts:?}");
        assert!(counts.used_bytes > 0, "{counts:?}");
        (0..2).for_each(|path| net.set_cut(path, Cut::Silent, false));
        // More than the cache holds: writes wait for room.
        work.write(disk, |done| done >= 2000);
        work.verify(disk);
        assert_eq!(one(disk, Kind::Flush, 0, Buffer::default()).result, Ok(()));
        work.verify_file(&target.file());
        let counts = disk.counts().unwrap();
        assert_eq!(counts.used_bytes, 0);
        assert!(counts.sent_bytes <= counts.written_bytes && counts.most_used_bytes <= 8 << 20, "{counts:?}");
        assert!(counts.waits > 0 && counts.read_bytes > 0, "{counts:?}");
        work.write(disk, |done| done >= 2100);
        assert_eq!(work.failed, 0, "{:?}", work.last_error);
        disk.empty().unwrap();
        work.verify_file(&target.file());
    });
}

#[test]
fn what_cannot_be_written_is_said_by_the_next_flush_and_at_the_end() {
    let Some(library) = library() else { return };
    let net = Net::new(1);
    let mut target = net.serve(8 << 20);
    let mut spec = net.spec();
    spec.multipath.no_path = NoPath::Queue(Duration::from_millis(50));
    let lost = net.initiator.netns.run(|| {
        let mut disk = Cached::new(Disk::open(&library, &spec).unwrap(), Some(WriteBack { bytes: 1 << 20 }));
        target.crash();
        assert_eq!(one(&mut disk, Kind::Write, 0, Buffer::new(4096)).result, Ok(()));
        let flush = one(&mut disk, Kind::Flush, 0, Buffer::default()).result.unwrap_err().to_string();
        assert!(flush.starts_with("a flush failed: no path to the LUN is up"), "{flush}");
        disk.empty().unwrap_err()
    });
    let lost = lost.unwrap();
    assert!(matches!(lost, Error::Lost { bytes: 4096, .. }), "{lost}");
}
