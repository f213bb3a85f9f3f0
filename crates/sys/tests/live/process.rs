//! Children live where they are told to, and no longer than the thread that started them.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use nicteam_sys::netns::NetNs;
use nicteam_sys::process::{die_with_parent, in_netns, in_new_netns, inherit};
use nicteam_testnet::may_make_networks;

/// A command that tells its network namespace and its loopback device's state.
fn whereabouts() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "readlink /proc/self/ns/net; cat /proc/net/dev"]);
    command
}

fn output(mut command: Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn namespace(text: &str) -> &str {
    text.lines().next().unwrap()
}

#[test]
fn a_child_ends_with_the_thread_that_started_it() {
    let start = || {
        let mut command = Command::new("sleep");
        command.arg("60").stdout(Stdio::null());
        die_with_parent(&mut command);
        command.spawn().unwrap()
    };
    let mut child = std::thread::spawn(start).join().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL), "it slept to its end");
}

#[test]
fn a_child_whose_parent_lives_goes_on() {
    let mut command = Command::new("true");
    die_with_parent(&mut command);
    assert!(command.status().unwrap().success());
}

#[test]
fn a_child_has_the_descriptor_it_is_given_and_its_sibling_has_not() {
    let (mut heir, mut sibling) = (Command::new("cat"), Command::new("cat"));
    let number = inherit(&mut heir, File::open("/proc/sys/kernel/ostype").unwrap().into());
    for command in [&mut heir, &mut sibling] {
        command.arg(format!("/proc/self/fd/{number}"));
    }
    assert!(!sibling.output().unwrap().status.success());
    assert_eq!(heir.output().unwrap().stdout, b"Linux\n");
}

#[test]
fn a_child_starts_in_a_namespace_of_its_own() {
    if !may_make_networks() {
        return;
    }
    let mut command = whereabouts();
    in_new_netns(&mut command);
    let inside = output(command);
    assert_ne!(namespace(&inside), namespace(&output(whereabouts())));
    let devices: Vec<&str> = inside.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
    assert_eq!(devices.iter().map(|name| name.trim()).collect::<Vec<_>>(), ["lo"]);
}

#[test]
fn a_child_starts_in_a_given_namespace_even_if_the_handle_is_gone() {
    if !may_make_networks() {
        return;
    }
    let ns = NetNs::new().unwrap();
    let expected = ns.run(|| std::fs::read_link("/proc/thread-self/ns/net").unwrap().display().to_string()).unwrap();
    let mut command = whereabouts();
    in_netns(&mut command, &ns);
    drop(ns);
    assert_eq!(namespace(&output(command)), expected);
}
