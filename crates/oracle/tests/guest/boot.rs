//! A guest comes up, does what it is asked, and is gone with its handle.

use std::fs;
use std::time::Duration;

use nicteam_oracle::protocol::{Answer, Request};

const AGENT: &str = env!("CARGO_BIN_EXE_nicteam-oracle-agent");

#[test]
fn a_guest_answers_refuses_and_leaves_nothing() {
    let Some(mut guest) = nicteam_oracle::guest(AGENT) else { return };
    eprintln!("reference implementation: Linux {}", guest.kernel());
    assert_eq!(guest.read("/proc/sys/kernel/osrelease").unwrap(), guest.kernel());
    assert_eq!(guest.read("/proc/no-such-file").unwrap_err().errno, Some(2));
    assert!(guest.write("/etc/hostname", "x").is_err(), "the host's files are not the guest's to write");
    assert!(guest.ask(&Request::Delete { name: "nothing0".to_owned() }).is_err());
    assert_eq!(guest.ask(&Request::AddBridge { name: "x0".to_owned() }), Ok(Answer::Done));
    let long = "x".repeat(100_000);
    assert!(guest.write("/proc/no-such-file", &long).unwrap_err().what.contains(&long));

    let mut processes = children(guest.pid());
    assert!(!processes.is_empty());
    processes.push(guest.pid());
    drop(guest);
    let alive = |pid: &u32| state(*pid).is_some_and(|state| !matches!(state, 'Z' | 'X'));
    let gone = || !processes.iter().any(alive);
    assert!((0..1000).any(|_| gone() || pause()), "processes of the guest are left: {processes:?}");
}

/// A short wait; false.
fn pause() -> bool {
    std::thread::sleep(Duration::from_millis(10));
    false
}

fn children(of: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// A process's state, one letter; `None` if it is gone.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}
