//! Namespaces are apart, and are gone with their handles.

use std::fs;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nicteam_sys::netns::{self, NetNs, sysctl};
use nicteam_testnet::{Host, may_make_networks};

fn inode() -> String {
    fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string()
}

#[test]
fn a_new_namespace_has_only_a_loopback_device_that_is_up() {
    if !may_make_networks() {
        return;
    }
    let links = Host::new().netlink.links().unwrap();
    assert_eq!(links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["lo"]);
    assert!(links[0].up && links[0].carrier);
}

#[test]
fn every_namespace_has_an_identity_of_its_own() {
    if !may_make_networks() {
        return;
    }
    let (a, b) = (NetNs::new().unwrap(), NetNs::new().unwrap());
    let id_of = |ns: &NetNs| ns.run(|| netns::id().unwrap()).unwrap();
    assert_eq!(id_of(&a), id_of(&a));
    assert_ne!(id_of(&a), id_of(&b));
    assert_ne!(id_of(&a), netns::id().unwrap());
}

#[test]
fn work_in_a_namespace_leaves_the_caller_where_it_was() {
    if !may_make_networks() {
        return;
    }
    let (outside, ns) = (inode(), NetNs::new().unwrap());
    let inside = ns.run(inode).unwrap();
    assert_ne!(inside, outside);
    assert_eq!(inode(), outside);
    assert_eq!(ns.run(inode).unwrap(), inside, "the namespace stays the same");
    let entered = ns.run(|| NetNs::current().unwrap().run(inode).unwrap()).unwrap();
    assert_eq!(entered, inside);
    let moved = std::thread::scope(|scope| {
        let moved = scope.spawn(|| {
            ns.enter().unwrap();
            inode()
        });
        moved.join().unwrap()
    });
    assert_eq!(moved, inside);
}

#[test]
fn a_panic_inside_goes_on_outside() {
    if !may_make_networks() {
        return;
    }
    let ns = NetNs::new().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| ns.run(|| std::panic::panic_any(17)))).unwrap_err();
    assert_eq!(panic.downcast_ref::<i32>(), Some(&17));
    assert!(ns.as_fd().try_clone_to_owned().is_ok(), "the handle is still good");
}

#[test]
fn a_setting_belongs_to_its_namespace() {
    if !may_make_networks() {
        return;
    }
    let read = || fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap().trim().to_owned();
    let (one, other) = (NetNs::new().unwrap(), NetNs::new().unwrap());
    one.run(|| sysctl("ipv4/ip_forward", "1")).unwrap().unwrap();
    other.run(|| sysctl("ipv4/ip_forward", "0")).unwrap().unwrap();
    assert_eq!(one.run(read).unwrap(), "1");
    assert_eq!(other.run(read).unwrap(), "0");
    let error = one.run(|| sysctl("ipv4/no_such_thing", "1")).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("cannot set net/ipv4/no_such_thing to 1: "), "{error}");
}

#[test]
fn the_namespace_of_a_process_is_found_and_a_gone_process_is_an_error() {
    if !may_make_networks() {
        return;
    }
    let ns = NetNs::of_process(std::process::id()).unwrap();
    assert_eq!(ns.run(inode).unwrap(), fs::read_link("/proc/self/ns/net").unwrap().display().to_string());
    let error = NetNs::of_process(u32::MAX).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENOENT));
}
