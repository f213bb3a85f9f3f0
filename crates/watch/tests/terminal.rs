//! The terminal after a panic. The view runs in a process of its own: this test's program, called again.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use nicteam_sys::signals::Signals;
use nicteam_watch::top::{Model, run};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::Signal;
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::common::snapshot;

const CHILD: &str = "NICTEAM_TEST_PANICS";
/// How the view's process ends when the view says that it cannot go on.
const ENDED: i32 = 7;

/// Not a test of its own: the process of the test below.
#[test]
fn a_view_that_panics() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let signals = Signals::catch(&[Signal::SIGTERM]).unwrap();
    let mut looks = 0;
    let look = move || {
        looks += 1;
        assert!(looks < 4, "this panic is on purpose");
        Ok(snapshot(looks))
    };
    let ended = run(Model::new(None, true), Duration::from_millis(100), &signals, look);
    std::process::exit(if ended.is_err() { ENDED } else { 0 });
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).unwrap();
    let (mut master, slave) = (File::from(pty.master), File::from(pty.slave));
    let stdio = || Stdio::from(slave.try_clone().unwrap());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "terminal::a_view_that_panics", "--nocapture"]).env(CHILD, "1").env("TERM", "xterm");
    let mut child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
    drop(command);
    let reading = std::thread::spawn(move || {
        let (mut all, mut some) = (Vec::new(), [0; 4096]);
        // A terminal whose last user has gone is an error to read.
        while let Ok(count @ 1..) = master.read(&mut some) {
            all.extend_from_slice(&some[..count]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let status = child.wait().unwrap();
    let flags = tcgetattr(&slave).unwrap().local_flags;
    drop(slave);
    let written = reading.join().unwrap();
    assert_eq!(status.code(), Some(ENDED), "{written}");
    assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG));
    let (shown, after) = written.split_once("\u{1b}[?1049l").expect("it leaves the other screen");
    assert!(shown.contains("\u{1b}[?1049h") && after.contains("this panic is on purpose"), "{written}");
}
