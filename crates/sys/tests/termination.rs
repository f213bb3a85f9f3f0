//! A termination signal sets a flag and ends a sleep; in a file of its own,
//! since signals belong to the whole process.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_sys::process::{catch_termination, sleep_or_termination, termination, termination_event};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

#[test]
fn a_signal_is_noted_and_ends_every_sleep() {
    const SHORT: Duration = Duration::from_millis(30);
    const LONG: Duration = Duration::from_secs(600);
    let slept = |duration| {
        let start = Instant::now();
        sleep_or_termination(duration);
        start.elapsed()
    };
    assert!(termination_event().is_none());
    assert!(slept(SHORT) >= SHORT);

    catch_termination().unwrap();
    assert!(slept(SHORT) >= SHORT);
    assert_eq!(termination(), None);
    let is_readable = || {
        let event = termination_event().unwrap();
        poll(&mut [PollFd::new(event.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO).unwrap() == 1
    };
    assert!(!is_readable());

    // Two sleepers; the signal reaches at most one thread, and both must wake.
    let sleepers = [(); 2].map(|()| std::thread::spawn(move || slept(LONG)));
    kill(Pid::this(), Signal::SIGTERM).unwrap();
    for sleeper in sleepers {
        assert!(sleeper.join().unwrap() < LONG);
    }
    assert_eq!(termination(), Some(libc::SIGTERM));
    assert!(is_readable());
    assert!(slept(LONG) < LONG, "no sleep after the signal");
}
