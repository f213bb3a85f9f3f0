//! One TCP stream from host to host through two packet teams over one veth
//! pair, for some seconds: Gbit/s with GSO frames and with MTU-sized packets.
//!
//! `cargo run --release -p nicteam-dataplane --example packet_throughput [SECONDS]`;
//! needs root, or `unshare -Urn` in front.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nicteam_dataplane::{Choice, Dataplane, Kind, Port, Programs, TeamDevice, open};
use nicteam_netlink::{Netlink, VethEnd};
use nicteam_sys::netns::NetNs;
use nicteam_sys::tcp;
use nicteam_team::{Choose, MemberId, Plan, PlanMember, Receive, Rewrite};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let seconds: u64 = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    for (what, gso_max_segs) in [("GSO frames", None), ("MTU-sized packets", Some(1))] {
        let bits = measure(gso_max_segs, Duration::from_secs(seconds))?;
        println!("{what}: {:.2} Gbit/s", bits / 1e9);
    }
    Ok(())
}

/// Payload bits per second at the receiver.
fn measure(gso_max_segs: Option<u32>, duration: Duration) -> Outcome<f64> {
    let (a, b) = (NetNs::new()?, NetNs::new()?);
    let end = |name, index| VethEnd { name, index: Some(index), mac: None, netns: None, gso_max_segs };
    a.run(|| Netlink::open()?.add_veth(&end("m0", 10), &VethEnd { netns: Some(b.as_fd()), ..end("m0", 11) }, 1500))??;
    let team_a = a.run(|| team(10, 1, gso_max_segs))??;
    let team_b = b.run(|| team(11, 2, gso_max_segs))??;
    let listener = b.run(|| TcpListener::bind("10.9.0.2:5001"))??;
    let to = listener.local_addr()?;
    let mut sender = a.run(|| tcp::connect_with(to, "cubic"))??;
    let mut receiver = listener.accept()?.0;
    let writer = std::thread::spawn(move || {
        let data = vec![0; 256 << 10];
        while sender.write_all(&data).is_ok() {}
    });
    let (start, mut bytes, mut buffer) = (Instant::now(), 0, vec![0; 256 << 10]);
    while start.elapsed() < duration {
        match receiver.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => bytes += read?,
        }
    }
    let rate = bytes as f64 * 8.0 / start.elapsed().as_secs_f64();
    drop(receiver);
    writer.join().map_err(|_| "the sender failed")?;
    for (host, team) in [(&a, team_a), (&b, team_b)] {
        eprintln!("  {:?} unsent {}", team.counters()?, team.unsent()?);
        host.run(move || team.remove())??;
    }
    Ok(rate)
}

/// A team of the device `m0` alone, with address 10.9.0.`number`.
fn team(member_index: u32, number: u8, gso_max_segs: Option<u32>) -> Outcome<Box<dyn Dataplane>> {
    let index = 100 + u32::from(number) * 2;
    let device = TeamDevice { name: "team0".into(), index, peer_name: "team0-dp".into(), peer_index: index + 1 };
    let end = |name, index, mac| VethEnd { name, index: Some(index), mac, netns: None, gso_max_segs };
    let mut netlink = Netlink::open()?;
    let stack = end("team0", index, Some([2, 0, 0, 0, 0, number]));
    netlink.add_veth(&stack, &end("team0-dp", index + 1, None), 1500)?;
    for up in [index, index + 1, member_index] {
        netlink.set_up(up, true)?;
    }
    netlink.add_address(index, [10, 9, 0, number].into(), 24, true)?;
    let mut dataplane = open(&device, Choice::Force(Kind::Packet), Programs::WithoutStripe)?;
    let id = MemberId::new(0).ok_or("place 0")?;
    dataplane.attach(&Port { id, name: "m0".into(), index: member_index })?;
    let line = PlanMember { id, receive: Receive::Deliver, rewrite: Rewrite::default(), queue_id: 0 };
    dataplane.apply(&Plan {
        generation: 1,
        choose: Choose::One(id),
        members: vec![line],
        lease: None,
        failover: None,
        notes_sources: false,
    })?;
    Ok(dataplane)
}
