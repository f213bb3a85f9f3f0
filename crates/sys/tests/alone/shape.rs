//! A shaped link carries its rate, and the kernel holds the numbers that were meant.

use std::io::Write;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{A, B, address, cabled};
use nicteam_netlink::shape::{Granularity, drops, shape};
use nicteam_sys::netns::NetNs;
use nicteam_sys::process::in_netns;
use nicteam_sys::tcp;
use nicteam_testnet::{Host, may_make_networks};

/// What `tc` says, or `None` where it is not installed.
fn tc(ns: &NetNs, arguments: &str) -> Option<String> {
    let mut command = Command::new("tc");
    command.args(arguments.split(' '));
    in_netns(&mut command, ns);
    match command.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("SKIPPED: no tc ({error})");
            None
        }
    }
}

#[test]
fn tc_shows_the_rate_the_bursts_and_the_queue() {
    if !may_make_networks() {
        return;
    }
    let (mut a, _b) = cabled(Some(1));
    shape(&mut a.netlink, A, 1_000_000_000, Granularity::Packets).unwrap();
    let Some(class) = tc(&a.netns, "-s -d class show dev eth0") else { return };
    for part in ["htb 1:1 root leaf 10:", "quantum 60000", "rate 1Gbit overhead 24 ceil 1Gbit", "mpu 84"] {
        assert!(class.contains(part), "no `{part}` in: {class}");
    }
    // From iproute2 6.2 on it rounds.
    assert!(["burst 65500b", "burst 64Kb"].iter().any(|burst| class.contains(burst)), "{class}");
    let queue = tc(&a.netns, "-d qdisc show dev eth0").unwrap();
    for part in ["htb 1: root", "default 0x1", "bfifo 10: parent 1:1 limit 1000000b"] {
        assert!(queue.contains(part), "no `{part}` in: {queue}");
    }

    // A second call replaces the first.
    shape(&mut a.netlink, A, 40_000_000_000, Granularity::WHOLE).unwrap();
    let class = tc(&a.netns, "-s -d class show dev eth0").unwrap();
    assert_eq!(class.matches("class htb").count(), 1, "{class}");
    for part in ["rate 39375Mbit ceil 39375Mbit", "burst 26"] {
        assert!(class.contains(part), "no `{part}` in: {class}");
    }
    assert!(!class.contains("overhead"), "{class}");
}

#[test]
fn a_device_that_is_up_can_be_shaped_again() {
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(Some(1));
    address(&mut a, &mut b);
    for rate_bps in [1_000_000, 100_000_000, 2_500_000_000] {
        shape(&mut a.netlink, A, rate_bps, Granularity::Packets).unwrap();
    }
    assert_eq!(drops(&mut a.netlink, A).unwrap(), 0);
}

#[test]
fn impossible_shapes_are_refused() {
    if !may_make_networks() {
        return;
    }
    let (mut a, _b) = cabled(None);
    let error = shape(&mut a.netlink, A, 7, Granularity::Packets).unwrap_err();
    assert_eq!(error.to_string(), "cannot limit device 101 to 7 bit/s: Invalid argument (os error 22)");
    let error = shape(&mut a.netlink, 4711, 1_000_000, Granularity::Packets).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ENODEV));
    assert!(drops(&mut a.netlink, A).is_err(), "there is no shape to ask");
}

#[test]
fn tcp_gets_the_payload_share_of_the_rate_as_packets() {
    expect_payload_share(Some(1), Granularity::Packets);
}

#[test]
fn tcp_gets_the_payload_share_of_the_rate_as_super_frames() {
    expect_payload_share(None, Granularity::WHOLE);
}

/// Sends through a link of 200 Mbit/s and compares with what its frames can
/// carry: 1448 bytes of each 1538 on the wire. Then counts drops of a flood.
fn expect_payload_share(gso_max_segs: Option<u32>, granularity: Granularity) {
    const RATE_BPS: u64 = 200_000_000;
    if !may_make_networks() {
        return;
    }
    let (mut a, mut b) = cabled(gso_max_segs);
    for (host, index) in [(&mut a, A), (&mut b, B)] {
        shape(&mut host.netlink, index, RATE_BPS, granularity).unwrap();
    }
    address(&mut a, &mut b);
    let limit_bps = RATE_BPS as f64 * 1448.0 / 1538.0;
    // A busy machine may keep a link idle, but nothing may make it faster.
    let mut shares = Vec::new();
    while shares.len() < 8 && !shares.iter().any(|share| *share >= 0.90) {
        shares.push(tcp_bps(&a, &b) / limit_bps);
    }
    assert!(shares.iter().all(|share| *share <= 1.01), "{granularity:?}: share of the limit {shares:.3?}");
    assert!(shares.iter().any(|share| *share >= 0.90), "{granularity:?}: share of the limit {shares:.3?}");

    let before = drops(&mut a.netlink, A).unwrap();
    a.netns.run(flood).unwrap();
    assert!(drops(&mut a.netlink, A).unwrap() > before, "a flood must overflow the queue");
}

/// Payload received in the second half of a short transfer, bit/s.
fn tcp_bps(a: &Host, b: &Host) -> f64 {
    const WARM_UP: Duration = Duration::from_millis(200);
    const MEASURED: Duration = Duration::from_millis(600);
    let listener = b.netns.run(|| TcpListener::bind("10.0.0.2:0")).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut stream = a.netns.run(|| tcp::connect_with(address, "cubic")).unwrap().unwrap();
            // Ends when the receiver hangs up.
            while stream.write_all(&[0; 1 << 16]).is_ok() {}
        });
        let (stream, _) = listener.accept().unwrap();
        let receive_until = |end| {
            while Instant::now() < end {
                tcp::discard(stream.as_fd(), 1 << 20).unwrap();
            }
        };
        // The kernel's count, since this thread may be late to take what has arrived.
        let arrived = || tcp::info(stream.as_fd()).unwrap().bytes_received;
        receive_until(Instant::now() + WARM_UP);
        let (start, before) = (Instant::now(), arrived());
        receive_until(start + MEASURED);
        let bytes = arrived() - before;
        bytes as f64 * 8.0 / start.elapsed().as_secs_f64()
    })
}

/// More than the queue holds, at once; many sockets, since one may have only so much on its way.
fn flood() {
    for _ in 0..16 {
        let socket = std::net::UdpSocket::bind("10.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        // Ends when the socket's own buffer is full, or when it reports the drop that the counter is to show.
        while socket.send_to(&[0; 1400], "10.0.0.2:9").is_ok() {}
    }
}
