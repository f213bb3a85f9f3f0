//! A disk over four paths, exported: whole stack under fio.

use std::os::fd::AsFd;
use std::process::Command;

use nicteam_storage::nbd::{Address, Server};
use nicteam_storage::{Volume, Watch};
use nix::poll::PollFlags;
use nix::sys::eventfd::EventFd;

use crate::common::net::{Cut, Net};
use crate::common::{Folder, has_programs, library, output, with_disk};

#[test]
fn fio_verifies_its_writes_over_four_paths_of_which_one_is_cut_meanwhile() {
    let Some(library) = library() else { return };
    if !has_programs(&["fio"]) {
        return;
    }
    let mut net = Net::new(4);
    let _target = net.serve(64 << 20);
    let (spec, folder) = (net.spec(), Folder::new("export"));
    with_disk(&library, &mut net, &spec, |disk, net| {
        let socket = folder.file("socket");
        let mut server = Server::bind(&Address::Unix(socket.clone()), "disk", disk).unwrap();
        let stop = EventFd::new().unwrap();
        std::thread::scope(|scope| {
            let fio = scope.spawn(|| {
                let uri = format!("--uri=nbd+unix:///disk?socket={}", socket.display());
                let jobs = ["--name=mixed", "--ioengine=nbd", "--rw=randrw", "--bs=4k-256k", "--iodepth=64"];
                let check = ["--size=64m", "--io_size=256m", "--verify=crc32c", "--fsync=100", "--thread"];
                let mut fio = Command::new("fio");
                fio.args(jobs).args(check).arg(&uri).current_dir(&folder.0);
                let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| output(&mut fio)));
                stop.write(1).unwrap();
                told
            });
            let mut others = [Watch::new(stop.as_fd(), PollFlags::POLLIN)];
            let mut is_cut = false;
            while others[0].found.is_empty() {
                server.turn(disk, None, &mut others).unwrap();
                let ios: u64 = disk.status().multipath.paths.iter().map(|path| path.ios).sum();
                if ios > 500 && !is_cut {
                    net.set_cut(2, Cut::Near, true);
                    is_cut = true;
                }
            }
            let told = fio.join().unwrap().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            assert!(is_cut && told.contains("err= 0"), "{told}");
        });
        assert_eq!(disk.bytes(), 64 << 20);
    });
}
