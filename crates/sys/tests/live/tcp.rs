//! What the kernel says of connections on this machine's loopback, and of those it remembers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use crate::common::{address, cabled};
use nicteam_sys::tcp;
use nicteam_testnet::may_make_networks;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (sender, listener.accept().unwrap().0)
}

#[test]
fn bytes_are_discarded_and_counted_at_both_ends() {
    const SENT: usize = 300_000;
    let (mut sender, receiver) = pair();
    let writer = std::thread::spawn(move || {
        sender.write_all(&[7; SENT]).unwrap();
        sender
    });
    let mut received = 0;
    while received < SENT {
        let bytes = tcp::discard(receiver.as_fd(), 10_000).unwrap();
        assert!((1..=10_000).contains(&bytes));
        received += bytes;
    }
    assert_eq!(received, SENT);
    let sender = writer.join().unwrap();
    let (sent, got) = (tcp::info(sender.as_fd()).unwrap(), tcp::info(receiver.as_fd()).unwrap());
    assert_eq!(got.bytes_received, SENT as u64);
    assert!(sent.data_segments_out > 0 && sent.snd_mss > 500 && sent.rtt_us > 0);
    assert!(sent.bytes_acked <= SENT as u64 + 1);
    drop(sender);
    assert_eq!(tcp::discard(receiver.as_fd(), 10_000).unwrap(), 0, "the peer has closed");
}

#[test]
fn a_socket_that_does_not_wait_has_nothing_yet() {
    let (_sender, receiver) = pair();
    receiver.set_nonblocking(true).unwrap();
    assert_eq!(tcp::discard(receiver.as_fd(), 10).unwrap_err().errno(), Some(libc::EAGAIN));
}

#[test]
fn congestion_control_is_named_and_an_unknown_one_refused() {
    let (sender, _receiver) = pair();
    tcp::set_congestion(sender.as_fd(), "reno").unwrap();
    assert_eq!(tcp::congestion(sender.as_fd()).unwrap(), "reno");
    let error = tcp::set_congestion(sender.as_fd(), "no_such_thing").unwrap_err();
    assert!(error.to_string().starts_with("cannot set the congestion control to no_such_thing: "), "{error}");
}

#[test]
fn a_connection_has_its_congestion_control_from_the_start() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    let mut sender = tcp::connect_with(to, "reno").unwrap();
    assert_eq!(tcp::congestion(sender.as_fd()).unwrap(), "reno");
    sender.write_all(b"there").unwrap();
    drop(sender);
    let mut arrived = String::new();
    listener.accept().unwrap().0.read_to_string(&mut arrived).unwrap();
    assert_eq!(arrived, "there");
    drop(listener);
    assert_eq!(tcp::connect_with(to, "reno").unwrap_err().errno(), Some(libc::ECONNREFUSED));
    assert_eq!(tcp::connect_with(to, "no_such_thing").unwrap_err().errno(), Some(libc::ENOENT));
}

#[test]
fn metrics_of_earlier_connections_are_forgotten() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(None);
    address(&mut a, &mut b);
    let listener = b.netns.run(|| TcpListener::bind("10.0.0.2:0")).unwrap().unwrap();
    let to = listener.local_addr().unwrap();
    let mut sender = a.netns.run(|| TcpStream::connect_timeout(&to, Duration::from_secs(10))).unwrap().unwrap();
    let (receiver, _) = listener.accept().unwrap();
    sender.write_all(&[1; 100_000]).unwrap();
    let mut left = 100_000;
    while left > 0 {
        left -= tcp::discard(receiver.as_fd(), left).unwrap();
    }
    // The side that hangs up first keeps the metrics when the other has answered.
    drop(sender);
    assert_eq!(tcp::discard(receiver.as_fd(), 1).unwrap(), 0);
    drop(receiver);
    let remembered = || {
        let mut command = std::process::Command::new("ip");
        command.args(["tcp_metrics", "show"]);
        nicteam_sys::process::in_netns(&mut command, &a.netns);
        command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // The last segments may still be on their way when the connection looks closed.
    let before = (0..500).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        remembered()
    });
    match before.into_iter().find(|text| !text.as_ref().is_ok_and(String::is_empty)) {
        Some(Err(error)) => return eprintln!("SKIPPED: no ip ({error})"),
        before => assert!(before.is_some_and(|text| text.unwrap().contains("10.0.0.2")), "nothing to forget"),
    }
    a.netns.run(nicteam_netlink::tcp_metrics::flush).unwrap().unwrap();
    assert_eq!(remembered().unwrap(), "");
}
