//! An ordinary user becomes root of namespaces, and can do there what the lab needs.
//!
//! Without the usual harness: `main` has one thread, as the step demands.
//! Run as root, the program starts itself again as the user "nobody".

use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nicteam_netlink::shape::{Granularity, shape};
use nicteam_netlink::{Netlink, VethEnd};
use nicteam_sys::netns::{NetNs, become_root_of_user_namespace, is_network_root};

const NOBODY: u32 = 65534;

fn main() {
    // As the usual harness does it.
    if std::env::args().any(|argument| argument == "--list") {
        println!("user_namespace: test");
        return;
    }
    if nix::unistd::geteuid().is_root() {
        run_again_as_nobody();
        return;
    }
    assert!(!is_network_root(), "an ordinary user has no capabilities yet");
    match become_root_of_user_namespace() {
        Ok(()) => make_a_lab(),
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
    println!("test user_namespace ... ok");
}

fn run_again_as_nobody() {
    // The build folder may be closed to others: start from the open file, not by its path.
    let program = std::fs::File::open("/proc/self/exe").unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&program));
    nix::fcntl::fcntl(&program, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    match Command::new(path).uid(NOBODY).gid(NOBODY).status() {
        Ok(status) => assert!(status.success(), "as an ordinary user: {status}"),
        Err(error) => eprintln!("SKIPPED: cannot start as an ordinary user: {error}"),
    }
}

fn make_a_lab() {
    assert!(is_network_root());
    let ns = NetNs::new().unwrap();
    let mut netlink = Netlink::open().unwrap();
    let lo = netlink.link("lo").unwrap().unwrap();
    assert!(lo.up);
    let a = VethEnd { name: "a-0", index: Some(50), mac: None, netns: None, gso_max_segs: Some(1) };
    let b = VethEnd { name: "eth0", index: Some(51), mac: None, netns: Some(ns.as_fd()), gso_max_segs: Some(1) };
    netlink.add_veth(&a, &b, 1500).unwrap();
    shape(&mut netlink, 50, 1_000_000_000, Granularity::Packets).unwrap();
    netlink.set_up(50, true).unwrap();
    ns.run(|| Netlink::open().unwrap().set_up(51, true)).unwrap().unwrap();
    assert!(netlink.link("a-0").unwrap().unwrap().carrier);
}
